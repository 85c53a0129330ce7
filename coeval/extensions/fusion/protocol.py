"""Fusion: one call judges all criteria, with the scores of assistants and a frozen plan that a model drafted.

The model drafts the plan first, and a person can edit it. The judgments with the plan are repeated and averaged. The
ablation asks the same question without plan, assistants and scores. "Overall" is the model's own rating of the whole
sample, which this question asks for, not the mean over the criteria.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coeval.domain import Answer, Ask, Criterion, Instance, Request, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.extensions.fusion.assistant_choice import choose_assistants, score_instances
from coeval.extensions.fusion.assistants import (
    Assistant,
    describe_assistants,
    number_criteria,
    render_assistant_scores,
)
from coeval.llm.prompting.questions import build_object, build_text, render_request
from coeval.llm.prompting.template_files import (
    JudgeOptions,
    list_criteria,
    render_reference,
    render_sample,
    render_scale,
    task_values,
)
from coeval.llm.protocols.by_criterion import judge_together
from coeval.llm.protocols.ladder import ask_until_read, is_whole
from coeval.llm.protocols.protocol import (
    Item,
    Items,
    Judgment,
    Protocol,
    Questions,
    group_by_instance,
    register,
)
from coeval.llm.reading.answer_text import find_json, strip_markup, strip_thoughts
from coeval.llm.reading.evaluations import OVERALL
from coeval.rules.column_roles import list_images


def render_plan_request(
    task: Task, criteria: Sequence[Criterion], assistants: Sequence[Assistant], options: JudgeOptions
) -> Request:
    """Return the question that asks for a plan.

    Raises:
        InputError: there is no criterion or no assistant to plan for, nobody says what an assistant measures, or the
            template is broken.
    """
    if not criteria or not assistants:
        raise InputError(
            "A fusion plan needs at least one criterion and one assistant evaluator: choose some first."
        )
    if unknown := [assistant.name for assistant in assistants if not assistant.description.strip()]:
        raise InputError(
            f"A plan needs to say what each assistant measures, and nobody has said it of {', '.join(unknown)}. Give "
            f"each a description, such as {unknown[0]}:0:1:does the source entail the answer."
        )
    values = task_values(task) | {"criteria": list_criteria(criteria, decimals=True)}
    values["assistants"] = describe_assistants(assistants, number_criteria(criteria))
    return render_request("plan", values, options)


@register
class Fusion(Protocol):
    """A protocol that asks about all criteria in every question, even if an item needs only some of them."""

    name = "fusion"
    summary = "All criteria at once, with a plan and the scores of assistant evaluators"
    answer_tokens = 300
    samples = 8
    templates = ("fusion",)
    uses_assistants = True

    choose_assistants = staticmethod(choose_assistants)
    score_assistants = staticmethod(score_instances)

    @staticmethod
    async def draft_plan(
        ask: Ask,
        task: Task,
        criteria: Sequence[Criterion],
        assistants: Sequence[Assistant],
        options: JudgeOptions,
    ) -> str:
        request = render_plan_request(task, criteria, assistants, options)

        def read(answer: Answer) -> tuple[str, str]:
            plan = read_plan(answer.text)
            return plan, "" if plan and is_whole(answer) else NO_PLAN

        schema, form = build_object({"plan": build_text(MAX_PLAN)}), '{"plan": "..."}'
        reply = await ask_until_read(ask, request, 0, read, form, schema=schema, templates=options.templates)
        if reply.reason:
            raise UnreadableAnswerError(reply.reason)
        return reply.value

    def group(self, pairs: Iterable[tuple[int, int]]) -> Items:
        return group_by_instance(pairs)

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        criteria = list(self.brief.criteria.values())
        request = render_request(
            "fusion", self._values(criteria, instance), self.options, images=list_images(self.task, instance)
        )
        return [(request, sample) for sample in range(self.answers)]

    def _values(self, criteria: Sequence[Criterion], instance: Instance) -> dict[str, object]:
        values = task_values(self.task) | {"criteria": list_criteria(criteria, decimals=True)}
        values["reference"] = render_reference(self.task, instance)
        values["sample"] = render_sample(self.task, instance, reference=self.options.reference)
        values |= {
            "overall": OVERALL,
            "overall_scale": render_scale(self.task.scale, decimals=True),
            "form": _form(criteria),
        }
        assistants, plan = self.brief.assistants, self.brief.plan.strip()
        described = describe_assistants(assistants, number_criteria(criteria))
        values["assistants"] = f"## Assistant evaluators\n{described}" if assistants else ""
        values["plan"] = f"## Plan\n{plan}" if assistants and plan else ""
        scores = {name: by_id.get(instance.external_id) for name, by_id in self.brief.scores.items()}
        said = render_assistant_scores(assistants, scores)
        values["scores"] = f"## What the assistants say of this sample\n{said}" if assistants else ""
        return values

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        judged = {str(place): criterion for place, criterion in enumerate(self.brief.criteria.values(), 1)}
        judged[OVERALL] = Criterion(OVERALL, scale=self.task.scale)
        calls = self.render_calls(item, instance)
        *drafts, overall = await judge_together(ask, calls, judged, instance, self.options)
        by_id = dict(zip(self.brief.criteria, drafts, strict=True))
        return Judgment({number: by_id[number] for number in item.criteria}, overall)


NO_PLAN, MAX_PLAN = "it has no complete plan", 10_000


def read_plan(text: str) -> str:
    """Return the plan in a model's answer, which is words or JSON, as text of at most ``MAX_PLAN`` characters.

    >>> read_plan("<think>hm</think>```\\n1. **Trust** ROUGE.\\n```")
    '1. Trust ROUGE.'
    """
    words = strip_thoughts(text)
    for part in find_json(words):
        if isinstance(part.value, dict) and isinstance(part.value.get("plan"), str):
            words = part.value["plan"]
    return strip_markup(words)[:MAX_PLAN].strip()


def _form(criteria: Sequence[Criterion]) -> str:
    line = "Score: <number> Explanation: <one or two sentences>"
    lines = [
        f'[{number}] {line} Evidence: "<words copied from the text that is judged>"'
        for number in range(1, len(criteria) + 1)
    ]
    return "\n".join([*lines, f"[{OVERALL}] {line}"])
