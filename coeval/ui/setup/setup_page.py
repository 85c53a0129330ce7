"""Set-up: tasks, import, pre-fill, people, export. Its own mount, for owners only."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.errors import CoevalError
from coeval.study.access import Context
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import View, el
from coeval.ui.server.identity import get_person, shown
from coeval.ui.setup.design_box import build_design_box
from coeval.ui.setup.hosted_tabs import build_hosted_tabs
from coeval.ui.setup.import_tab import build_import_tab
from coeval.ui.setup.people_tab import build_people_tab
from coeval.ui.setup.prefill_tab import build_prefill_tab
from coeval.ui.setup.review_tab import build_review_tab
from coeval.ui.setup.tasks_tab import build_tasks_tab


def build_admin(context: Context) -> gr.Blocks:
    """The Blocks of the set-up area."""
    with gr.Blocks(title="CoEval · Set-up", analytics_enabled=False, fill_width=True) as demo:
        with gr.Row(elem_id="top-bar"):
            View(el("strong", "CoEval · Set-up"), elem_id="brand")
            task = gr.Dropdown(
                [], label="Task", show_label=False, container=False, elem_id="task-picker", interactive=True
            )
            View(el("div.me", el("a", "← Back to the study", href="../")), elem_id="me")
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("Tasks", id="tasks"):
                load_tasks = build_tasks_tab(context, task)
                load_design = build_design_box(context, task)
            with gr.Tab("Import", id="import"):
                build_import_tab(context, task)
            with gr.Tab("Pre-fill", id="prefill") as prefill_tab:
                load_prefill = build_prefill_tab(context, task)
            with gr.Tab("Review", id="review") as review_tab:
                load_review = build_review_tab(context, task)
            with gr.Tab("People", id="people") as people_tab:
                load_people = build_people_tab(context, task)
            build_hosted_tabs(context, task)

        def on_load(request: gr.Request) -> Any:
            try:
                return task_choices(context, get_person(context, request), request.query_params.get("task"))
            except CoevalError as error:
                raise shown(error) from error

        start = demo.load(on_load, outputs=task, concurrency_limit=None, api_visibility="private")
        for event in (start.then, task.input):
            load_tasks(event)
            load_design(event)
        for event in (prefill_tab.select, task.input):
            load_prefill(event)
        for event in (review_tab.select, task.input):
            load_review(event)
        for event in (people_tab.select, task.input):
            load_people(event)
    return demo
