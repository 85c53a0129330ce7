"""Set-up: import a data set from the Hub, and publish a study there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from coeval.domain import Person
from coeval.errors import CoevalError, InputError
from coeval.extensions.hub.address import is_hub_address, parse_address
from coeval.extensions.hub.card import LICENCES
from coeval.extensions.hub.client import Listing
from coeval.extensions.hub.transfer import (
    Leaving,
    Pushed,
    Target,
    import_hub,
    look_at_hub,
    preview_hub,
    preview_push,
    push_study,
)
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.setup.import_views import refused_view, title_of
from coeval.ui.tabs import Form, LoadedPanel, Update, more_settings, need_task
from coeval.usecases.study_import import ImportOptions, ImportReport

if TYPE_CHECKING:
    from coeval.ui.setup.import_tab import ImportTab


class HubBox:
    """The Hub section of the import page: the name of a data set, and its parts.

    A part is an address that includes the commit. The import page passes the components of the preview to
    ``wire``.
    """

    def __init__(self, tab: ImportTab) -> None:
        self.tab, self.context = tab, tab.context
        with more_settings("hub-box", "From the Hugging Face Hub"):
            with gr.Row(elem_classes="actions"):
                self.words = gr.Textbox(
                    label="Data set",
                    placeholder="OWNER/NAME",
                    max_length=300,
                    elem_id="hub-words",
                )
                self.find = gr.Button("Find", elem_id="hub-find", scale=0, min_width=100)
            self.part = gr.Dropdown([], label="Config and split", visible=False, elem_id="hub-part")
            self.show = gr.Button("Show the first rows", visible=False, elem_id="hub-show")
        self.outputs = [self.part, self.show]

    def wire(self, seen: list[Any]) -> None:
        tab, listed = self.tab, [*self.outputs, self.tab.note]
        for event in (self.find.click, self.words.submit):
            tab.on(event, self.on_find, [self.words], listed)
        tab.on(self.show.click, self.on_part, [self.part, tab.into, tab.name], seen)

    def fits(self, address: str) -> bool:
        return is_hub_address(address)

    def import_from(self, person: Person, address: str, slug: str, options: ImportOptions) -> ImportReport:
        return import_hub(self.context, person, address, slug, options)

    def on_find(self, person: Person, slug: str, words: str | None) -> Update:
        try:
            listing = look_at_hub(self.context, person, (words or "").strip())
            return {self.tab.note: found_note(listing), **self.list_parts(listing)}
        except CoevalError as error:
            return {self.tab.note: refused_view(error)}

    def on_part(
        self, person: Person, slug: str, address: str | None, into: str | None, name: str | None
    ) -> Update:
        tab = self.tab
        try:
            seen = preview_hub(self.context, person, address or "")
            title = name or title_of(Path(parse_address(address or "").repo))
            listed = tab.list_roles(person, slug, into, seen, seen.mapping)
            return {**tab.with_preview(seen, title, address or ""), **listed}
        except CoevalError as error:
            return tab.without_preview(refused_view(error))

    def list_parts(self, listing: Listing) -> Update:
        """Show the parts of a data set as choices.

        Raises:
            InputError: no part can be read.
        """
        if not listing.parts:
            raise InputError(f"{listing.repo} has no file that can be read as a table.")
        choices = [
            (
                f"{part.name} · {plural(len(part.files), 'file')}, {part.size / 1e6:,.1f} MB",
                str(listing.address(part)),
            )
            for part in listing.parts
        ]
        if listing.is_ours:
            whole = f"the whole study · {plural(len(listing.study.files), 'file')}, {listing.study.size / 1e6:,.1f} MB"
            choices.insert(0, (whole, str(listing.address(listing.study))))
        return {
            self.part: gr.Dropdown(choices, value=choices[0][1], visible=True),
            self.show: gr.Button(visible=True),
        }


def found_note(listing: Listing) -> Node:
    """Return a note about the data set."""
    kind = "private" if listing.private else "public"
    return el(
        "div.card",
        el("h4", listing.repo),
        el("p", f"A {kind} data set at commit {listing.revision[:12]}; the task records this commit. "
                "Choose a part, then look at its first rows."),
    )  # fmt: skip


PRIVATE, PUBLIC = "private", "public"
EXAMPLE = 300
"""The number of characters that are shown of a comment."""


class PublishBox(LoadedPanel):
    """The form for publishing: target, licence, preview, and the name to type as confirmation."""

    def build(self) -> None:
        with more_settings("publish", "Publish on the Hugging Face Hub"):
            View(
                el(
                    "p.note",
                    "Publish instances, drafts, submissions, votes and scores as a data set with a data "
                    "card. You see a preview before anything is sent.",
                )
            )
            form = self.form = Form({"private": lambda seen_by: seen_by != PUBLIC})
            with gr.Row():
                form["name"] = gr.Textbox(
                    label="Data set", placeholder="OWNER/NAME", max_length=300, elem_id="publish-name"
                )
                form["licence"] = gr.Dropdown(
                    [("choose one", ""), *((title, key) for key, (title, _) in LICENCES.items())],
                    value="",
                    label="Licence",
                    elem_id="publish-licence",
                )
                form["private"] = gr.Radio(
                    [("only its owners", PRIVATE), ("everybody", PUBLIC)],
                    value=PRIVATE,
                    label="Visibility of a new data set",
                    elem_id="publish-private",
                )
            with gr.Row(elem_classes="actions"):
                look = gr.Button("Preview", elem_id="publish-look", scale=0, min_width=240)
            self.note = View(elem_id="publish-note")
            self.digest = gr.State("")
            with gr.Column(visible=False) as self.last:
                self.typed = gr.Textbox(
                    label="Type the data set’s full name to send it", max_length=300, elem_id="publish-typed"
                )
                with gr.Row(elem_classes="actions"):
                    send = gr.Button(
                        "Send it", variant="primary", elem_id="publish-send", scale=0, min_width=140
                    )
        self.outputs = [self.note, self.digest, self.last, self.typed]
        self.on(look.click, self.on_look, form.inputs)
        self.on(send.click, self.on_send, [self.typed, self.digest, *form.inputs])
        for field in form.inputs:
            self.on(field.change, self.on_change)
        self.on(self.task.change, self.on_change)

    def load(self, person: Person, slug: str) -> Update:
        return {}

    def on_change(self, person: Person, slug: str, *_: object) -> Update:
        """Discard the preview, because it no longer matches the fields."""
        return self._show(None, "", open=False)

    def on_look(self, person: Person, slug: str, *values: Any) -> Update:
        try:
            target = Target(**self.form.read(values))
            leaving = preview_push(self.context, person, need_task(slug), target)
        except CoevalError as error:
            return self._show(refused_view(error, "Not sent"), "", open=False)
        return self._show(leaving_view(leaving), leaving.digest, open=True)

    def on_send(
        self, person: Person, slug: str, typed: str | None, digest: str | None, *values: Any
    ) -> Update:
        try:
            target = Target(**self.form.read(values))
            pushed = push_study(
                self.context, person, need_task(slug), target, confirmed=typed or "", digest=digest or ""
            )
        except CoevalError as error:
            return {self.note: refused_view(error, "Not sent")}
        return self._show(sent_view(pushed), "", open=False)

    def _show(self, note: Node | None, digest: str, *, open: bool) -> Update:
        return {
            self.note: note,
            self.digest: digest,
            self.last: gr.Column(visible=open),
            self.typed: "",
        }


def leaving_view(seen: Leaving) -> Node:
    """Return a preview of everything that will be sent."""
    rows = [[name, f"{n:,}", f"{seen.sizes[f'{name}.parquet']:,}"] for name, n in seen.counts.items()]
    examples = [el("li", text[:EXAMPLE] + ("…" if len(text) > EXAMPLE else "")) for text in seen.examples]
    return el(
        "div.card",
        el("h4", f"Preview of {seen.repo}"),
        el("p", seen.standing),
        table(["Config", "Rows", "Bytes"], rows),
        el("p", "The data card (README.md) and the task (study.json) are added."),
        el("h4", "Texts"),
        el("ul", *(el("li", line) for line in seen.texts)),
        *([el("p.note", "The first texts that people wrote:"), el("ul", *examples)] if examples else []),
        el("h4", "Ids"),
        el("ul", *(el("li", line) for line in seen.ids)),
    )  # fmt: skip


def sent_view(pushed: Pushed) -> Node:
    """Return the result, with a link to the data set."""
    return el(
        "div.card.done",
        el("h4", "Sent" if pushed.sent.changed else "Nothing new"),
        el("p", str(pushed)),
        el("p", el("a", pushed.page, href=pushed.page, target="_blank")),
        el("p", "To import it again: ", el("code", pushed.address)),
        role="status",
    )
