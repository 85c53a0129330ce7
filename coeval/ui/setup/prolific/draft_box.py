"""The Prolific tab: the form of a draft, and publishing it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.study.crowd.prolific.filters import find_filters
from coeval.study.crowd.prolific.more_places import top_up
from coeval.study.crowd.prolific.publishing import ACTIONS, CODES, DEVICES, Draft, draft_study, publish_study
from coeval.study.crowd.prolific.rules import read_money
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Panel, need_task
from coeval.ui.setup.prolific.prolific_views import report_view

DRY = "Dry run: only show what would be sent"
ACTION_WORDS = {
    "review": "wait for your review",
    "approve": "approve and pay at once",
    "return": "ask to return",
    "pay": "pay a fixed sum",
}


def dry_box(name: str) -> gr.Checkbox:
    """The box that every action has, and that is ticked to begin with."""
    return gr.Checkbox(value=True, label=DRY, elem_id=f"prolific-{name}-dry")


def confirm_box(name: str) -> gr.Textbox:
    return gr.Textbox(
        label="To confirm: the words that the dry run shows",
        max_length=200,
        elem_id=f"prolific-{name}-confirm",
    )


class DraftBox(Panel):
    """A draft from the task and its plan; publishing it; more places."""

    def build(self) -> None:
        self.notes: list[View] = []
        with gr.Accordion("Create a draft", open=False, elem_id="prolific-draft-box"):
            self._build_draft()
        with gr.Accordion("Publish", open=False, elem_id="prolific-publish-box"):
            confirm, dry = confirm_box("publish"), dry_box("publish")
            button = gr.Button("Publish the newest draft", elem_id="prolific-publish", scale=0, min_width=260)
            note = self._note("publish")
            self.on(button.click, self.on_publish, [confirm, dry], note)
        with gr.Accordion("More places", open=False, elem_id="prolific-places-box"):
            more = gr.Number(
                label="Places to add (0: as many as the missing work needs)", value=0, precision=0, minimum=0,
                elem_id="prolific-more",
            )  # fmt: skip
            confirm, dry = confirm_box("places"), dry_box("places")
            button = gr.Button("Add places", elem_id="prolific-places", scale=0, min_width=200)
            note = self._note("places")
            self.on(button.click, self.on_places, [more, confirm, dry], note)

    def _note(self, name: str) -> View:
        """Where an action says what it did; the tab reads Prolific again after it."""
        self.notes.append(View(elem_id=f"prolific-{name}-note"))
        return self.notes[-1]

    def _build_draft(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column():
                title = gr.Textbox(
                    label="Title (empty: the task’s name)", max_length=255, elem_id="prolific-title"
                )
                text = gr.Textbox(
                    label="Description for participants (empty: the task’s)",
                    lines=3,
                    elem_id="prolific-description",
                )
                filters = gr.Textbox(
                    label="Who may take part: a filter a line", lines=3, elem_id="prolific-filters",
                    placeholder="age=18..40\nfluent-languages=English",
                    info="filter=value, value, or filter=18..40; empty: everybody.",
                )  # fmt: skip
                with gr.Row(elem_classes="actions"):
                    words = gr.Textbox(
                        label="Look up filters by a word", max_length=100, elem_id="prolific-words"
                    )
                    find = gr.Button("Look up", elem_id="prolific-find", scale=0, min_width=110)
            with gr.Column():
                numbers = [
                    gr.Number(label=label, value=0, minimum=0, precision=digits, elem_id=f"prolific-{name}")
                    for label, name, digits in (
                        ("Places (0: as many as the plan needs)", "count", 0),
                        ("Minutes it takes (0: as measured)", "minutes", None),
                        ("Fixed sum for who does not qualify", "screen-pay", None),
                        ("… to how many people at most", "screen-places", 0),
                    )
                ]
                devices = gr.CheckboxGroup(
                    list(DEVICES), value=["desktop"], label="Devices", elem_id="prolific-devices"
                )
            with gr.Column():
                actions = [_action(name) for name in CODES]
        dry = dry_box("draft")
        button = gr.Button(
            "Create the draft", variant="primary", elem_id="prolific-draft", scale=0, min_width=200
        )
        note = self._note("draft")
        self.on(button.click, self.on_draft, [dry, title, text, filters, devices, *numbers, *actions], note)
        self.on(find.click, self.on_find, [words], note)

    def on_draft(
        self, person: Person, slug: str, dry: bool, title: str | None, text: str | None, filters: str | None,
        devices: list[str], *values: Any,
    ) -> Node:  # fmt: skip
        places, minutes, screen_pay, screen_places = (value or 0 for value in values[:4])
        draft = Draft(
            title=title or "",
            description=text or "",
            places=int(places),
            minutes=float(minutes),
            actions=dict(zip(CODES, map(str, values[4:]), strict=True)),
            screen_out_pay=read_money(screen_pay, "fixed sum"),
            screen_out_places=int(screen_places),
            filters=filters or "",
            devices=tuple(devices or ()),
        )
        return report_view(draft_study(self.context, person, need_task(slug), draft, dry_run=bool(dry)))

    def on_find(self, person: Person, slug: str, words: str | None) -> Node:
        found = find_filters(self.context, person, need_task(slug), words or "")
        return el("div.card", el("h4", found.title), el("ul", *(
            el("li", el("code", line.what), f" {line.words}") for line in found.lines
        )))  # fmt: skip

    def on_publish(self, person: Person, slug: str, confirm: str | None, dry: bool) -> Node:
        return report_view(
            publish_study(self.context, person, need_task(slug), confirm=confirm or "", dry_run=bool(dry))
        )

    def on_places(
        self, person: Person, slug: str, more: float | None, confirm: str | None, dry: bool
    ) -> Node:
        report = top_up(
            self.context,
            person,
            need_task(slug),
            more=int(more or 0),
            confirm=confirm or "",
            dry_run=bool(dry),
        )
        return report_view(report)


def _action(name: str) -> gr.Dropdown:
    _, _, usual, who = CODES[name]
    choices = [(ACTION_WORDS[one], one) for one in ACTIONS if one != "pay" or name == "screened"]
    return gr.Dropdown(choices, value=usual, label=f"Who {who}", elem_id=f"prolific-action-{name}")
