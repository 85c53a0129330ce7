"""The task picker of both pages' top bars."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person, Task
from coeval.study import tasks
from coeval.study.access import Context


def task_choices(context: Context, person: Person, wanted: str | None = None) -> gr.Dropdown:
    """The picker with every task in it, ``wanted`` chosen where there is one of that name, else the first."""
    known = tasks.list_tasks(context, person)
    return gr.Dropdown([(task.name, task.slug) for task in known], value=_choose(known, wanted))


def chosen_task(context: Context, person: Person, slug: str | None, request: gr.Request) -> str | None:
    """The picked task; on a page whose picker is still empty, the one that it will show."""
    return slug or _choose(tasks.list_tasks(context, person), request.query_params.get("task"))


def _choose(known: list[Task], wanted: str | None) -> str | None:
    slugs = [task.slug for task in known]
    return wanted if wanted in slugs else next(iter(slugs), None)
