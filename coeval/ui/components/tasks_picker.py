"""The task picker of both pages' top bars."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person, Task
from coeval.language import tr
from coeval.study import tasks
from coeval.study.access import Context

UNFILLED = "(loading)"
"""What a picker holds until it is filled: no short name of a task has brackets."""


class TaskPicker(gr.Dropdown):
    """A dropdown whose value is a task's short name, None where no task is chosen, ``UNFILLED`` at first.

    Gradio refuses a value that is not among the choices it remembers of a page. It remembers none before the page
    has loaded and after a restart of the server. Use cases say by themselves whether there is such a task.
    """

    def get_block_name(self) -> str:
        return "dropdown"

    def preprocess(self, payload: str | int | float | list[str | int | float] | None) -> str | None:
        return payload if isinstance(payload, str) else None


def task_choices(context: Context, person: Person, chosen: str | None = None) -> gr.Dropdown:
    """The picker with every task in it, ``chosen`` shown where there is one of that name, else the first."""
    known = tasks.list_tasks(context, person)
    return gr.Dropdown(_names(known), value=_choose(known, chosen), label=tr("Task"))


def newest_choices(context: Context, person: Person) -> gr.Dropdown:
    """The picker with every task in it, those too that came since the page was opened; the one shown stays."""
    return gr.Dropdown(_names(tasks.list_tasks(context, person)))


def first_task(context: Context, person: Person, request: gr.Request) -> str:
    """The task that a page shows at first: that of its address, else the first; "" where there is none."""
    return _choose(tasks.list_tasks(context, person), request.query_params.get("task")) or ""


def _names(known: list[Task]) -> list[tuple[str, str]]:
    return [(task.name, task.slug) for task in known]


def _choose(known: list[Task], slug: str | None) -> str | None:
    """That one, else the first of a team's own, else the first example."""
    if slug in {task.slug for task in known}:
        return slug
    own_first = sorted(known, key=lambda task: bool(task.origin))
    return next((task.slug for task in own_first), None)
