"""Build one draft from a model's answers: parse and average them, and make rows with quotations."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from coeval.domain import Answer, Criterion, EvaluationRow, ImportedDraft, Instance, Request, RowKind
from coeval.llm.prompting.questions import ASKED_AGAIN
from coeval.llm.reading.evaluations import ParsedEvaluation
from coeval.llm.reading.quotes import find_quotes


@dataclass(frozen=True, slots=True)
class Verdict:
    """One parsed answer. If ``score`` is the expected score, ``note`` says so; ``raw`` is the whole text.

    ``probabilities`` are those of the scale's steps, if log-probabilities were requested.
    """

    evaluation: ParsedEvaluation
    raw: str
    score: float | None = None
    problem: str = ""
    note: str = ""
    probabilities: tuple[float, ...] = ()


WHOLE = frozenset(
    [
        "stop",
        "stop_sequence",
        "end",
        "end_turn",
        "eos",
        "eos_token",
        "complete",
        "completed",
        "finished",
        "tool_calls",
        "function_call",
    ]
)
"""The finish reasons of complete answers, in the words of different servers."""


def is_whole(answer: Answer) -> bool:
    """Return whether the model ended the answer itself. Any other answer may be cut off."""
    return answer.finish_reason.lower() in WHOLE


def given_words(request: Request, instance: Instance) -> str:
    """Return all words that were sent to the model. If an answer repeats them, they are not a verdict."""
    return "\n\n".join([*(message.content for message in request.messages), instance.output])


def unread_problem(why: str, answer: Answer) -> str:
    """Explain to the model and the user why an answer has no readable score."""
    return f"no score could be read from it ({why or 'no score'}{_how_it_ended(answer)})"


def _how_it_ended(answer: Answer) -> str:
    if is_whole(answer):
        return ""
    if answer.finish_reason == "length":
        return ", and the answer was cut off at the token limit"
    if answer.finish_reason in ("refusal", "content_filter"):
        return ", and the model declined to answer"
    if not answer.finish_reason:
        return ", and the server gave no finish reason, so the answer may be incomplete"
    return f", and the answer ended with the finish reason “{answer.finish_reason[:40]}”"


def unscored_reason(problem: str, answers: Sequence[Answer]) -> str:
    """Explain why the score is missing after both attempts, and what the user can do."""
    remedy = "send it again, or try another model, protocol or template"
    if answers and answers[-1].finish_reason == "length":
        remedy = "allow more tokens (max_tokens) and send it again"
    times = "twice" if len(answers) > 1 else "once"
    return f"The model was asked {times} and {problem}: {remedy}."


def join_answers(answers: Sequence[Answer]) -> str:
    """Return the raw text of a draft: all answers in order."""
    return ASKED_AGAIN.join(answer.text for answer in answers)


def combine_verdicts(verdicts: Sequence[Verdict], criterion: Criterion, instance: Instance) -> ImportedDraft:
    """Return one draft from all answers: the mean of the readable scores, and the rows of the answer closest to it.

    Its rule lists every rule that accepted one of the scores, so that a doubtful rule stays visible. Unreadable answers
    are left out of the mean and counted in the reason. If all answers are unreadable, the draft has no score and no
    rows, but keeps all raw text.
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
        rule=" + ".join(sorted({verdict.evaluation.rule for verdict in read} - {""})),
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
