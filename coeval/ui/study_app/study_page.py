"""The study app: one page with the tabs Criteria, Scrutiny and Agreement."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Role
from coeval.study.access import Context
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import QUICK, StudyTab, build_tabs, shown_refusals
from coeval.ui.server.identity import get_person
from coeval.ui.study_app.agreement.agreement_tab import AgreementTab
from coeval.ui.study_app.criteria.criteria_tab import CriteriaTab
from coeval.ui.study_app.scrutiny.scrutiny_tab import ScrutinyTab

TABS: tuple[type[StudyTab], ...] = (CriteriaTab, ScrutinyTab, AgreementTab)
"""Every tab of the study app, in the order in which they stand."""

OPEN_TASK = (
    "(slug) => { const u = new URL(location.href); u.searchParams.set('task', slug); location.href = u; }"
)


def build_main(context: Context) -> gr.Blocks:
    """The Blocks of the study app. Which task is shown is in the address: ``?task=SLUG``."""
    with gr.Blocks(title="CoEval", analytics_enabled=False, fill_width=True) as demo:
        with gr.Row(elem_id="top-bar"):
            View(el("strong", "CoEval"), elem_id="brand")
            task = gr.Dropdown(
                [], label="Task", show_label=False, container=False, elem_id="task-picker", interactive=True
            )
            me = View(elem_id="me")

        def on_load(request: gr.Request) -> dict[Any, Any]:
            with shown_refusals():
                person = get_person(context, request)
                picker = task_choices(context, person, request.query_params.get("task"))
            return {task: picker, me: _me(person.name, person.role)}

        start = demo.load(on_load, outputs=[task, me], **QUICK)
        build_tabs(TABS, context, task, start.then)
        task.input(None, task, js=OPEN_TASK)
    return demo


def _me(name: str, role: Role) -> Node:
    setup = el("a", "Set-up ↗", href="admin") if role is Role.OWNER else None
    help_ = el("a", "Help", href="help/guide", target="_blank")
    leave = el("a", "Sign out", href="signout", data_post="1")
    everywhere = el("a", "Sign out on all devices", href="signout/everywhere", data_post="1")
    who = el("details.who", el("summary", f"{name} · {role}"), everywhere)
    return el("div.me", who, help_, setup, leave)
