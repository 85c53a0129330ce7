"""The Scrutiny tab: the workbench, which fetches and saves through ``ui/api.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from coeval.errors import CoevalError
from coeval.study.access import Context
from coeval.ui.components.tasks_picker import chosen_task
from coeval.ui.components.workbench import Workbench
from coeval.ui.server.identity import get_person, shown

Bind = Callable[[Callable[..., Any]], None]


def build_scrutiny_tab(context: Context, task: gr.Dropdown) -> Bind:
    """Build the tab; gives a function that loads it on an event."""
    workbench = Workbench(elem_id="workbench")

    def on_open(slug: str | None, request: gr.Request) -> dict[str, Any] | None:
        try:
            person = get_person(context, request)
            slug = chosen_task(context, person, slug, request)
        except CoevalError as error:
            raise shown(error) from error
        return {"task": slug, "person": str(person.id)} if slug else None

    def load_on(event: Callable[..., Any]) -> None:
        event(
            on_open, task, workbench, concurrency_limit=None, show_progress="hidden", api_visibility="private"
        )

    return load_on
