"""CoEval's own protocol: a conclusion, a score and evidence, also for several criteria in one question.

The sample, which is most of a judgment's cost, is then sent once for all criteria. Scores may differ from those of one
question per criterion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from coeval.domain import Ask, Instance
from coeval.llm.prompting.questions import evaluation_schema, evaluations_schema, render_request
from coeval.llm.prompting.template_values import render_cases
from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.protocol import Item, Items, Judgment, Questions, group_by_instance, register
from coeval.llm.protocols.verdicts import judge_together
from coeval.rules.column_roles import list_images


class Several(ByCriterion):
    """Asks about one or several criteria in one question, as the options say. A subclass names both forms."""

    takes_several = True
    several_template: ClassVar[str]
    """The template of a question about several criteria; ``cases`` holds the common variables."""

    @property
    def used_templates(self) -> tuple[str, ...]:
        if self.options.criteria_per_call == 1:
            return super().used_templates
        return ("cases", self.several_template, "reask")

    def group(self, pairs: Iterable[tuple[int, int]]) -> Items:
        most = self.options.criteria_per_call
        return super().group(pairs) if most == 1 else group_by_instance(pairs, most)

    def answer_length(self, item: Item) -> float:
        return self.answer_tokens * len(item.criteria)

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        if self.options.criteria_per_call == 1:
            return super().render_calls(item, instance)
        criteria = [self.brief.criteria[number] for number in item.criteria]
        request = render_request(
            self.several_template,
            render_cases(self.task, criteria, instance, self.options),
            self.options,
            schema=evaluations_schema([criterion.scale for criterion in criteria]),
            logprobs=self.options.logprobs,
            images=list_images(self.task, instance),
        )
        return [(request, sample) for sample in range(self.answers)]

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """Request all samples at once. Only the scores that are not in the form are asked for once more."""
        if self.options.criteria_per_call == 1:
            return await super().judge(ask, item, instance)
        criteria = {str(place): self.brief.criteria[number] for place, number in enumerate(item.criteria, 1)}
        calls = self.render_calls(item, instance)
        drafts = await judge_together(ask, calls, criteria, instance, self.options)
        return Judgment(dict(zip(item.criteria, drafts, strict=True)))


@register
class ConclusionScoreEvidence(Several):
    """Makes the drafts that people review line by line."""

    name = "coeval"
    summary = "A conclusion, a score, and evidence quoted from the output"
    answer_tokens = 220
    form = Form("coeval", evaluation_schema)
    templates: ClassVar[tuple[str, ...]] = ("case", "coeval")
    several_template = "coeval-several"
