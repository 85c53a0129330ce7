"""The task picker of both pages' top bars."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.study import tasks
from coeval.study.access import Context


def task_choices(context: Context, person: Person, wanted: str | None = None) -> gr.Dropdown:
    """The picker with every task in it, ``wanted`` chosen where there is one of that name, else the first."""
    known = tasks.list_tasks(context, person)
    chosen = next((task.slug for task in known if task.slug == wanted), known[0].slug if known else None)
    return gr.Dropdown([(task.name, task.slug) for task in known], value=chosen)
