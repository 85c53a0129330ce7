"""Build one draft from the verdicts of a model's answers: average them, and make rows with quotations."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from coeval.domain import (
    Ask,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    Instance,
    Request,
    RowKind,
    Rung,
    lowest_rung,
)
from coeval.llm.prompting.questions import ask_all
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.prompting.template_values import render_criterion
from coeval.llm.protocols.ladder import ScoreQuestion, Verdict
from coeval.llm.reading.evaluations import read_evaluations
from coeval.llm.reading.quotes import find_quotes
from coeval.llm.reading.scores import ParsedEvaluation


def given_words(request: Request, instance: Instance) -> str:
    """Return all words that were sent to the model. If an answer repeats them, they are not a verdict."""
    return "\n\n".join([*(message.content for message in request.messages), instance.output])


async def judge_together(
    ask: Ask,
    calls: Sequence[tuple[Request, int]],
    criteria: Mapping[str, Criterion],
    instance: Instance,
    options: JudgeOptions,
) -> list[ImportedDraft]:
    """Return a draft per criterion from questions that each ask about all of them.

    The keys of ``criteria`` are their numbers in the question. Only scores that are not in the form are asked for once
    more.

    Raises:
        ModelError: a request failed.
    """
    judged = list(criteria.values())
    names = [render_criterion(criterion) for criterion in judged]
    scales = [(criterion.scale.low, criterion.scale.high) for criterion in judged]

    def read(text: str, given: str, whole: bool) -> Sequence[ParsedEvaluation]:
        return read_evaluations(text, names, scales, given=given, whole=whole)

    question = ScoreQuestion([f"[{number}] Score" for number in criteria], judged, read, options)
    samples = await ask_all(
        question.ask(ask, request, sample, given_words(request, instance)) for request, sample in calls
    )
    return [
        combine_verdicts([verdicts[place] for verdicts in samples], criterion, instance)
        for place, criterion in enumerate(judged)
    ]


def combine_verdicts(verdicts: Sequence[Verdict], criterion: Criterion, instance: Instance) -> ImportedDraft:
    """Return one draft from all answers: the mean of the readable scores, and the rows of the answer closest to it.

    Its rung is the lowest of these scores. Scores from asking again count only if there are no others. All answers that
    do not count are left out of the mean and counted in the reason. If no answer can be read, the draft has no score
    and no rows, but keeps all raw text.
    """
    scored = [verdict for verdict in verdicts if verdict.score is not None]
    read = [verdict for verdict in scored if verdict.rung is not Rung.AGAIN] or scored
    if not read:
        reason = verdicts[0].problem if verdicts else "The model was not asked."
        raw = "\n\n".join(verdict.raw for verdict in verdicts)
        return ImportedDraft(instance.external_id, criterion.text, None, reason=reason, raw=raw)
    scores = tuple(verdict.score for verdict in read if verdict.score is not None)
    mean = math.fsum(scores) / len(scores)
    nearest = min(zip(scores, read, strict=True), key=lambda pair: abs(pair[0] - mean))[1]
    notes = [nearest.note] if nearest.note else []
    if len(read) < len(verdicts):
        notes.append(
            f"{len(verdicts) - len(read)} of {len(verdicts)} answers were not in the form and are left out."
        )
    return ImportedDraft(
        instance=instance.external_id,
        criterion=criterion.text,
        score=mean,
        rows=_rows(nearest, scores, mean, instance),
        reason=" ".join(notes),
        raw=nearest.raw,
        samples=scores if len(verdicts) > 1 else (),
        probabilities=_mean_probabilities([one.probabilities for one in read if one.probabilities]),
        rung=lowest_rung(verdict.rung or "" for verdict in read),
    )


def _mean_probabilities(given: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return the mean probability of each step over the answers."""
    return tuple(math.fsum(step) / len(given) for step in zip(*given, strict=True))


def _rows(
    verdict: Verdict, scores: Sequence[float], mean: float, instance: Instance
) -> tuple[EvaluationRow, ...]:
    """Return the rows (conclusion if any, score, evidence) with their located quotations."""
    parsed = verdict.evaluation
    lines = [(RowKind.CONCLUSION, parsed.conclusion)] if parsed.conclusion else []
    lines.append((RowKind.SCORE, _score_line(verdict, scores, mean)))
    lines += [(RowKind.EVIDENCE, line) for line in parsed.evidence]
    return tuple(
        EvaluationRow(kind, text, find_quotes(text, instance.output, instance.input)) for kind, text in lines
    )


def _score_line(verdict: Verdict, scores: Sequence[float], mean: float) -> str:
    """Return the text of the score row: the score, the number of averaged answers, and the kind of score."""
    details = []
    if len(scores) > 1:
        details.append(f"mean of {len(scores)} answers, standard deviation {statistics.stdev(scores):.2f}")
    if verdict.note:
        details.append("expected score from log-probabilities")
    return f"Score: {round(mean, 2):g}" + (f" ({'; '.join(details)})" if details else "")
