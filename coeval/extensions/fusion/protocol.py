"""Fusion: one call judges all criteria, with the scores of assistants and a frozen plan that a model drafted.

The model drafts the plan first, and a person can edit it. The judgments with the plan are repeated and averaged. The
ablation asks the same question without plan, assistants and scores. "Overall" is the model's own rating of the whole
sample, which this question asks for, not the mean over the criteria.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coeval.datasets.text import parse_number
from coeval.domain import Answer, Ask, ColumnRole, Criterion, Instance, Person, Request, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.extensions.fusion.assistants import (
    DIRECTIONS,
    Assistant,
    describe_assistants,
    imported_assistant,
    list_assistants,
    list_plugins,
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
from coeval.store.queries import tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.drafting.model_requests import ask_until_new, build_runner, write_plan
from coeval.usecases.drafting.preparation import require_ready
from coeval.usecases.drafting.run_settings import RunSettings

TEXTS = ("input", "output", "reference")
"""The texts that an assistant can read."""


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """An imported score column as a person describes it."""

    name: str
    low: float
    high: float
    direction: str
    inputs: tuple[str, ...]
    description: str


def parse_column(spec: str) -> ScoreColumn:
    """Return an imported score column from ``column:low:high[:lower|neither][:input+output][:what it measures]``.

    Raises:
        InputError: the text does not have this form.

    >>> column = parse_column("nli:0:1:input+output:does the source entail the answer")
    >>> column.direction, column.inputs, column.description
    ('higher', ('input', 'output'), 'does the source entail the answer')
    """
    name, *rest = (part.strip() for part in spec.split(":"))
    try:
        low, high = float(rest[0]), float(rest[1])
    except (IndexError, ValueError):
        raise InputError(
            f"“{spec}” does not name a score column: write column:low:high:what it measures, such as "
            "nli:0:1:does the source entail the answer. Put “lower” before the description if lower is better."
        ) from None
    told = rest[2:]
    direction = told.pop(0) if told and told[0] in DIRECTIONS else "higher"
    inputs = told.pop(0).split("+") if told and set(told[0].split("+")) <= set(TEXTS) else []
    return ScoreColumn(name, low, high, direction, tuple(inputs), ": ".join(filter(None, told)))


def choose_assistants(instances: Sequence[Instance], task: Task, names: Sequence[str]) -> list[Assistant]:
    """Return the assistants with these names or column specs; without names, all of the task's.

    A task's assistants are the measures, those of installed packages, and the columns with the role
    "assistant score". A measure compares the output with the reference if every instance has one, or else
    with the input.

    Raises:
        InputError: a measure or column does not exist, or a column contains a value that is not a number in
            its range.
    """
    against = "reference" if all(instance.reference for instance in instances) else "input"
    assistants = {assistant.name: assistant for assistant in [*list_assistants(against), *list_plugins()]}
    columns = [name for name, role in task.columns.items() if role is ColumnRole.ASSISTANT_SCORE]
    assistants |= {name: _column(name, instances) for name in columns if name not in assistants}
    return [
        assistants[name] if name in assistants else _spec(name, instances, list(assistants))
        for name in names or list(assistants)
    ]


def _spec(spec: str, instances: Sequence[Instance], names: Sequence[str]) -> Assistant:
    """Return the column for a spec ``column:low:high``."""
    if ":" not in spec:
        raise InputError(
            f"There is no assistant “{spec}”: choose among {', '.join(names)}, or name a score column of the "
            "imported file as column:low:high:what it measures."
        )
    told = parse_column(spec)
    return imported_assistant(
        told.name,
        told.description,
        told.low,
        told.high,
        _values(told.name, instances),
        direction=told.direction,
        inputs=told.inputs,
    )


def _column(name: str, instances: Sequence[Instance]) -> Assistant:
    """Return a column of assistant scores, with the range of its values."""
    scores = _values(name, instances)
    low, high = min(scores.values()), max(scores.values())
    return imported_assistant(name, "", low, high if high > low else low + 1, scores)


def _values(name: str, instances: Sequence[Instance]) -> dict[str, float]:
    texts = {instance.external_id: instance.context.get(name, "") for instance in instances}
    if not any(text.strip() for text in texts.values()):
        raise InputError(f"No instance has a column “{name}”: import the scores as a column of that name.")
    return {instance: _number(name, instance, text) for instance, text in texts.items() if text.strip()}


def _number(name: str, instance: str, text: str) -> float:
    value = parse_number(text)
    if value is None:
        raise InputError(
            f"{name} of instance {instance} is “{text[:40]}”, which is not a number: correct the "
            "imported file."
        )
    return value


def score_instances(assistants: Sequence[Assistant], instances: Sequence[Instance]) -> dict[str, list[float]]:
    """Return each assistant's scores by its name, in the order of the instances. Missing scores are nan.

    Raises:
        InputError: two assistants share a name, or one has no scoring function.
    """

    names = [assistant.name for assistant in assistants]
    if len(set(names)) < len(names):
        raise InputError(f"Two assistants share a name among {', '.join(names)}: give each its own.")
    scores: dict[str, list[float]] = {}
    for assistant in assistants:
        if assistant.score is None:
            raise InputError(f"{assistant.name!r} has no scores: import its column, or leave it out.")
        scores[assistant.name] = _checked(assistant, list(assistant.score(instances)), len(instances))
    return scores


def _checked(assistant: Assistant, scores: Sequence[float], n: int) -> list[float]:
    """Return the scores as numbers. A plug-in's scores are checked like scores in a file."""
    try:
        values = [float(value) for value in scores]
    except (TypeError, ValueError) as error:
        raise InputError(f"{assistant.name!r} gave a score that is not a number ({error}).") from None
    if len(values) != n:
        raise InputError(
            f"{assistant.name!r} gave {len(values)} scores for {n} instances: it must give one each."
        )
    for value in values:
        if not math.isnan(value) and not assistant.low - 1e-9 <= value <= assistant.high + 1e-9:
            raise InputError(f"{assistant.name!r} gave {value:g}, outside its range {assistant.range}.")
    return values


@use_case(OWNERS)
def list_assistant_names(context: Context, person: Person, slug: str) -> list[str]:
    """Return the names of measures, columns and plug-ins that can assist a fusion of this task."""
    with context.store.read() as db:
        task = require_task(db, slug)
        instances = list(tasks.list_instances(db, task.id))
    return [assistant.name for assistant in choose_assistants(instances, task, [])]


@use_case(OWNERS)
async def draft_plan(context: Context, person: Person, slug: str, settings: RunSettings) -> str:
    """Let the model write the plan of a fusion, which people can edit before the run freezes it.

    Raises:
        ModelError: no model is set up, or it wrote no plan.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
    async with build_runner(context, concurrency=1) as runner:
        return await ask_until_new(runner, lambda ask: write_plan(context, task, current, settings, ask))


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
