"""Set-up, Hosting: export a whole study to a file, or import one as a new task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Request
from fastapi.responses import Response

from coeval.domain import Person
from coeval.errors import CoevalError, InputError
from coeval.extensions.study_files.transfer import (
    Naming,
    export_study,
    import_study_file,
)
from coeval.ui.app.downloads import open_spooled, send_file
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person
from coeval.ui.setup.import_views import refused_view
from coeval.ui.tabs import LoadedPanel, Update, more_settings, task_choices
from coeval.usecases.access import Context


class MovingBox(LoadedPanel):
    """The links to export a study file, and the form to import one."""

    def build(self) -> None:
        with more_settings("moving", "Move a study"):
            self.links = View(elem_id="study-links")
            with gr.Row():
                self.file = gr.File(
                    label="Study file",
                    file_count="single",
                    type="filepath",
                    elem_id="study-file",
                    height=120,
                )
                with gr.Column():
                    slug = gr.Textbox(
                        label="Short name here",
                        info="Leave blank to keep it.",
                        max_length=64,
                        elem_id="study-slug",
                    )
                    renamed = gr.Textbox(
                        label="People to rename, one per line: old=new", lines=2, elem_id="study-rename",
                        info="People with the same name count as one person.",
                    )  # fmt: skip
            ledger = gr.Checkbox(
                label="Import cached model answers too",
                elem_id="study-ledger",
            )
            bring = gr.Button("Import as a new task", elem_id="study-import", scale=0, min_width=220)
            self.note = View(elem_id="study-note")
        self.outputs = [self.links]
        self.on(bring.click, self.on_import, [self.file, slug, renamed, ledger], [self.note, self.task])

    def load(self, person: Person, slug: str) -> Update:
        return {self.links: links_view(slug)}

    def on_import(
        self, person: Person, slug: str, path: str | None, new: str | None, renamed: str | None, ledger: bool
    ) -> Update:
        try:
            moved = import_study_file(
                self.context, person, _need_file(path), slug=(new or "").strip(), ledger=bool(ledger),
                renamed=_read_names(renamed),
            )  # fmt: skip
        except CoevalError as error:
            return {self.note: refused_view(error, "Nothing was written")}
        return {
            self.note: _done("Imported", str(moved), moved.notes),
            self.task: task_choices(self.context, person, moved.task),
        }


def links_view(slug: str) -> Node:
    """Return the links to the file of this task's study."""
    if not slug:
        return el("p.note", "Describe a task first, under Tasks, or import a study.")
    names, pseudonyms = (f"../download/{slug}/study.zip?people={naming}" for naming in Naming)
    return el(
        "div",
        el("p", "The whole study in one file: every row, version and edit. It never contains "
        "passwords, "
        "sessions, invitations or secret links."),
        el("p", el("a", "Download the study, with names", href=names, download=True), ": to continue elsewhere"),
        el("p", el("a", "Download it with names and all model calls", href=f"{names}&ledger=1", download=True)),
        el("p", el("a", "Download it with pseudonyms", href=pseudonyms, download=True),
           ": to share it; comments are unchanged"),
    )  # fmt: skip


def _need_file(path: str | None) -> Path:
    if not path:
        raise InputError("No file was chosen: choose a study file first.")
    return Path(path)


def _read_names(text: str | None) -> Mapping[str, str]:
    """Return the names in lines of old=new.

    Raises:
        InputError: a line has no ``=``, or names somebody twice.
    """
    names: dict[str, str] = {}
    for line in filter(str.strip, (text or "").splitlines()):
        old, equals, new = (part.strip() for part in line.partition("="))
        if not (old and equals and new) or old in names:
            raise InputError(f"“{line.strip()[:80]}” is not a rename: write old=new, each name once.")
        names[old] = new
    return names


def _done(title: str, words: str, notes: Sequence[str]) -> Node:
    lines = el("ul", *(el("li", note) for note in notes)) if notes else None
    return el("div.card.done", el("h4", title), el("p", words), lines, role="status")


def add_study_file(app: FastAPI, context: Context) -> None:
    """Add the route that downloads a whole study."""

    @app.get("/download/{slug}/study.zip")
    def download_study(request: Request, slug: str, people: Naming, ledger: bool = False) -> Response:
        target = open_spooled()
        export_study(context, get_person(context, request), slug, target, people=people, ledger=ledger)
        return send_file(target, f"{slug}-study.zip", "application/zip")
