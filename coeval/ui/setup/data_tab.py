"""Set-up, Data and Inbox: the instances of a task with their drafts, and the messages of annotators."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pandas as pd

from coeval.datasets.text import shorten
from coeval.domain import InboxItem, InboxState, InstanceState, Only, Person, Remark
from coeval.errors import InputError
from coeval.ui.app.scrutiny_tab import step_link
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, View, el, image_view, table, text_view
from coeval.ui.setup.review_tab import clock, number
from coeval.ui.tabs import QUICK, PageGroup, Tab, TaskPicker, Update, need_task, tell_done
from coeval.usecases.scrutiny import review
from coeval.usecases.scrutiny.review import MOST_INSTANCES, InstanceView, Judged

# Set-up, Data: a list of the instances with their drafts and scores, with search and filters.

ALL_SYSTEMS = ""
EVERY_SYSTEM = [("all systems", ALL_SYSTEMS)]
HEAD = (
    "Instance",
    "System",
    "Input",
    "Output",
    "Drafts",
    "Unscored",
    "People",
    "Spread",
    "Flags",
    "Notes",
)
CELL = 48
"""Number of characters of a text in the list."""


TO_THE_INSTANCE = "() => document.getElementById('data-instance')?.scrollIntoView({ block: 'start' })"


class DataTab(Tab):
    """The tab with a list of instances, and all data of the selected one."""

    title, id = "Data", "data"

    def build(self) -> None:
        with gr.Row(elem_classes="card"):
            self.search = gr.Textbox(
                label="Search",
                placeholder="ids, inputs and outputs",
                max_length=200,
                elem_id="data-search",
            )
            self.system = gr.Dropdown(
                [("all systems", ALL_SYSTEMS)], value=ALL_SYSTEMS, label="System", elem_id="data-system"
            )
            self.only = gr.Dropdown(list(Only), value=str(Only.ALL), label="Show", elem_id="data-only")
        self.count = View(elem_id="data-count")
        self.rows = gr.Dataframe(
            headers=list(HEAD), interactive=False, wrap=False, max_height=420, show_label=False, buttons=[],
            elem_id="data-rows", column_widths=["110px", "100px", "150px", "150px", *["84px"] * 6],
        )  # fmt: skip
        self.instance = gr.Dropdown([], label="Open instance", elem_id="data-instance")
        self.view = View(elem_id="data-view")
        self.outputs = [self.system, self.count, self.rows, self.instance, self.view]
        chosen = [self.search, self.system, self.only]
        listed = [self.count, self.rows, self.instance, self.view]
        for event in (self.search.submit, self.system.input, self.only.input):
            self.on(event, self.on_filter, chosen, listed)
        self.on(self.instance.input, self.on_look, [self.instance], self.view)
        # a click on a row chooses its instance; the menu is for people without a mouse
        self.picked = gr.State("")
        self.rows.select(_picked_row, None, self.picked, **QUICK)
        picked = self.on(self.picked.change, self.on_pick, [self.picked], [self.instance, self.view])
        picked.then(None, js=TO_THE_INSTANCE)  # it is below the list

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.count: el("p.note", "Describe a task first, under Tasks."), self.view: None}
        systems = review.list_systems(self.context, person, slug)
        choices = [*EVERY_SYSTEM, *((name, name) for name in systems)]
        return {
            self.system: gr.Dropdown(choices, value=ALL_SYSTEMS),
            **self._listed(review.list_instances(self.context, person, slug)),
        }

    def on_filter(
        self, person: Person, slug: str, search: str | None, system: str | None, only: str | None
    ) -> Update:
        return self._listed(
            review.list_instances(
                self.context, person, need_task(slug), search=search or "", system=system or "",
                only=Only(only or Only.ALL),
            )
        )  # fmt: skip

    def on_look(self, person: Person, slug: str, instance: str | None) -> list[Node]:
        if not instance:
            return []
        return instance_view(slug, review.view_instance(self.context, person, need_task(slug), instance))

    def on_pick(self, person: Person, slug: str, instance: str | None) -> Update:
        if not instance:
            return {self.view: gr.skip()}
        return {self.instance: instance, self.view: self.on_look(person, slug, instance)}

    def _listed(self, states: list[InstanceState]) -> Update:
        frame = pd.DataFrame([_row(state) for state in states], columns=list(HEAD))
        return {
            self.count: _count_view(len(states)),
            self.rows: gr.Dataframe(value=frame, visible=bool(states)),
            self.instance: gr.Dropdown(
                [state.external_id for state in states], value=None, visible=bool(states)
            ),
            self.view: None,
        }


def _picked_row(chosen: gr.EventData) -> str:
    """Return the instance of the clicked row, regardless of sorting; "" if a program names none."""
    row = (chosen._data or {}).get("row_value")
    return str(row[0]) if isinstance(row, list) and row else ""


def _row(state: InstanceState) -> list[str | int]:
    return [
        state.external_id,
        state.system,
        shorten(" ".join(state.input.split()), CELL),
        shorten(" ".join(state.output.split()), CELL),
        state.n_drafts,
        state.n_unscored,
        state.n_people,
        "" if state.apart is None else number(state.apart),
        state.n_flagged,
        state.n_comments,
    ]


def _count_view(n: int) -> Node:
    if not n:
        return el("div.card.empty", el("p", "No instance matches. Change the search, or import instances."))
    more = f" The first {MOST_INSTANCES:,} are listed: search for the others." if n == MOST_INSTANCES else ""
    return el(
        "p.note",
        f"{plural(n, 'instance')}.{more} Click a row to open it; click a heading to sort.",
    )


def instance_view(slug: str, seen: InstanceView) -> list[Node]:
    """Return the texts of an instance, its drafts beside everybody's scores, and the remarks on it."""
    instance = seen.instance
    people = list(dict.fromkeys(name for judged in seen.judged for name, _ in judged.latest))
    rows = [_judged_row(judged, people) for judged in seen.judged]
    said = [el("li", _said(remark)) for remark in seen.remarks]
    scores = (
        table(["Criterion", "Draft", *people], rows) if rows else el("p.note", "There are no criteria yet.")
    )
    return [
        el(
            "div.card",
            el("h4", f"Instance {instance.external_id}"),
            el(
                "p",
                el("a", "Open in Scrutiny", href=step_link(slug, instance.external_id), target="_blank"),
            ),
            scores,
            el("div", el("p", "Flags and comments:"), el("ul", *said)) if said else None,
            *map(image_view, seen.images),
            el("h4", "Input"),
            text_view(instance.input),
            el("h4", "Output"),
            text_view(instance.output),
        )
    ]


def _judged_row(judged: Judged, people: list[str]) -> list[Node | None]:
    latest = dict(judged.latest)
    return [
        judged.criterion.name or judged.criterion.text,
        _draft_cell(judged),
        *(number(latest[name].score) if name in latest else "" for name in people),
    ]


def _draft_cell(judged: Judged) -> Node:
    draft = judged.draft
    if draft is None:
        return el("span.note", "not drafted yet")
    lines = el("details", el("summary", "its lines"), el("ul", *(el("li", row.text) for row in draft.rows)))
    raw = el("details", el("summary", "the model's answer"), el("pre", draft.raw)) if draft.raw else None
    if draft.score is None:
        return el("div", el("strong", "unscored"), el("p.note", draft.reason), raw)
    rung = el("p.note", f"obtained by: {draft.rung}") if draft.rung else None
    return el("div", el("strong", number(draft.score)), rung, lines, raw)


def _said(remark: Remark) -> str:
    marks = [word for word, is_so in (("flagged", remark.flagged), ("skipped", remark.skipped)) if is_so]
    words = f": {remark.comment}" if remark.comment else ""
    return f"{remark.person}, {clock(remark.at)} UTC{' · ' if marks else ''}{', '.join(marks)}{words}"


# Set-up, Inbox: the flags and comments of annotators, and the answers.

EVERY_STATE = "all"
SHOWN = [*(str(state) for state in InboxState), EVERY_STATE]


class InboxTab(Tab):
    """The tab with a list of messages, and a form to answer one."""

    title, id = "Inbox", "inbox"
    group = PageGroup.PEOPLE

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3):
                self.state = gr.Radio(
                    SHOWN, value=SHOWN[0], label="Messages", elem_id="inbox-state", elem_classes="segmented"
                )
                self.messages = View(elem_id="inbox-messages")
            with gr.Column(scale=2, elem_classes="card", visible=False) as self.answering:
                View(el("h4", "Answer"))
                self.message = TaskPicker([], label="Message", elem_id="inbox-message")
                self.text = gr.Textbox(
                    label="Your answer", info="The author sees it on the instance.", lines=4, max_length=10_000,
                    elem_id="inbox-text",
                )  # fmt: skip
                with gr.Row(elem_classes="actions"):
                    self.send = gr.Button("Send answer", variant="primary", elem_id="inbox-send", scale=0)
                    self.close = gr.Button("Close the message", elem_id="inbox-close", scale=0)
        self.outputs = [self.messages, self.answering, self.message, self.text]
        self.followed_with = [self.state]
        self.on(self.state.input, self.load, [self.state])
        answer = [self.message, self.text, self.state]
        self.on(self.send.click, self.on_send, answer)
        self.on(self.close.click, self.on_close, answer)

    def load(self, person: Person, slug: str, state: str = SHOWN[0]) -> Update:
        if not slug:
            return {self.messages: el("p.note", "Describe a task first, under Tasks.")}
        messages = self._list(person, slug, state)
        return {
            self.messages: messages_view(slug, messages, state),
            self.answering: gr.Column(visible=bool(messages)),
            self.message: gr.Dropdown(
                _choices(messages),
                # with several, a default would send an answer to the wrong person
                value=str(messages[0].id) if len(messages) == 1 else None,
                interactive=bool(messages),
            ),
            self.text: "",
        }

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        """Return the messages and the menu; a half-written answer stays."""
        if not slug:
            return {}
        loaded = self.load(person, slug, *values)
        del loaded[self.text], loaded[self.message]
        messages = self._list(person, slug, str(values[0]))
        return loaded | {self.message: gr.Dropdown(_choices(messages), interactive=bool(messages))}

    def _list(self, person: Person, slug: str, state: str) -> list[InboxItem]:
        return review.list_messages(
            self.context, person, slug, None if state == EVERY_STATE else InboxState(state)
        )

    def on_send(self, person: Person, slug: str, message: str | None, text: str | None, state: str) -> Update:
        return self._answer(person, slug, message, text, state, close=False)

    def on_close(
        self, person: Person, slug: str, message: str | None, text: str | None, state: str
    ) -> Update:
        return self._answer(person, slug, message, text, state, close=True)

    def _answer(
        self, person: Person, slug: str, message: str | None, text: str | None, state: str, *, close: bool
    ) -> Update:
        if not (message or "").isdecimal():
            raise InputError("No message is chosen: choose the one that you answer under Message.")
        review.answer_message(
            self.context, person, need_task(slug), int(message or 0), text or "", close=close
        )
        tell_done("Closed" if close else "Answer sent")
        return self.load(person, slug, state)


def _choices(messages: list[InboxItem]) -> list[tuple[str, str]]:
    return [(_name(message), str(message.id)) for message in messages]


def _name(message: InboxItem) -> str:
    said = message.comment or "flagged"
    return f"{message.person}, {message.external_id}: {said[:60]}{'…' if len(said) > 60 else ''}"


def messages_view(slug: str, messages: list[InboxItem], state: str) -> Node:
    """Return the messages as cards, each with a link to its instance."""
    if not messages:
        which = "" if state == EVERY_STATE else f"{state} "
        return el(
            "div.card.empty",
            el("p", f"There are no {which}flags or comments. Annotators leave them with Flag and Comment."),
        )
    return el("div", el("p.note", plural(len(messages), "message")), *(_card(slug, one) for one in messages))


def _card(slug: str, message: InboxItem) -> Node:
    flag = el("span.tag", "flagged") if message.flagged else None
    said = "Earlier answer" if message.state is InboxState.OPEN else message.state.capitalize()
    answered = (
        el(
            "p.note",
            f"{said} by {message.answered_by}, {clock(message.answered_at)} UTC"
            f"{': ' if message.answer else ''}{message.answer}",
        )
        if message.answered_at
        else None
    )
    return el(
        "div.card.message",
        el("p.note", f"{message.person} · {clock(message.at)} UTC · instance {message.external_id} ", flag),
        el("p", message.comment) if message.comment else None,
        answered,
        el("p", el("a", "Open in Scrutiny", href=step_link(slug, message.external_id), target="_blank")),
    )
