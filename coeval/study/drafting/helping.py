"""What a model writes before it judges: evaluation steps (auto-CoT) and the plan of a fusion."""

from __future__ import annotations

from coeval.domain import MAX_REMARK, Ask, CriteriaSet, Person, Task
from coeval.errors import InputError
from coeval.llm.ideation.evaluation_steps import draft_steps as ask_for_steps
from coeval.llm.ideation.fusion_plan import draft_plan as ask_for_plan
from coeval.store.queries.drafting import judge_helps
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.drafting.assistants import choose_assistants
from coeval.study.drafting.endpoint import ask_until_new, build_runner
from coeval.study.drafting.preparing import require_ready
from coeval.study.drafting.run_settings import RunSettings


async def write_steps(context: Context, task: Task, current: CriteriaSet, model: str, ask: Ask) -> None:
    """Store evaluation steps for every criterion that has none."""
    with context.store.read() as db:
        known = judge_helps.get_steps(db, [criterion.id for criterion in current.criteria])
    for criterion in current.criteria:
        if criterion.id not in known:
            text = await ask_for_steps(ask, task, criterion, model)
            with context.store.write() as db:
                judge_helps.record_steps(db, criterion.id, text, origin=model, by=model)


async def write_plan(
    context: Context, task: Task, current: CriteriaSet, settings: RunSettings, ask: Ask
) -> str:
    """A plan for the assistants that the settings name."""
    with context.store.read() as db:
        chosen = choose_assistants(db, task, settings.assistants)
    return await ask_for_plan(ask, task, list(current.criteria), chosen, settings.judge_options())


@use_case(OWNERS)
async def draft_plan(context: Context, person: Person, slug: str, settings: RunSettings) -> str:
    """Have the model write the plan of a fusion, to be read and edited before the run freezes it.

    Raises:
        ModelError: no model is set up, or it wrote no plan.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
    async with build_runner(context, concurrency=1) as runner:
        return await ask_until_new(runner, lambda ask: write_plan(context, task, current, settings, ask))


@use_case(OWNERS)
async def draft_steps(context: Context, person: Person, slug: str, model: str = "") -> dict[str, str]:
    """Have the model write evaluation steps for the criteria that have none; gives all, by criterion.

    Raises:
        ModelError: no model is set up, or it wrote no steps.
    """
    with context.store.read() as db:
        task, current = require_ready(db, slug)
    async with build_runner(context, concurrency=1) as runner:
        asked = model or context.settings.model
        await ask_until_new(runner, lambda ask: write_steps(context, task, current, asked, ask))
    return list_steps(context, person, slug)


@use_case(OWNERS)
def list_steps(context: Context, person: Person, slug: str) -> dict[str, str]:
    """See the evaluation steps in force, by the text of their criterion; empty where there are none."""
    with context.store.read() as db:
        _, current = require_ready(db, slug)
        known = judge_helps.get_steps(db, [criterion.id for criterion in current.criteria])
    return {criterion.text: known.get(criterion.id, "") for criterion in current.criteria}


@use_case(OWNERS)
def save_steps(context: Context, person: Person, slug: str, criterion: str, text: str) -> None:
    """Put a text of evaluation steps in force; runs that used another keep it.

    Raises:
        InputError: the text is too long, or the criterion is not in the current set.
    """
    if len(text) > MAX_REMARK:
        raise InputError(f"The steps have {len(text):,} characters; shorten them to {MAX_REMARK:,}.")
    with context.store.write() as db:
        _, current = require_ready(db, slug)
        number = next((member.id for member in current.criteria if member.text == criterion), None)
        if number is None:
            raise InputError(f"“{criterion[:60]}” is not in the current criteria set: reload the page.")
        judge_helps.record_steps(db, number, text.strip(), origin="human", by=person.name)
