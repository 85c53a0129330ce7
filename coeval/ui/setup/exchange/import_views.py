"""Set-up, Import: what is shown of a file before it is taken in, and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gradio as gr
import pandas as pd

from coeval.datasets import FORMATS, Preview
from coeval.datasets.text import shorten
from coeval.domain import Column, Scale
from coeval.errors import CoevalError
from coeval.rules.columns.column_roles import guess_column
from coeval.study.importing.importing import ImportReport
from coeval.study.tasks import TaskState
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.next_step import next_view
from coeval.ui.components.view import Node, el
from coeval.ui.panel import Update
from coeval.ui.server.error_answers import tell

NONE = "(none)"

Seen = tuple[tuple[Column, str], ...]
"""The columns of the file chosen, each with its first value."""

EXAMPLE = 60
"""Characters of a column's first value that are shown beside its name."""

MAX_CELL = 200
"""Characters of a cell that the preview shows."""


def guess_columns(seen: Preview) -> Seen:
    """Every column of the file with the role it gets by rule, and its first value."""
    cells = {name: [row[place] for row in seen.rows] for place, name in enumerate(seen.columns)}
    return tuple(
        (guess_column(name, values, Scale()), shorten(next(filter(None, values), ""), EXAMPLE))
        for name, values in cells.items()
    )


def left_columns(seen: Seen, mapped: Sequence[str | None]) -> Seen:
    """The columns that no field is read from."""
    return tuple((column, value) for column, value in seen or () if column.name not in mapped)


def title_of(path: Path) -> str:
    """A name for the task of a file.

    >>> title_of(Path("my_answers-2.csv"))
    'My answers 2'
    """
    words = path.stem.replace("_", " ").replace("-", " ").strip()
    return (words[:1].upper() + words[1:]) or "New task"


def map_columns(columns: dict[str, gr.Dropdown], seen: Preview) -> Update:
    choices = [NONE, *seen.columns]
    return {
        box: gr.Dropdown(choices, value=seen.mapping.get(name, NONE), visible=name in seen.fields)
        for name, box in columns.items()
    }


def preview_frame(seen: Preview) -> pd.DataFrame:
    short = [[cell if len(cell) <= MAX_CELL else cell[:MAX_CELL] + "…" for cell in row] for row in seen.rows]
    return pd.DataFrame(short, columns=list(seen.columns))


def hint_view() -> Node:
    return el(
        "div.card",
        el("h4", "What can be imported"),
        el("p", "A table with a column for the input and one for the output. Columns called instance, document, "
           "system and reference are used; of all others you choose who sees them."),
        el("ul", *(el("li", each.title) for each in FORMATS)),
        el("p.note", "A file with a mistake is refused whole, and nothing is written. The same file twice changes "
           "nothing."),
    )  # fmt: skip


def preview_view(seen: Preview, origin: str) -> Node:
    return el(
        "div.card",
        el("h4", f"{seen.format} · {plural(seen.n_rows, 'row')}"),
        el("p", el("code", origin)) if origin else None,
        el("p", "Check which column holds what, then import."),
    )


def refused_view(error: CoevalError) -> Node:
    return el("div.card.error", el("h4", "Nothing was imported"), el("p", tell(error)), role="alert")


def report_view(report: ImportReport, stands: TaskState) -> Node:
    return el(
        "div.card.done",
        el("h4", "Imported" if report.changed else "Nothing new"),
        el("p", str(report)),
        el("ul", *(el("li", line) for line in report.notes)) if report.notes else None,
        next_view(stands, in_setup=True),
        role="status",
    )
