"""Set-up, Hosting: the study is sent to the Hugging Face Hub, after a look at all that leaves."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.errors import CoevalError
from coeval.study.exporting.hub.licences import LICENCES
from coeval.study.exporting.hub.pushing import Leaving, Pushed, Target, preview_push, push_study
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Panel, Update, need_task
from coeval.ui.server.error_answers import tell

PRIVATE, PUBLIC = "private", "public"
EXAMPLE = 300
"""Characters of a comment that are shown."""


class PublishBox(Panel):
    """Where it goes and under which licence; then what leaves; then the name, typed, and the sending."""

    def build(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Publish on the Hugging Face Hub"))
            View(
                el(
                    "p.note",
                    "A data set of instances, drafts, submissions, votes and scores, with a data card. You see what "
                    "leaves before anything does.",
                )
            )
            with gr.Row():
                name = gr.Textbox(
                    label="Data set", placeholder="OWNER/NAME", max_length=300, elem_id="publish-name"
                )
                licence = gr.Dropdown(
                    [("choose one", ""), *((title, key) for key, (title, _) in LICENCES.items())],
                    value="",
                    label="Licence",
                    elem_id="publish-licence",
                )
                seen_by = gr.Radio(
                    [("its owners alone", PRIVATE), ("everybody", PUBLIC)],
                    value=PRIVATE,
                    label="A new data set is seen by",
                    elem_id="publish-private",
                )
            with gr.Row(elem_classes="actions"):
                look = gr.Button("Show what would leave", elem_id="publish-look", scale=0, min_width=240)
            self.note = View(elem_id="publish-note")
            self.digest = gr.State("")
            with gr.Column(visible=False) as self.last:
                self.typed = gr.Textbox(
                    label="Type the data set’s whole name to send it", max_length=300, elem_id="publish-typed"
                )
                with gr.Row(elem_classes="actions"):
                    send = gr.Button(
                        "Send it", variant="primary", elem_id="publish-send", scale=0, min_width=140
                    )
        self.outputs = [self.note, self.digest, self.last, self.typed]
        target = [name, licence, seen_by]
        self.on(look.click, self.on_look, target)
        self.on(send.click, self.on_send, [*target, self.typed, self.digest])
        for change in (name.change, licence.change, seen_by.change):
            self.on(change, self.on_change)
        self.on(self.task.change, self.on_change)

    def on_change(self, person: Person, slug: str, *_: object) -> Update:
        """What was looked at is not what would leave any more."""
        return self._show(None, "", open=False)

    def on_look(
        self, person: Person, slug: str, name: str | None, licence: str | None, seen_by: str | None
    ) -> Update:
        try:
            target = _target(name, licence, seen_by)
            leaving = preview_push(self.context, person, need_task(slug), target)
        except CoevalError as error:
            return self._show(_refused(error), "", open=False)
        return self._show(leaving_view(leaving), leaving.digest, open=True)

    def on_send(
        self,
        person: Person,
        slug: str,
        name: str | None,
        licence: str | None,
        seen_by: str | None,
        typed: str | None,
        digest: str | None,
    ) -> Update:
        try:
            pushed = push_study(
                self.context, person, need_task(slug), _target(name, licence, seen_by),
                confirmed=typed or "", digest=digest or "",
            )  # fmt: skip
        except CoevalError as error:
            return {self.note: _refused(error)}
        return self._show(sent_view(pushed), "", open=False)

    def _show(self, note: Node | None, digest: str, *, open: bool) -> Update:
        return {
            self.note: note,
            self.digest: digest,
            self.last: gr.Column(visible=open),
            self.typed: "",
        }


def _target(name: str | None, licence: str | None, seen_by: str | None) -> Target:
    return Target(name or "", licence or "", private=seen_by != PUBLIC)


def leaving_view(seen: Leaving) -> Node:
    """Everything that would leave, before it does."""
    rows = [[name, f"{n:,}", f"{seen.sizes[f'{name}.parquet']:,}"] for name, n in seen.counts.items()]
    examples = [el("li", text[:EXAMPLE] + ("…" if len(text) > EXAMPLE else "")) for text in seen.examples]
    return el(
        "div.card",
        el("h4", f"What would leave for {seen.repo}"),
        el("p", seen.standing),
        table(["Config", "Rows", "Bytes"], rows),
        el("p", "Beside them go the data card (README.md), its description for machines (croissant.json) and the task "
           "(study.json)."),
        el("h4", "Texts"),
        el("ul", *(el("li", line) for line in seen.texts)),
        *([el("p.note", "The first of what people wrote:"), el("ul", *examples)] if examples else []),
        el("h4", "Ids"),
        el("ul", *(el("li", line) for line in seen.ids)),
    )  # fmt: skip


def sent_view(pushed: Pushed) -> Node:
    """What came of it, and where it is."""
    return el(
        "div.card.done",
        el("h4", "Sent" if pushed.sent.changed else "Nothing new"),
        el("p", str(pushed)),
        el("p", el("a", pushed.page, href=pushed.page, target="_blank")),
        el("p", "To import it again: ", el("code", pushed.address)),
        role="status",
    )


def _refused(error: CoevalError) -> Node:
    return el("div.card.error", el("h4", "Not sent"), el("p", tell(error)), role="alert")
