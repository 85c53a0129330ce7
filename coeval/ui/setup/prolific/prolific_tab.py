"""Set-up, Prolific: how the study stands there, what is done about it, and the record of what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.domain.crowd import UNSETTLED
from coeval.errors import CoevalError, NotFoundError
from coeval.study.crowd import plans
from coeval.study.crowd.prolific.desk import NO_TOKEN
from coeval.study.crowd.prolific.request_record import list_asked
from coeval.study.crowd.prolific.reviewing import get_live
from coeval.study.crowd.prolific.settling import settle
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Tab, Update, need_task
from coeval.ui.server.error_answers import tell
from coeval.ui.setup.prolific.draft_box import DraftBox
from coeval.ui.setup.prolific.prolific_views import live_view, record_view, report_view
from coeval.ui.setup.prolific.review_box import ReviewBox

REFRESH_SECONDS = 30
"""How often the submissions are read from Prolific again, once the tab has shown some, until the page is left."""
FIELDS = (gr.Textbox, gr.Number, gr.Checkbox, gr.CheckboxGroup, gr.Dropdown, gr.Radio)


def _find_fields(block: Any) -> Iterator[Any]:
    """What can be filled in inside a column, box or row."""
    for child in getattr(block, "children", ()):
        if isinstance(child, FIELDS):
            yield child
        yield from _find_fields(child)


class ProlificTab(Tab):
    """One study at Prolific, from its draft to the last bonus."""

    title, id = "Prolific", "prolific"

    def build(self) -> None:
        self.live = View(elem_id="prolific-live")
        with gr.Row(elem_classes="actions"):
            refresh = gr.Button("Read it again", elem_id="prolific-refresh", scale=0, min_width=160)
        with gr.Column(visible=False) as self.doing:
            self.drafting = DraftBox(self.context, self.task)
            self.review = ReviewBox(self.context, self.task)
            self.record = View(elem_id="prolific-record")
            with gr.Accordion(
                "Look up a request without an answer", open=False, elem_id="prolific-settle-box"
            ):
                self.request = gr.Dropdown([], label="Request", elem_id="prolific-request")
                confirm = gr.Textbox(
                    label="If Prolific shows nothing of it after an hour: the words that the look-up names",
                    max_length=200, elem_id="prolific-settle-confirm",
                )  # fmt: skip
                button = gr.Button("Look it up", elem_id="prolific-settle", scale=0, min_width=160)
                note = View(elem_id="prolific-settle-note")
        self.clock = gr.Timer(REFRESH_SECONDS, active=False)
        self.outputs = [self.live, self.doing, self.clock, self.review.who, self.record, self.request]
        self.on(button.click, self.on_settle, [self.request, confirm], note)
        self.on(refresh.click, self.load)
        self.on(self.clock.tick, self.load, quiet=True)
        notes = (*self.drafting.notes, *self.review.notes, note)
        for shown in notes:
            self.on(shown.change, self.load, quiet=True)
        # what was typed and shown is about the task before: a confirmation or a message must not reach another's people
        self.typed = {field: field.value for field in _find_fields(self.doing)}
        self.typed |= dict.fromkeys(notes)
        self.on(self.task.input, self.clear, outputs=list(self.typed))

    def clear(self, person: Person, slug: str) -> Update:
        """Every field as it was to begin with, and no report."""
        return dict(self.typed)

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return self._shut("Describe a task first, under Tasks.")
        try:
            planned = plans.get_plan(self.context, person, slug) is not None
        except NotFoundError as error:
            return self._shut(str(error))
        if not planned:
            return self._shut("This task is not given out to a crowd: save a plan in the tab Crowd first.")
        asked = list_asked(self.context, person, slug)
        kept: Update = {
            self.record: record_view(slug, asked),
            self.request: gr.Dropdown(
                [
                    (f"{one.id}: {one.kind}, {one.asked_at[:16]}", one.id)
                    for one in asked
                    if one.outcome in UNSETTLED
                ]
            ),
        }
        if not self.context.settings.prolific_token:
            return self._shut(NO_TOKEN) | kept
        try:
            live = get_live(self.context, person, slug)
        except CoevalError as error:
            # the rest of the page stays usable while Prolific does not answer
            words = el(
                "div.card.error", el("h4", "Prolific could not be read"), el("p", tell(error)), role="alert"
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
