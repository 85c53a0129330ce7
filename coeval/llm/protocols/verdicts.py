"""From a model's answers to one draft: reading each, averaging them, and its rows with their quotes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from coeval.domain import Answer, Criterion, EvaluationRow, ImportedDraft, Instance, RowKind
from coeval.llm.prompting.asking import ASKED_AGAIN
from coeval.llm.reading.evaluations import ParsedEvaluation
from coeval.llm.reading.quotes import find_quotes


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer as read: ``score`` may be the expected one, ``note`` then says so; ``raw`` is all that was said.

    ``probabilities`` of the scale's steps are known where log-probabilities were asked for.
    """

    evaluation: ParsedEvaluation
    raw: str
    score: float | None = None
    problem: str = ""
    note: str = ""
    probabilities: tuple[float, ...] = ()


def unread_problem(why: str, answer: Answer) -> str:
    """What to tell the model, and the user, about an answer without a readable score."""
    cut = ", and the answer was cut off at the token limit" if answer.finish_reason == "length" else ""
    declined = (
        ", and the model declined to answer" if answer.finish_reason in ("refusal", "content_filter") else ""
    )
    return f"no score could be read from it ({why or 'no score'}{cut}{declined})"


def unscored_reason(problem: str, answers: Sequence[Answer]) -> str:
    """Why there is no score after both attempts, and what the user can do about it."""
    remedy = "send it again, or try another model, protocol or template"
    if answers and answers[-1].finish_reason == "length":
        remedy = "allow more tokens (max_tokens) and send it again"
    times = "twice" if len(answers) > 1 else "once"
    return f"The model was asked {times} and {problem}: {remedy}."


def join_answers(answers: Sequence[Answer]) -> str:
    """The raw text of a draft: every answer in order."""
    return ASKED_AGAIN.join(answer.text for answer in answers)


def combine_verdicts(verdicts: Sequence[Verdict], criterion: Criterion, instance: Instance) -> ImportedDraft:
    """One draft of all answers: the mean of the scores read, and the rows of the answer nearest to it.

    Unreadable answers are left out of the mean and counted in the reason; a draft of nothing but unreadable
    ones has no score, no rows, and holds everything that was said.
    """
    read = [verdict for verdict in verdicts if verdict.score is not None]
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
            f"{len(verdicts) - len(read)} of {len(verdicts)} answers had no readable score and are left out."
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
    )


def _mean_probabilities(given: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """The mean of each step's over the answers."""
    return tuple(math.fsum(step) / len(given) for step in zip(*given, strict=True))


def _rows(
    verdict: Verdict, scores: Sequence[float], mean: float, instance: Instance
) -> tuple[EvaluationRow, ...]:
    """Conclusion where there is one, score, evidence: each with the spans it quotes from the output."""
    parsed = verdict.evaluation
    lines = [(RowKind.CONCLUSION, parsed.conclusion)] if parsed.conclusion else []
    lines.append((RowKind.SCORE, _score_line(verdict, scores, mean)))
    lines += [(RowKind.EVIDENCE, line) for line in parsed.evidence]
    return tuple(
        EvaluationRow(kind, text, find_quotes(text, instance.output, instance.input)) for kind, text in lines
    )


def _score_line(verdict: Verdict, scores: Sequence[float], mean: float) -> str:
    """The text of the score row: the score, how many answers it is the mean of, and what kind of score it is."""
    details = []
    if len(scores) > 1:
        details.append(f"mean of {len(scores)} answers, standard deviation {statistics.stdev(scores):.2f}")
    if verdict.note:
        details.append("expected score from log-probabilities")
    return f"Score: {round(mean, 2):g}" + (f" ({'; '.join(details)})" if details else "")
