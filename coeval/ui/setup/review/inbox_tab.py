"""Set-up, Inbox: the flags and comments of annotators, and what is answered."""

from __future__ import annotations

import gradio as gr

from coeval.domain import InboxItem, InboxState, Person
from coeval.errors import InputError
from coeval.study.scrutiny import inbox
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.tasks_picker import TaskPicker
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Tab, Update, need_task, tell_done
from coeval.ui.setup.review.review_views import clock
from coeval.ui.study_app.scrutiny.step_links import step_link

EVERY = "all"
SHOWN = [*(str(state) for state in InboxState), EVERY]


class InboxTab(Tab):
    """A list of messages, and an answer to one of them."""

    title, id = "Inbox", "inbox"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3):
                self.state = gr.Radio(
                    SHOWN, value=SHOWN[0], label="Messages", elem_id="inbox-state", elem_classes="segmented"
                )
                self.messages = View(elem_id="inbox-messages")
            with gr.Column(scale=2, elem_classes="card"):
                View(el("h4", "Answer"))
                self.message = TaskPicker([], label="Message", elem_id="inbox-message")
                self.text = gr.Textbox(
                    label="Your answer", info="Shown to its author at the instance.", lines=4, max_length=10_000,
                    elem_id="inbox-text",
                )  # fmt: skip
                with gr.Row(elem_classes="actions"):
                    self.send = gr.Button("Send answer", variant="primary", elem_id="inbox-send", scale=0)
                    self.close = gr.Button("Close", elem_id="inbox-close", scale=0)
        self.outputs = [self.messages, self.message, self.text]
        self.on(self.state.input, self.load, [self.state])
        answer = [self.message, self.text, self.state]
        self.on(self.send.click, self.on_send, answer)
        self.on(self.close.click, self.on_close, answer)

    def load(self, person: Person, slug: str, state: str = SHOWN[0]) -> Update:
        if not slug:
            return {self.messages: el("p.note", "Describe a task first, under Tasks.")}
        chosen = None if state == EVERY else InboxState(state)
        messages = inbox.list_messages(self.context, person, slug, chosen)
        return {
            self.messages: messages_view(slug, messages, state),
            self.message: gr.Dropdown(
                [(_name(message), str(message.id)) for message in messages],
                value=str(messages[0].id) if messages else None,
                interactive=bool(messages),
            ),
            self.text: "",
        }

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
            raise InputError("There is no message to answer: choose another list above.")
        inbox.answer_message(
            self.context, person, need_task(slug), int(message or 0), text or "", close=close
        )
        tell_done("Closed" if close else "Answer sent")
        return self.load(person, slug, state)


def _name(message: InboxItem) -> str:
    said = message.comment or "flagged"
    return f"{message.person}, {message.external_id}: {said[:60]}{'…' if len(said) > 60 else ''}"


def messages_view(slug: str, messages: list[InboxItem], state: str) -> Node:
    """The messages as cards, each with a link to its instance."""
    if not messages:
        which = "" if state == EVERY else f"{state} "
        return el(
            "div.card.empty",
            el("p", f"There are no {which}flags or comments. Annotators leave them with Flag and Comment."),
        )
    return el("div", el("p.note", plural(len(messages), "message")), *(_card(slug, one) for one in messages))


def _card(slug: str, message: InboxItem) -> Node:
    flag = el("span.tag", "flagged") if message.flagged else None
    answered = (
        el(
            "p.note",
            f"{message.state.capitalize()} by {message.answered_by}, {clock(message.answered_at)} UTC"
            f"{': ' if message.answer else ''}{message.answer}",
        )
        if message.state is not InboxState.OPEN
        else None
    )
    return el(
        "div.card.message",
        el("p.note", f"{message.person} · {clock(message.at)} UTC · instance {message.external_id} ", flag),
        el("p", message.comment) if message.comment else None,
        answered,
        el("p", el("a", "Open in Scrutiny", href=step_link(slug, message.external_id), target="_blank")),
    )
