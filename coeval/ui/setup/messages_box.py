"""Set-up, Review: the flags and comments of annotators, and the answers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import InboxItem, InboxState, Person
from coeval.errors import InputError
from coeval.ui.app.scrutiny_tab import step_link
from coeval.ui.components.number_words import clock, plural
from coeval.ui.components.view import Node, View, el
from coeval.ui.tabs import LoadedPanel, TaskPicker, Update, need_task, tell_done
from coeval.usecases.scrutiny import review

EVERY_STATE = "all"
SHOWN = [*(str(state) for state in InboxState), EVERY_STATE]


class MessagesBox(LoadedPanel):
    """The box with a list of messages, and a form to answer one."""

    def build(self) -> None:
        with gr.Row(equal_height=False, elem_id="inbox"):
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
                    self.send = gr.Button("Send answer", elem_id="inbox-send", scale=0)
                    self.close = gr.Button("Close the message", elem_id="inbox-close", scale=0)
        self.outputs = [self.messages, self.answering, self.message, self.text]
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
