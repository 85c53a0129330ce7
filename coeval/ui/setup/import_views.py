"""Set-up, Import: the content of the page before and after a file is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coeval.datasets import FIELDS, Preview, list_formats
from coeval.datasets.text import shorten
from coeval.domain import Column, ColumnRole, TaskSource
from coeval.errors import CoevalError
from coeval.rules.column_roles import guess_column
from coeval.ui.components.next_step import next_view
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, el, table
from coeval.ui.server.payloads import tell
from coeval.ui.setup.design_box import RoleRow
from coeval.usecases.study_import import ImportReport
from coeval.usecases.tasks import TaskState

LABELS = {
    "instance": "Instance id",
    "input": "Input",
    "output": "Output",
    "document": "Source id",
    "system": "System",
    "reference": "Reference",
    "annotator": "Person",
    "scores": "Score by the person",
}
"""The page's names for the fields of an instance."""

EXAMPLE = 60
"""Number of displayed characters of a column's first value."""

PREVIEWED, SHOWN_ROWS = 200, 5
"""Numbers of characters per cell and of rows in the preview."""


def further_columns(seen: Preview | None, mapped: Mapping[str, str]) -> list[Column]:
    """Return the file's columns other than its fields, each with its default role.

    A source id that contains texts is among them: the import keeps it, and judge and people see it.
    """
    if seen is None or seen.fields != FIELDS:
        return []
    shown = mapped.get("document") if mapped.get("document") in seen.texts else None
    used = {column for field, column in mapped.items() if field != "document" or not shown}
    used.update(mapped.get("scores", "").split("\n"))
    return [
        Column(name, ColumnRole.SHOWN) if name == shown else guess_column(name, _cells(seen, name))
        for name in seen.columns
        if name not in used
    ]


def role_rows(
    seen: Preview | None,
    mapped: Mapping[str, str],
    columns: Mapping[str, Column],
    chosen: Mapping[str, str],
) -> list[RoleRow]:
    """Return a row for every column of the file: the field that is read from it, or its role.

    The task already has roles for ``columns``; ``chosen`` has the page's choices for the others.
    """
    if seen is None or not seen.fields:
        return []
    fields = {name: field for field, names in mapped.items() for name in names.split("\n")}
    further = {column.name: column for column in further_columns(seen, mapped)}
    rows = []
    for name in seen.columns:
        example = shorten(next(filter(None, _cells(seen, name)), ""), EXAMPLE)
        if name in fields:
            rows.append(RoleRow(name, example, fields[name]))
        elif name in columns:
            rows.append(RoleRow(name, example, fixed=f"{columns[name].role}, as chosen for the task"))
        else:
            role = further[name].role if name in further else ColumnRole.HIDDEN
            chosen_role = chosen.get(name)
            rows.append(RoleRow(name, example, chosen_role if isinstance(chosen_role, ColumnRole) else role))
    return rows


def read_mapping(seen: Preview | None, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field, or the mapping of this file while the page shows the table of another one."""
    if seen is None or not any(name in seen.columns for name in chosen):
        return dict(seen.mapping) if seen else {}
    fields = {
        what: name for name, what in chosen.items() if name in seen.columns and what in LABELS and seen.fields
    }
    scores = [name for name, what in chosen.items() if name in seen.columns and what == "scores"]
    return {**fields, **({"scores": "\n".join(scores)} if scores else {})}


def _cells(seen: Preview, name: str) -> list[str]:
    place = seen.columns.index(name)
    return [row[place] for row in seen.rows]


def title_of(path: Path) -> str:
    """Return a name for the task of a file.

    >>> title_of(Path("my_answers-2.csv"))
    'My answers 2'
    """
    words = path.stem.replace("_", " ").replace("-", " ").strip()
    return (words[:1].upper() + words[1:]) or "New task"


def rows_view(seen: Preview) -> Node:
    """Return the first rows. Judged fields come first, so that no long column hides them."""
    first = [seen.mapping[field] for field in ("input", "output") if field in seen.mapping]
    names = [*first, *(name for name in seen.columns if name not in first)]
    places = [seen.columns.index(name) for name in names]
    lines = [
        [el("div.clip", shorten(row[place], PREVIEWED), dir="auto") for place in places]
        for row in seen.rows[:SHOWN_ROWS]
    ]
    return el("div.card", el("h4", "First rows"), el("div.scroll", table(names, lines)))


def hint_view() -> Node:
    return el(
        "div.card",
        el("p", "Choose a table with a column for the input and one for the output. "
           "You can preview it before you import it."),
        el("details", el("summary", "All formats"), el("ul", *(el("li", each.title) for each in list_formats()))),
    )  # fmt: skip


def preview_view(seen: Preview, origin: str) -> Node:
    return el(
        "div.card",
        el("h4", f"{seen.format} · {plural(seen.n_rows, 'row')}"),
        el("p", el("code", origin)) if origin else None,
        *(el("p", note) for note in seen.notes),
        el("p", "Check under Columns which column holds what, then import."),
    )


def refused_view(error: CoevalError, title: str = "This cannot be read") -> Node:
    return el("div.card.error", el("h4", title), el("p", tell(error)), role="alert")


def report_view(
    report: ImportReport, stands: TaskState, columns: Sequence[Column], hint: Node | None = None
) -> Node:
    """Return what an import did, and the next step; ``hint`` is the sentence on the study design."""
    hidden = [column.name for column in columns if column.is_open]
    to_choose = f"Hidden until you show them under Tasks, Visibility of other columns: {', '.join(hidden)}."
    return el(
        "div.card.done",
        el("h4", "Imported" if report.changed else "Nothing new"),
        el("p", str(report)),
        el("ul", *(el("li", line) for line in report.notes)) if report.notes else None,
        el("p", to_choose) if hidden else None,
        hint,
        next_view(stands, in_setup=True),
        role="status",
    )


def examples_view() -> Node:
    """Return the way to the examples, for an owner without a study."""
    return el("p.note", "To look around first, open the ", el("a", "example studies", href="../"), ".")


def sources_view(sources: Sequence[TaskSource]) -> Node | None:
    """Return the data sets that the task's instances were read from."""
    if not sources:
        return None
    lines = [
        [source.address, source.revision[:12], source.imported_by, source.imported_at[:10]]
        for source in sources
    ]
    return el(
        "div.card",
        el("h4", "Source of this task"),
        table(["Data set", "Commit", "Imported by", "On"], lines),
    )
