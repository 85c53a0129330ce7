"""CoEval's own protocol: a conclusion, a score and evidence, also for several criteria in one question.

The sample, which is most of a judgment's cost, is then sent once for all criteria. Scores may differ from those of one
question per criterion; ``coeval draft compare`` measures the difference beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import ClassVar

from coeval.domain import Answer, Ask, Criterion, Instance, Request
from coeval.llm.prompting.questions import (
    ask_again,
    ask_all,
    evaluation_schema,
    evaluations_schema,
    read_aside,
    render_reask_some,
    render_request,
)
from coeval.llm.prompting.template_values import render_cases, render_criterion
from coeval.llm.protocols.by_criterion import ByCriterion, Form, Read, read_verdict
from coeval.llm.protocols.protocol import Item, Items, Judgment, Questions, group_by_instance, register
from coeval.llm.protocols.verdicts import Verdict, combine_verdicts, given_words, is_whole, unread_problem
from coeval.llm.reading.evaluations import ParsedEvaluation, parse_evaluation
from coeval.llm.reading.several_criteria import parse_evaluations
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
        return ("cases", self.several_template, "reask-some")

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
        """Request all samples at once. Repeat only the unreadable parts, once."""
        if self.options.criteria_per_call == 1:
            return await super().judge(ask, item, instance)
        criteria = [self.brief.criteria[number] for number in item.criteria]
        answers = await ask_all(
            self._judge_sample(ask, request, sample, criteria, instance)
            for request, sample in self.render_calls(item, instance)
        )
        drafts = {
            number: combine_verdicts([verdicts[place] for verdicts in answers], criteria[place], instance)
            for place, number in enumerate(item.criteria)
        }
        return Judgment(drafts)

    async def _judge_sample(
        self, ask: Ask, request: Request, sample: int, criteria: Sequence[Criterion], instance: Instance
    ) -> list[Verdict]:
        texts = [render_criterion(criterion) for criterion in criteria]
        scales = [(criterion.scale.low, criterion.scale.high) for criterion in criteria]
        given = given_words(request, instance)

        @lru_cache(maxsize=4)
        def read(text: str, whole: bool) -> list[ParsedEvaluation]:
            return parse_evaluations(text, texts, scales, given=given, whole=whole)

        first = await ask(request, sample)
        parsed = await read_aside(lambda answer: read(answer.text, is_whole(answer)), first)
        problems = {
            place: unread_problem(each.reason, first)
            for place, each in enumerate(parsed)
            if each.score is None
        }
        answers: tuple[Answer, ...] = (first,)
        if problems:
            again = render_reask_some(request, first.text, problems, self.options.templates)
            answers = await ask_again(ask, again, sample, first)
        return [
            read_verdict(
                answers if place in problems else answers[:1],
                _reader_of(read, place),
                criterion.scale,
                logprobs=self.options.logprobs,
            )
            for place, criterion in enumerate(criteria)
        ]


def _reader_of(read: Callable[[str, bool], list[ParsedEvaluation]], place: int) -> Read:
    return lambda text, whole: read(text, whole)[place]


@register
class ConclusionScoreEvidence(Several):
    """Makes the drafts that people review line by line."""

    name = "coeval"
    summary = "A conclusion, a score, and evidence quoted from the output"
    answer_tokens = 220
    form = Form("coeval", parse_evaluation, evaluation_schema)
    templates = ("case", "coeval")
    several_template = "coeval-several"
