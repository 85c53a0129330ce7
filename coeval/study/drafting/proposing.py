"""The model drafts criteria for a task."""

from __future__ import annotations

from typing import Any

from coeval.domain import Person, Proposal
from coeval.errors import InputError
from coeval.llm.ideation.criteria import MAX_EXAMPLES
from coeval.llm.ideation.criteria import draft_criteria as ask_for_criteria
from coeval.llm.presets.wordings import find_templates
from coeval.store.queries import tasks
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.drafting.endpoint import ask_until_new, build_runner


@use_case(OWNERS)
async def draft_criteria(
    context: Context,
    person: Person,
    slug: str,
    *,
    model: str = "",
    samples: int = 1,
    count: int = 5,
    examples: int = 0,
    temperature: float | None = None,
    top_p: float | None = None,
    templates: str = "",
) -> list[Proposal]:
    """Have a model propose criteria for a task; near-duplicates over the samples are merged.

    Raises:
        ModelError: no model is set up, or it cannot be reached or read.
        InputError: ``samples`` is not 1 to 50.
    """
    if not 1 <= samples <= 50:
        raise InputError(f"{samples} samples cannot be asked for: choose 1 to 50.")
    with context.store.read() as db:
        task = require_task(db, slug)
        shown = list(tasks.list_instances(db, task.id, limit=min(examples, MAX_EXAMPLES)))
    async with build_runner(context, concurrency=min(samples, context.settings.concurrency)) as runner:
        asked: dict[str, Any] = {
            "count": count,
            "temperature": temperature,
            "top_p": top_p,
            "examples": shown,
            "templates": find_templates(templates),
        }
        used = model or context.settings.model
        return await ask_until_new(runner, lambda ask: ask_for_criteria(ask, task, used, samples, **asked))
