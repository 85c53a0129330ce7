"""Set-up, Import: look at a file, map its columns, take it in whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from coeval.datasets import FIELDS, FORMATS, Preview, preview
from coeval.errors import CoevalError, InputError
from coeval.study.access import OWNERS, Context
from coeval.study.importing.importing import ImportReport, import_file
from coeval.study.tasks import check_slug, make_slug
from coeval.ui.components.tasks_picker import task_choices
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person, shown

NONE = "(none)"
MAX_CELL = 200
"""Characters of a cell that the preview shows."""


def build_import_tab(context: Context, task: gr.Dropdown) -> None:
    """Build the tab."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, elem_classes="card"):
            form = _build_form()
        with gr.Column(scale=3):
            note = View(_hint(), elem_id="import-note")
            rows = gr.Dataframe(
                visible=False, interactive=False, wrap=True, label="First rows", elem_id="import-preview"
            )
    _ImportTab(context, task, form, note, rows).wire()


@dataclass(frozen=True, slots=True)
class _Form:
    """What the owner fills in."""

    files: gr.File
    slug: gr.Textbox
    format: gr.Dropdown
    mapping: gr.Row
    columns: dict[str, gr.Dropdown]
    """For each field, the column that holds it."""
    go: gr.Button


def _build_form() -> _Form:
    files = gr.File(
        label="CSV, JSONL, Excel; a CoEval release's A*.json and combine_data.json; tables of ratings",
        file_count="multiple",
        type="filepath",
        elem_id="import-file",
    )
    with gr.Row():
        slug = gr.Textbox(
            label="Into the task (short name; made if new)", max_length=64, elem_id="import-slug"
        )
        format = gr.Dropdown(list(FORMATS), value="auto", label="Format", elem_id="import-format")
    with gr.Row(visible=False) as mapping:
        columns = {
            name: gr.Dropdown([NONE], value=NONE, label=name, elem_id=f"map-{name}") for name in FIELDS
        }
    go = gr.Button("Import", variant="primary", interactive=False, elem_id="import-go")
    return _Form(files, slug, format, mapping, columns, go)


@dataclass(frozen=True, slots=True)
class _ImportTab:
    """What happens when a file is chosen, and when it is taken in."""

    context: Context
    task: gr.Dropdown
    form: _Form
    note: View
    rows: gr.Dataframe

    def wire(self) -> None:
        form = self.form
        chosen: list[Any] = [form.files, form.format, form.slug]
        outputs = [form.slug, form.mapping, *form.columns.values(), form.go, self.note, self.rows]
        form.files.change(self.on_file, chosen, outputs, api_visibility="private")
        form.format.input(self.on_file, chosen, outputs, api_visibility="private")
        form.go.click(
            self.on_import,
            [*chosen, *form.columns.values()],
            [self.note, self.task],
            api_visibility="private",
        )

    def on_file(
        self, paths: list[str] | None, format: str, slug: str | None, request: gr.Request
    ) -> dict[Any, Any]:
        try:
            _check_owner(self.context, request)
            if not paths:
                return self._without_preview(_hint())
            with _gathered(paths) as path:
                return self._with_preview(preview(path, format=format), slug or make_slug(path.stem))
        except CoevalError as error:
            return self._without_preview(_refused(error))

    def _with_preview(self, seen: Preview, slug: str) -> dict[Any, Any]:
        return {
            **_mapped(self.form.columns, seen),
            self.form.slug: slug,
            self.form.mapping: gr.Row(visible=bool(seen.fields)),
            self.form.go: gr.Button(interactive=True),
            self.note: _preview_note(seen),
            self.rows: gr.Dataframe(value=_frame(seen), visible=True),
        }

    def _without_preview(self, note: Node) -> dict[Any, Any]:
        return {
            self.form.go: gr.Button(interactive=False),
            self.note: note,
            self.rows: gr.Dataframe(visible=False),
        }

    def on_import(
        self, request: gr.Request, paths: list[str] | None, format: str, slug: str | None, *chosen: str
    ) -> dict[Any, Any]:
        try:
            person = _check_owner(self.context, request)
            if not paths:
                raise InputError("There is no file: choose one first.")
            pairs = zip(FIELDS, chosen, strict=True)
            mapping = {name: column for name, column in pairs if column and column != NONE}
            wanted = check_slug((slug or "").strip())
            with _gathered(paths) as path:
                report = import_file(self.context, person, path, wanted, format=format, mapping=mapping)
            return {self.note: _report(report), self.task: task_choices(self.context, person, report.task)}
        except CoevalError as error:
            return {self.note: _refused(error)}


def _check_owner(context: Context, request: gr.Request) -> Any:
    person = get_person(context, request)
    if person.role not in OWNERS:
        raise shown(InputError(f"Only owners can import; {person.name} is not one."))
    return person


@contextmanager
def _gathered(paths: list[str]) -> Iterator[Path]:
    """The uploaded file, or a folder of them where there are several; a copy that is gone afterwards."""
    if len(paths) == 1:
        yield Path(paths[0])
        return
    with tempfile.TemporaryDirectory(prefix="coeval-import-") as name:
        folder = Path(name) / "study"
        folder.mkdir()
        for path in map(Path, paths):
            shutil.copyfile(path, folder / path.name)
        yield folder


def _mapped(columns: dict[str, gr.Dropdown], seen: Preview) -> dict[Any, Any]:
    choices = [NONE, *seen.columns]
    return {
        box: gr.Dropdown(choices, value=seen.mapping.get(name, NONE), visible=name in seen.fields)
        for name, box in columns.items()
    }


def _frame(seen: Preview) -> pd.DataFrame:
    short = [[cell if len(cell) <= MAX_CELL else cell[:MAX_CELL] + "…" for cell in row] for row in seen.rows]
    return pd.DataFrame(short, columns=list(seen.columns))


def _hint() -> Node:
    return el(
        "div.card",
        el("h4", "What can be imported"),
        el("p", "A table with a column for the input and one for the output. Columns called instance, document, "
           "system and reference are used; all others are kept as context."),
        el("p.note", "A file with a mistake is refused whole, and nothing is written. The same file twice changes "
           "nothing."),
    )  # fmt: skip


def _preview_note(seen: Preview) -> Node:
    return el(
        "div.card",
        el("h4", f"{seen.format} · {seen.n_rows:,} rows"),
        el("p", "Check which column holds what, then import."),
    )


def _refused(error: CoevalError) -> Node:
    return el("div.card.error", el("h4", "Nothing was imported"), el("p", str(error)), role="alert")


def _report(report: ImportReport) -> Node:
    return el(
        "div.card.done",
        el("h4", "Imported" if report.changed else "Nothing new"),
        el("p", str(report)),
        el("ul", *(el("li", line) for line in report.notes)) if report.notes else None,
        el("p", el("a", "Open the task ↗", href=f"../?task={report.task}")),
        role="status",
    )
