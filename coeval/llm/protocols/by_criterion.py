"""The common part of protocols that judge one instance on one criterion at a time.

They follow "A Closer Look into Automatic Evaluation Using Large Language Models" (score-only, free-text,
rate-explain, analyze-rate, auto-CoT, 20 samples) and CoEval itself (conclusion, score, evidence).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from coeval.domain import Ask, Criterion, Instance, Request, Scale
from coeval.llm.prompting.questions import ask_all, render_request
from coeval.llm.prompting.template_values import render_case, render_criterion
from coeval.llm.protocols.ladder import ScoreQuestion, Verdict
from coeval.llm.protocols.protocol import Item, Judgment, Protocol, Questions
from coeval.llm.protocols.verdicts import combine_verdicts, given_words
from coeval.llm.reading.evaluations import read_evaluation
from coeval.llm.reading.scores import ParsedEvaluation
from coeval.rules.column_roles import list_images


@dataclass(frozen=True, slots=True)
class Form:
    """One form of the question: its template, and the JSON schema of its answers.

    Without a schema, the template asks for text that ends in a line such as "Score: 4" or "Rating: 4".
    """

    template: str
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
        """Request all samples at once. One that is not in the form is asked for once more."""
        (number,) = item.criteria
        criterion = self.brief.criteria[number]
        name, scale = render_criterion(criterion), (criterion.scale.low, criterion.scale.high)

        def read(text: str, given: str, whole: bool) -> list[ParsedEvaluation]:
            return [read_evaluation(text, scale, name, given=given, whole=whole)]

        question = ScoreQuestion(["Score"], [criterion], read, self.options)

        async def ask_once(request: Request, sample: int) -> Verdict:
            (verdict,) = await question.ask(ask, request, sample, given_words(request, instance))
            return verdict

        verdicts = await ask_all(ask_once(*call) for call in self.render_calls(item, instance))
        return Judgment({number: combine_verdicts(verdicts, criterion, instance)})
