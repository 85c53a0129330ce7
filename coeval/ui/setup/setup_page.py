"""Set-up: tasks, import, pre-fill, people, export. Its own mount, for owners only."""

from __future__ import annotations

import gradio as gr

from coeval.study.access import Context
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import View, el
from coeval.ui.panel import QUICK, Tab, build_tabs, shown_refusals
from coeval.ui.server.identity import get_person
from coeval.ui.setup.crowd_people_tab import CrowdPeopleTab
from coeval.ui.setup.crowd_tab import CrowdTab
from coeval.ui.setup.hosting_tab import HostingTab
from coeval.ui.setup.import_tab import ImportTab
from coeval.ui.setup.people_tab import PeopleTab
from coeval.ui.setup.prefill_tab import PrefillTab
from coeval.ui.setup.review_tab import ReviewTab
from coeval.ui.setup.tasks_tab import TasksTab

TABS: tuple[type[Tab], ...] = (
    TasksTab,
    ImportTab,
    PrefillTab,
    ReviewTab,
    PeopleTab,
    CrowdTab,
    CrowdPeopleTab,
    HostingTab,
)
"""Every tab of Set-up, in the order in which they stand: a new one is a file and a line here."""


def build_admin(context: Context) -> gr.Blocks:
    """The Blocks of the set-up area."""
    with gr.Blocks(title="CoEval · Set-up", analytics_enabled=False, fill_width=True) as demo:
        with gr.Row(elem_id="top-bar"):
            View(el("strong", "CoEval · Set-up"), elem_id="brand")
            task = gr.Dropdown(
                [], label="Task", show_label=False, container=False, elem_id="task-picker", interactive=True
            )
            View(el("div.me", el("a", "← Back to the study", href="../")), elem_id="me")

        def on_load(request: gr.Request) -> gr.Dropdown:
            with shown_refusals():
                return task_choices(context, get_person(context, request), request.query_params.get("task"))

        start = demo.load(on_load, outputs=task, **QUICK)
        build_tabs(TABS, context, task, start.then, task.input)
    return demo
