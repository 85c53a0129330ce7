"""Flags and comments of annotators as cards with a form for the answer, in the bar of the study and in Review."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import InboxItem, InboxState, Person
from coeval.ui.app.scrutiny_tab import step_link
from coeval.ui.components.number_words import clock, name_instance, plural
from coeval.ui.components.view import Node, View, el
from coeval.ui.tabs import LoadedPanel, Update
from coeval.usecases.scrutiny import review

EVERY_STATE = "all"
SHOWN = [*(str(state) for state in InboxState), EVERY_STATE]


class MessagesBox(LoadedPanel):
    """The list of messages in one state."""

    def build(self) -> None:
        self.state = gr.Radio(
            SHOWN, value=SHOWN[0], label="Messages", elem_id="inbox-state", elem_classes="segmented"
        )
        self.messages = View(elem_id="inbox-messages")
        self.outputs = [self.messages]
        self.on(self.state.input, self.load, [self.state])

    def load(self, person: Person, slug: str, state: str = SHOWN[0]) -> Update:
        if not slug:
            return {self.messages: el("p.note", "Describe a task first, under Tasks.")}
        messages = review.list_messages(
            self.context, person, slug, None if state == EVERY_STATE else InboxState(state)
        )
        return {self.messages: messages_view(slug, messages, state)}

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        return self.load(person, slug, *values) if slug else {}


def messages_view(slug: str, messages: list[InboxItem], state: str) -> Node:
    """Return the messages as cards."""
    if not messages:
        which = "" if state == EVERY_STATE else f"{state} "
        return el(
            "div.card.empty",
            el("p", f"There are no {which}flags or comments. Annotators leave them with Flag and Comment."),
        )
    return el(
        "div",
        el("p.note", plural(len(messages), "message")),
        *(message_card(slug, message) for message in messages),
    )


def message_card(slug: str, message: InboxItem, root: str = "../") -> Node:
    """Return a message with a form for the answer; ``root`` is the study's page, from Set-up by default."""
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
    name = name_instance(message.position, message.external_id)
    link = step_link(slug, message.external_id, root)
    instance = el("a", f"instance {name}", href=link, target="_blank")
    return el(
        "div.card.message",
        el("p.note", f"{message.person} · {clock(message.at)} UTC · ", instance, " ", flag),
        el("p", message.comment, dir="auto") if message.comment else None,
        answered,
        el("div.coeval", data_answer=f"{slug} {message.id}"),
    )
