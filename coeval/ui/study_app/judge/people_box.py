"""The Judge tab, "When to ask a person": what goes to people, and the team's work narrowed to it."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.study.judging import deferring
from coeval.study.judging.state import JudgeState, get_judge_state
from coeval.ui.components.view import View
from coeval.ui.panel import Panel, Update, need_task
from coeval.ui.study_app.judge.correction_views import people_view


class PeopleBox(Panel):
    """The list, and the buttons that assign it and end that."""

    def build(self) -> None:
        self.shown = View(elem_id="judge-people")
        with gr.Row(visible=False, elem_classes="actions") as self.acting:
            self.assign = gr.Button(
                "Assign these lines to the team", variant="primary", elem_id="people-assign", min_width=220
            )
            self.end = gr.Button("Ask for everything again", elem_id="people-end", min_width=220)
        self.outputs = [self.shown, self.acting, self.assign, self.end]
        self.on(self.assign.click, self.on_assign)
        self.on(self.end.click, self.on_end)

    def update(self, state: JudgeState, *, owner: bool) -> Update:
        """The list by the judge that was fitted last."""
        asks, some = state.asking is not None, bool(state.deferred and state.deferred.lines)
        return {
            self.shown: people_view(state.frozen, state.deferred, state.asking),
            self.acting: gr.Row(visible=owner and (asks or some)),
            self.assign: gr.Button(visible=some),
            self.end: gr.Button(visible=asks),
        }

    def on_assign(self, person: Person, slug: str) -> Update:
        deferring.assign_deferred(self.context, person, need_task(slug))
        return self._again(person, slug)

    def on_end(self, person: Person, slug: str) -> Update:
        deferring.end_asking(self.context, person, need_task(slug))
        return self._again(person, slug)

    def _again(self, person: Person, slug: str) -> Update:
        return self.update(get_judge_state(self.context, person, slug), owner=True)
