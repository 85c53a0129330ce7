"""Set-up, Prolific: the state of the study, the actions, and the record of requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr
from fastapi import FastAPI, Request
from fastapi.responses import Response

from coeval.domain import Person, Role
from coeval.errors import CoevalError, NotFoundError
from coeval.extensions.prolific import requests_log
from coeval.extensions.prolific.page_boxes import DraftBox, ReviewBox, live_view, record_view, report_view
from coeval.extensions.prolific.queries import UNSETTLED
from coeval.extensions.prolific.requests_log import NO_TOKEN, list_asked, settle
from coeval.extensions.prolific.submissions import get_live
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person
from coeval.ui.server.payloads import tell
from coeval.ui.tabs import PageGroup, Tab, Update, need_task
from coeval.usecases.access import Context
from coeval.usecases.crowd import plans

REFRESH_SECONDS = 30
"""Seconds between refreshes of the submissions while the tab is open."""
FIELDS = (gr.Textbox, gr.Number, gr.Checkbox, gr.CheckboxGroup, gr.Dropdown, gr.Radio)


def _find_fields(block: Any) -> Iterator[Any]:
    """Yield the input fields inside a column, box or row."""
    for child in getattr(block, "children", ()):
        if isinstance(child, FIELDS):
            yield child
        yield from _find_fields(child)


class ProlificTab(Tab):
    """The tab for one study on Prolific, from its draft to the last decision."""

    title, id = "Prolific", "prolific"
    group = PageGroup.PEOPLE
    purpose = "Publishes a crowd study on Prolific, reviews its submissions, and adds places."

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether people of this task come from Prolific."""
        plan = plans.get_plan(context, person, slug) if slug and person.role is Role.OWNER else None
        return plan is not None and plan.terms.service == "prolific"

    def build(self) -> None:
        self.live = View(elem_id="prolific-live")
        with gr.Row(elem_classes="actions"):
            refresh = gr.Button("Refresh", elem_id="prolific-refresh", scale=0, min_width=160)
        with gr.Column(visible=False) as self.doing:
            self.drafting = DraftBox(self.context, self.task)
            self.review = ReviewBox(self.context, self.task)
            self.record = View(elem_id="prolific-record")
            with gr.Accordion("Look up an unanswered request", open=False, elem_id="prolific-settle-box"):
                self.request = gr.Dropdown([], label="Request", elem_id="prolific-request")
                confirm = gr.Textbox(
                    label="Confirmation text, if Prolific shows no result after an hour",
                    max_length=200, elem_id="prolific-settle-confirm",
                )  # fmt: skip
                button = gr.Button("Look up the request", elem_id="prolific-settle", scale=0, min_width=160)
                note = View(elem_id="prolific-settle-note")
        self.clock = gr.Timer(REFRESH_SECONDS, active=False)
        self.outputs = [self.live, self.doing, self.clock, self.review.who, self.record, self.request]
        self.on(button.click, self.on_settle, [self.request, confirm], note)
        self.on(refresh.click, self.load)
        self.on(self.clock.tick, self.load, quiet=True)
        notes = (*self.drafting.notes, *self.review.notes, note)
        for shown in notes:
            self.on(shown.change, self.load, quiet=True)
        # the form belongs to the previous task: a confirmation or message must not reach another task's people
        self.typed = {field: field.value for field in _find_fields(self.doing)}
        self.typed |= dict.fromkeys(notes)
        self.on_task(self.task.input, self.clear, list(self.typed))

    def clear(self, person: Person, slug: str) -> Update:
        """Reset every field, and remove the report."""
        return dict(self.typed)

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return self._shut("Describe a task first, under Tasks.")
        try:
            planned = plans.get_plan(self.context, person, slug) is not None
        except NotFoundError as error:
            return self._shut(str(error))
        if not planned:
            return self._shut("This task is not assigned to a crowd: save a plan in the Crowd tab first.")
        asked = list_asked(self.context, person, slug)
        kept: Update = {
            self.record: record_view(slug, asked),
            self.request: gr.Dropdown(
                [
                    (f"{request.id}: {request.kind}, {request.asked_at[:16]}", request.id)
                    for request in asked
                    if request.outcome in UNSETTLED
                ]
            ),
        }
        if not self.context.settings.prolific_token:
            return self._shut(NO_TOKEN) | kept
        try:
            live = get_live(self.context, person, slug)
        except CoevalError as error:
            # the rest of the page works even if Prolific does not answer
            words = el(
                "div.card.error",
                el("h4", "Prolific's answer could not be read"),
                el("p", tell(error)),
                role="alert",
            )
            return kept | {self.live: words, self.doing: gr.Column(visible=True)}
        return kept | {
            self.live: live_view(live),
            self.doing: gr.Column(visible=True),
            self.clock: gr.Timer(active=bool(live.entries)),
            self.review.who: self.review.choices(live),
        }

    def _shut(self, words: str) -> Update:
        return {
            self.live: el("div.card", el("h4", "Prolific"), el("p", words)),
            self.doing: gr.Column(visible=False),
            self.clock: gr.Timer(active=False),
        }

    def on_settle(self, person: Person, slug: str, request: int | None, confirm: str | None) -> Node:
        return report_view(
            settle(self.context, person, need_task(slug), int(request or 0), confirm=confirm or "")
        )


def add_record(app: FastAPI, context: Context) -> None:
    """Add the route that downloads the record of all requests to Prolific."""

    @app.get("/s/{slug}/prolific.csv")
    def download_asked(request: Request, slug: str) -> Response:
        text = requests_log.export_asked(context, get_person(context, request), slug)
        headers = {"Content-Disposition": f'attachment; filename="{slug}-prolific.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)
