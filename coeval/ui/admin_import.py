"""Set-up, Import: look at a file, map its columns, take it in whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from coeval.datasets import FIELDS, FORMATS, Preview, preview
from coeval.errors import CoevalError, InputError
from coeval.study.access import OWNERS, Context
from coeval.study.importing import ImportReport, import_file
from coeval.study.tasks import check_slug, make_slug
from coeval.ui.identity import get_person, shown
from coeval.ui.tasks_picker import task_choices
from coeval.ui.view import Node, View, el

NONE = "(none)"
MAX_CELL = 200
"""Characters of a cell that the preview shows."""


def build_import_tab(context: Context, task: gr.Dropdown) -> None:
    """Build the tab."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, elem_classes="card"):
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
            with gr.Row(visible=False) as mapping_row:
                columns = {
                    name: gr.Dropdown([NONE], value=NONE, label=name, elem_id=f"map-{name}")
                    for name in FIELDS
                }
            go = gr.Button("Import", variant="primary", interactive=False, elem_id="import-go")
        with gr.Column(scale=3):
            note = View(_hint(), elem_id="import-note")
            rows = gr.Dataframe(
                visible=False, interactive=False, wrap=True, label="First rows", elem_id="import-preview"
            )
    outputs = [slug, mapping_row, *columns.values(), go, note, rows]

    def on_file(paths: list[str] | None, format: str, slug_now: str, request: gr.Request) -> dict[Any, Any]:
        try:
            _check_owner(context, request)
            if not paths:
                return {go: gr.Button(interactive=False), note: _hint(), rows: gr.Dataframe(visible=False)}
            with _gathered(paths) as path:
                seen = preview(path, format=format)
            return {
                **_mapped(columns, seen),
                slug: slug_now or make_slug(path.stem),
                mapping_row: gr.Row(visible=bool(seen.fields)),
                go: gr.Button(interactive=True),
                note: _preview_note(seen),
                rows: gr.Dataframe(value=_frame(seen), visible=True),
            }
        except CoevalError as error:
            return {
                go: gr.Button(interactive=False),
                note: _refused(error),
                rows: gr.Dataframe(visible=False),
            }

    def on_import(
        paths: list[str] | None, format: str, slug: str, *chosen: str, request: gr.Request
    ) -> dict[Any, Any]:
        try:
            person = _check_owner(context, request)
            if not paths:
                raise InputError("There is no file: choose one first.")
            mapping = {
                name: column for name, column in zip(FIELDS, chosen, strict=True) if column and column != NONE
            }
            with _gathered(paths) as path:
                report = import_file(
                    context, person, path, check_slug(slug.strip()), format=format, mapping=mapping
                )
            return {note: _report(report), task: task_choices(context, person, report.task)}
        except CoevalError as error:
            return {note: _refused(error)}

    async_free: dict[str, Any] = {"api_visibility": "private"}
    files.change(on_file, [files, format, slug], outputs, **async_free)
    format.input(on_file, [files, format, slug], outputs, **async_free)
    go.click(
        _with_request(on_import, len(FIELDS)),
        [files, format, slug, *columns.values()],
        [note, task],
        **async_free,
    )


def _with_request(function: Any, n: int) -> Any:
    """Gradio passes the request by the annotation of a positional parameter: put it first."""

    def handler(request: gr.Request, *values: Any) -> Any:
        return function(*values, request=request)

    return handler


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
