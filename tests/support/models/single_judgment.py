"""One judgment by a protocol, without a study around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coeval.domain import Ask, Criterion, ImportedDraft, Instance, Task
from coeval.extensions.fusion.assistants import Assistant
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.protocol import Brief, Item, Judgment, Questions, build_protocol

FIRST = Item(1, (1,))


def render_calls(task: Task, criterion: Criterion, instance: Instance, options: JudgeOptions) -> Questions:
    return build_protocol(Brief(task, {1: criterion}, options)).render_calls(FIRST, instance)


async def judge(
    ask: Ask, task: Task, criterion: Criterion, instance: Instance, options: JudgeOptions
) -> ImportedDraft:
    judgment = await build_protocol(Brief(task, {1: criterion}, options)).judge(ask, FIRST, instance)
    return judgment.drafts[1]


async def judge_all(
    ask: Ask,
    task: Task,
    criteria: Sequence[Criterion],
    instance: Instance,
    options: JudgeOptions,
    plan: str = "",
    assistants: Sequence[Assistant] = (),
    scores: Mapping[str, float] | None = None,
) -> Judgment:
    """One item of all the criteria, whose ids are their numbers from 1."""
    by_id = dict(enumerate(criteria, 1))
    given = {name: {instance.external_id: score} for name, score in (scores or {}).items()}
    protocol = build_protocol(Brief(task, by_id, options, plan, assistants, given))
    return await protocol.judge(ask, Item(1, tuple(by_id)), instance)
