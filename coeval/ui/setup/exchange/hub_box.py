"""Import: a data set of the Hugging Face Hub, found by its name or by words, and which of its parts."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from coeval.datasets.hub.address import START, parse_address
from coeval.datasets.hub.client import Listing
from coeval.domain import TaskSource
from coeval.errors import InputError
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, el, table
from coeval.ui.panel import Update


class HubBox:
    """The fields: words, what they found, and the parts of the data set chosen, each an address with its commit."""

    def __init__(self) -> None:
        with gr.Accordion("Or a data set of the Hugging Face Hub", open=False, elem_id="hub-box"):
            with gr.Row(elem_classes="actions"):
                self.words = gr.Textbox(
                    label="Its name, or words to search for",
                    placeholder="OWNER/NAME",
                    max_length=300,
                    elem_id="hub-words",
                )
                self.find = gr.Button("Find", elem_id="hub-find", scale=0, min_width=100)
            self.name = gr.Dropdown([], label="Data sets found", visible=False, elem_id="hub-name")
            self.part = gr.Dropdown([], label="Config and split", visible=False, elem_id="hub-part")
            self.show = gr.Button("Show its first rows", visible=False, elem_id="hub-show")
        self.outputs = [self.name, self.part, self.show]

    def list_found(self, names: list[str], words: str) -> Update:
        """What a search found, to be chosen from.

        Raises:
            InputError: nothing.
        """
        if not names:
            raise InputError(
                f"The Hub has no data set that fits “{words[:80]}”: try other words, or its whole name."
            )
        return {
            self.name: gr.Dropdown(names, value=None, visible=True),
            self.part: gr.Dropdown([], value=None, visible=False),
            self.show: gr.Button(visible=False),
        }

    def list_parts(self, listing: Listing) -> Update:
        """The parts of a data set.

        Raises:
            InputError: it has none that can be read.
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
            self.name: gr.Dropdown([listing.repo], value=listing.repo, visible=True),
            self.part: gr.Dropdown(choices, value=choices[0][1], visible=True),
            self.show: gr.Button(visible=True),
        }


def names_data_set(words: str) -> bool:
    """Whether the words are a data set's whole name.

    Raises:
        InputError: they are meant as an address, and are none.
    """
    if not words.startswith(START) and "/" not in words:
        return False
    parse_address(words)
    return True


def found_note(listing: Listing) -> Node:
    """What is said of a data set that was found."""
    kind = "private" if listing.private else "public"
    return el(
        "div.card",
        el("h4", listing.repo),
        el("p", f"A {kind} data set at commit {listing.revision[:12]}, which is kept with the task. Choose a part, "
           "then look at its first rows."),
    )  # fmt: skip


def sources_view(sources: Sequence[TaskSource]) -> Node | None:
    """The data sets that the task's instances were read from."""
    if not sources:
        return None
    lines = [
        [source.address, source.revision[:12], source.imported_by, source.imported_at[:10]]
        for source in sources
    ]
    return el(
        "div.card",
        el("h4", "This task was read from"),
        table(["Data set", "Commit", "Imported by", "On"], lines),
    )
