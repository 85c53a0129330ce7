"""The ladder of answers: ask for a form, read only the form, ask once more for what is not in it.

An endpoint gives its best form: JSON by a schema, JSON, or text with a labelled line (the client finds out which). The
second question continues the conversation and asks for the scores alone, by schema where the endpoint can. A draft
keeps the rung on which its score was obtained.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from coeval.domain import Answer, Ask, Criterion, Request, Rung, Scale, TokenProb
from coeval.errors import UnansweredError
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.prompting.questions import render_again, scores_schema
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.reading.scores import ParsedEvaluation

T = TypeVar("T")

WHOLE = frozenset([
    "stop", "stop_sequence", "end", "end_turn", "eos", "eos_token", "complete", "completed", "finished",
    "tool_calls", "function_call",
])  # fmt: skip
"""The finish reasons of complete answers, in the words of different servers."""

DECLINED = ("refusal", "content_filter")
"""The finish reasons of answers in which the model or its provider declined. A second question would force a number."""

ASKED_AGAIN = "\n\n--- asked again ---\n\n"
"""The line between the first and the second answer in a draft's raw text."""

NO_LOGPROBS = (
    "the expected score was asked for, but the endpoint gave no log-probabilities for a single token of the "
    "score: run it again without log-probabilities, or on an endpoint that gives them"
)


def is_whole(answer: Answer) -> bool:
    """Return whether the model ended the answer itself. Any other answer may be cut off."""
    return answer.finish_reason in WHOLE


def is_declined(answer: Answer) -> bool:
    """Return whether the model or its provider declined to answer."""
    return answer.finish_reason in DECLINED


def readable_text(answer: Answer) -> str:
    """Return the text that may state something: none if the answer is declined."""
    return "" if is_declined(answer) else answer.text


def join_answers(answers: Sequence[Answer]) -> str:
    """Return the raw text of a draft: all answers in order."""
    return ASKED_AGAIN.join(answer.text for answer in answers)


def unread_problem(why: str, answer: Answer) -> str:
    """Return the reason why an answer could not be used, and how it ended if its model did not end it."""
    if is_whole(answer):
        return why
    if answer.finish_reason == "length":
        return f"{why}, and the answer was cut off at the token limit"
    if is_declined(answer):
        return f"{why}, and the model declined to answer"
    if not answer.finish_reason:
        return f"{why}, and the server gave no finish reason, so the answer may be incomplete"
    return f"{why}, and the answer ended with the finish reason “{answer.finish_reason[:40]}”"


def unread_reason(problem: str, answers: Sequence[Answer]) -> str:
    """Return why nothing could be read from the answers, and what the user can do."""
    remedy = "Send it again, or use another model, protocol or template"
    if answers and answers[-1].finish_reason == "length":
        remedy = "Allow more tokens (--max-tokens), and send it again"
    times = "twice" if len(answers) > 1 else "once"
    return f"The model was asked {times}, and its answer cannot be used: {problem}. {remedy}."


def rung_of(answer: Answer, form: str) -> Rung:
    """Return the rung of an answer whose first form was read: JSON by schema, other JSON, or a label."""
    if form != "JSON":
        return Rung.LABEL
    return Rung.SCHEMA if answer.response_format == "json_schema" else Rung.JSON


async def ask_all(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results in order. If one fails, the others finish first, because they are paid for.

    Raises:
        ModelError: the first failure.
    """
    results = await asyncio.gather(*questions, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


async def ask_in_form(
    ask: Ask, request: Request, sample: int, again: Callable[[Answer], Request | None]
) -> tuple[Answer, ...]:
    """Return the answer, and the answer to the request of ``again`` if that returns one for the first.

    A refused answer is not asked for again. If the second question has no answer (a replay without it, or a call that
    failed because of its text), the first answer stays alone.

    Raises:
        ModelError: a request failed.
    """
    first = await ask(request, sample)
    further = None if is_declined(first) else again(first)
    if further is None:
        return (first,)
    try:
        return first, await ask(further, sample)
    except UnansweredError:
        return (first,)
    except CallError as error:
        if error.kind not in UNREAD:
            raise
        return (first,)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """What was read from the answers to one question, and on which rung; a ``reason`` says why nothing was."""

    value: T
    reason: str
    raw: str
    rung: str


async def ask_until_read(
    ask: Ask,
    request: Request,
    sample: int,
    read: Callable[[Answer], tuple[T, str]],
    form: str,
    *,
    schema: Mapping[str, object] | None = None,
    templates: Path | None = None,
) -> Reply[T]:
    """Ask for JSON, and once more if ``read`` returns a reason why the answer is not in the form.

    ``read`` receives an empty text if the model declined. ``form`` and ``schema`` are those of the second question; by
    default its schema is that of the first.

    Raises:
        ModelError: a request failed.
    """

    def read_text(answer: Answer) -> tuple[T, str]:
        return read(replace(answer, text=readable_text(answer)))

    def again(answer: Answer) -> Request | None:
        _, why = read_text(answer)
        if not why:
            return None
        problem = unread_problem(why, answer)
        asked = schema or request.schema or {}
        return render_again(request, answer.text, problem, form, asked, templates, lined=False)

    answers = await ask_in_form(ask, request, sample, again)
    value, why = read_text(answers[-1])
    reason = unread_reason(unread_problem(why, answers[-1]), answers) if why else ""
    rung = Rung.AGAIN if len(answers) > 1 else rung_of(answers[0], "JSON")
    return Reply(value, reason, join_answers(answers), "" if why else rung)


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
    rung: Rung | None = None


Read = Callable[[str, str, bool], Sequence[ParsedEvaluation]]
"""A function that reads one evaluation per criterion from an answer's text.

Its other arguments are the words that the answer may have copied, and whether the answer is complete.
"""


@dataclass(frozen=True)
class ScoreQuestion:
    """The scores that a question asks for: a label and a criterion for each, and the reader of its answers.

    A question about one criterion has the label "Score"; one about several has "[1] Score", "[2] Score" and so on.
    """

    labels: Sequence[str]
    criteria: Sequence[Criterion]
    read: Read
    options: JudgeOptions

    async def ask(self, ask: Ask, request: Request, sample: int, given: str) -> list[Verdict]:
        """Return a verdict per criterion. Scores that are not in the form are asked for once more, and only these.

        A stated number off the scale is not asked for again, because every score would contradict it.

        Raises:
            ModelError: a request failed.
        """

        def again(answer: Answer) -> Request | None:
            parsed = self.read(readable_text(answer), given, is_whole(answer))
            missing = {
                place: evaluation.reason
                for place, evaluation in enumerate(parsed)
                if evaluation.score is None and not self._is_off_scale(place, evaluation)
            }
            return self._render_again(request, answer, missing) if missing else None

        answers = await ask_in_form(ask, request, sample, again)
        first = self.read(readable_text(answers[0]), given, is_whole(answers[0]))
        # the second answer is nothing but the form, so it cannot be confused with a copy of the sample
        second = (
            first if len(answers) == 1 else self.read(readable_text(answers[1]), "", is_whole(answers[1]))
        )
        return [
            self._settle(place, answers, answered, other, given if other is answered else "")
            for place, (answered, other) in enumerate(zip(first, second, strict=True))
        ]

    def _is_off_scale(self, place: int, parsed: ParsedEvaluation) -> bool:
        scale = self.criteria[place].scale
        return parsed.stated is not None and not scale.low <= parsed.stated <= scale.high

    def _render_again(self, request: Request, answer: Answer, missing: Mapping[int, str]) -> Request:
        """Return the second question, which names only the scores that are missing."""
        scales = {self.labels[place]: self.criteria[place].scale for place in missing}
        form = "\n".join(
            f"{label}: <one whole number from {scale.low} to {scale.high}>" for label, scale in scales.items()
        )
        names = {label.removesuffix(" Score").strip("[]").lower(): scale for label, scale in scales.items()}
        reasons = [
            reason if len(self.labels) == 1 else f"{self.labels[place].removesuffix(' Score')} {reason}"
            for place, reason in missing.items()
        ]
        why = unread_problem("; ".join(reasons), answer)
        return render_again(request, answer.text, why, form, scores_schema(names), self.options.templates)

    def _settle(
        self,
        place: int,
        answers: Sequence[Answer],
        first: ParsedEvaluation,
        second: ParsedEvaluation,
        given: str,
    ) -> Verdict:
        """Return the verdict of the first answer if it is in the form, or else of the second one.

        A second score that contradicts the only number of the first answer is not used.
        """
        raw = join_answers(answers)
        if first.score is not None:
            return self._expect(place, answers[0], first, raw, rung_of(answers[0], first.form), given)
        if self._is_off_scale(place, first):
            answers, second = answers[:1], first
        answer = answers[-1]
        if len(answers) > 1 and second.score is not None:
            if first.stated is not None and first.stated != second.score:
                problem = f"the first answer says {first.stated:g}, and the second one {second.score:g}"
                return Verdict(first, raw, problem=unread_reason(problem, answers))
            parsed = replace(first, score=second.score, reason="", form=second.form)
            return self._expect(place, answer, parsed, raw, Rung.AGAIN, "")
        problem = unread_problem(second.reason, answer)
        return Verdict(first, raw, problem=unread_reason(problem, answers))

    def _expect(
        self, place: int, answer: Answer, parsed: ParsedEvaluation, raw: str, rung: Rung, given: str
    ) -> Verdict:
        """Return the score, or the expected score if one was requested. A plain score never replaces that one."""
        if not self.options.logprobs:
            return Verdict(parsed, raw, parsed.score, rung=rung)
        whole = is_whole(answer)
        scale = self.criteria[place].scale
        expected = expected_score(
            answer.logprobs, scale, lambda text: self.read(text, given, whole)[place].score
        )
        if expected is None:
            return Verdict(parsed, raw, problem=f"The model answered {parsed.score:g}, but {NO_LOGPROBS}.")
        note = (
            f"Expected score from log-probabilities; {expected.mass:.0%} of the probability is on the scale."
        )
        return Verdict(parsed, raw, expected.score, "", note, expected.probabilities, rung)


MAX_PLACES = 50
"""Number of tokens that are tried as the score's token."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The mean score under the model's token probabilities.

    ``probabilities`` are those of the scale's steps, normalised to a sum of 1; ``mass`` is their original sum.
    """

    score: float
    mass: float
    probabilities: tuple[float, ...] = ()


def expected_score(
    tokens: tuple[TokenProb, ...], scale: Scale, read: Callable[[str], float | None]
) -> Expected | None:
    """Return the expected score at the score's token, or None if the score is not a single token.

    ``read`` reads a score from a whole answer. The score's token is the one that, replaced with another step of the
    scale, changes the score that is read to that step, whatever the form of the answer. Tokens off the scale are left
    out, and the remaining probabilities are normalised.
    """
    place = _score_place([token.token for token in tokens], scale, read)
    if place is None:
        return None
    token = tokens[place]
    chances = dict(token.top) | {token.token: token.logprob}
    weights = dict.fromkeys(scale.steps, 0.0)
    for text, logprob in chances.items():
        step = _step(text, scale)
        if step is not None:
            weights[step] += math.exp(logprob)
    mass = math.fsum(weights.values())
    if mass <= 0:
        return None
    score = math.fsum(step * weight for step, weight in weights.items()) / mass
    return Expected(score, min(1.0, mass), tuple(weight / mass for weight in weights.values()))


def _score_place(texts: list[str], scale: Scale, read: Callable[[str], float | None]) -> int | None:
    score = read("".join(texts))
    if score is None:
        return None
    places = [index for index, text in enumerate(texts) if _step(text, scale) == score]
    other = next((step for step in reversed(scale.steps) if step != score), None)
    if other is None:
        return None
    for index in places[-MAX_PLACES:]:
        exchanged = texts[index].replace(str(int(score)), str(other))
        if read("".join([*texts[:index], exchanged, *texts[index + 1 :]])) == other:
            return index
    return None


def _step(text: str, scale: Scale) -> int | None:
    """Return the step of the scale that a token states, ignoring spaces."""
    digits = text.strip()
    return int(digits) if digits in {str(step) for step in scale.steps} else None
