"""The common part of protocols that judge one instance on one criterion at a time.

They follow "A Closer Look into Automatic Evaluation Using Large Language Models" (score-only, free-text,
rate-explain, analyze-rate, auto-CoT, 20 samples) and CoEval itself (conclusion, score, evidence).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from coeval.domain import Answer, Ask, Criterion, Instance, Request, Scale
from coeval.llm.prompting.questions import ask_all, ask_twice, render_request
from coeval.llm.prompting.template_values import render_case, render_criterion
from coeval.llm.protocols.protocol import Item, Judgment, Protocol, Questions
from coeval.llm.protocols.verdicts import (
    Verdict,
    combine_verdicts,
    given_words,
    is_whole,
    join_answers,
    unread_problem,
    unscored_reason,
)
from coeval.llm.reading.evaluations import ParsedEvaluation, parse_rationale
from coeval.llm.reading.ratings import expected_score
from coeval.rules.column_roles import list_images

Read = Callable[[str, bool], ParsedEvaluation]
"""A function that parses an answer's text. Its second argument says whether the answer is complete."""

NO_LOGPROBS = (
    "the expected score was asked for, but the endpoint gave no log-probabilities for a single token of the "
    "score: run it again without log-probabilities, or on an endpoint that gives them"
)


@dataclass(frozen=True, slots=True)
class Form:
    """One form of the question: its template, the parser of its answers, and their JSON schema, if any.

    ``parse`` takes the text, the scale, the criterion, and the keywords ``given`` and ``whole`` (see `read_rating`).
    """

    template: str
    parse: Callable[..., ParsedEvaluation] = parse_rationale
    schema: Callable[[Scale], dict[str, object]] | None = None


class ByCriterion(Protocol):
    """Judges one instance on one criterion at a time. A subclass names its form."""

    form: ClassVar[Form]

    def form_of(self, sample: int) -> Form:
        """Return the form of the n-th answer."""
        return self.form

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        (criterion,) = (self.brief.criteria[number] for number in item.criteria)
        forms = [self.form_of(sample) for sample in range(self.answers)]
        requests = {form: self._render(form, criterion, instance) for form in dict.fromkeys(forms)}
        return [(requests[form], sample) for sample, form in enumerate(forms)]

    def _render(self, form: Form, criterion: Criterion, instance: Instance) -> Request:
        values = render_case(self.task, criterion, instance, self.options)
        schema = form.schema(criterion.scale) if form.schema else None
        return render_request(
            form.template, values, self.options, schema=schema, logprobs=self.options.logprobs,
            images=list_images(self.task, instance),
        )  # fmt: skip

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """Request all samples at once. Repeat an unreadable one once, in the same conversation."""
        (number,) = item.criteria
        criterion = self.brief.criteria[number]
        questions = [
            self._judge_once(ask, request, sample, criterion, instance)
            for request, sample in self.render_calls(item, instance)
        ]
        return Judgment({number: combine_verdicts(await ask_all(questions), criterion, instance)})

    async def _judge_once(
        self, ask: Ask, request: Request, sample: int, criterion: Criterion, instance: Instance
    ) -> Verdict:
        read = read_form(self.form_of(sample), criterion, given_words(request, instance))

        def problem_of(answer: Answer) -> tuple[str, str]:
            parsed = read(answer.text, is_whole(answer))
            remedy = (
                f"The score must be one whole number from {criterion.scale.low} to {criterion.scale.high}."
            )
            return (unread_problem(parsed.reason, answer), remedy) if parsed.score is None else ("", "")

        answers = await ask_twice(ask, request, sample, problem_of, self.options.templates)
        return read_verdict(answers, read, criterion.scale, logprobs=self.options.logprobs)


def read_form(form: Form, criterion: Criterion, given: str) -> Read:
    """Return the parser of a form's answers. It never raises, and it ignores words copied from the prompt.

    It caches the last few answers, so that each is parsed only once.
    """
    scale, name = (criterion.scale.low, criterion.scale.high), render_criterion(criterion)

    def read(text: str, whole: bool) -> ParsedEvaluation:
        return form.parse(text, scale, name, given=given, whole=whole)

    return lru_cache(maxsize=4)(read)


def read_verdict(answers: tuple[Answer, ...], read: Read, scale: Scale, *, logprobs: bool = False) -> Verdict:
    """Return the verdict of the last answer. A plain score never replaces a requested expected score."""
    answer, raw = answers[-1], join_answers(answers)
    whole = is_whole(answer)
    parsed = read(answer.text, whole)
    if parsed.score is None:
        problem = unscored_reason(unread_problem(parsed.reason, answer), answers)
        return Verdict(parsed, raw, problem=problem)
    if not logprobs:
        return Verdict(parsed, raw, parsed.score)
    expected = expected_score(answer.logprobs, scale, lambda text: read(text, whole).score)
    if expected is None:
        return Verdict(parsed, raw, problem=f"The model answered {parsed.score:g}, but {NO_LOGPROBS}.")
    note = f"Expected score from log-probabilities; {expected.mass:.0%} of the probability is on the scale."
    return Verdict(parsed, raw, expected.score, note=note, probabilities=expected.probabilities)
