"""The study app: one page with the tabs Criteria, Scrutiny and Agreement."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Role
from coeval.errors import CoevalError
from coeval.study.access import Context
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person, shown
from coeval.ui.study_app.agreement.agreement_tab import build_agreement_tab
from coeval.ui.study_app.criteria.criteria_tab import build_criteria_tab
from coeval.ui.study_app.scrutiny.scrutiny_tab import build_scrutiny_tab

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
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab("Criteria", id="criteria") as criteria_tab:
                load_criteria = build_criteria_tab(context, task)
            with gr.Tab("Scrutiny", id="scrutiny") as scrutiny_tab:
                load_scrutiny = build_scrutiny_tab(context, task)
            with gr.Tab("Agreement", id="agreement") as agreement_tab:
                load_agreement = build_agreement_tab(context, task)

        def on_load(request: gr.Request) -> dict[Any, Any]:
            try:
                person = get_person(context, request)
                picker = task_choices(context, person, request.query_params.get("task"))
            except CoevalError as error:
                raise shown(error) from error
            return {task: picker, me: _me(person.name, person.role)}

        start = demo.load(on_load, outputs=[task, me], concurrency_limit=None, api_visibility="private")
        load_criteria(start.then)
        # whoever opens the tab before the task is known gets it with the task
        load_scrutiny(start.then)
        task.input(None, task, js=OPEN_TASK)
        load_criteria(criteria_tab.select)
        load_scrutiny(scrutiny_tab.select)
        load_agreement(agreement_tab.select)
    return demo


def _me(name: str, role: Role) -> Node:
    setup = el("a", "Set-up ↗", href="admin") if role is Role.OWNER else None
    help_ = el("a", "Help", href="help/guide", target="_blank")
    leave = el("a", "Sign out", href="signout", data_post="1")
    return el("div.me", el("span", f"{name} · {role}"), help_, setup, leave)
