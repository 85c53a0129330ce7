"""File formats, which recognise and open files, and previews of files before they are imported."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coeval.datasets.source import Seen, Source
from coeval.datasets.tables.instances import FIELDS, is_text, match_instances
from coeval.datasets.tables.person_columns import PersonColumns
from coeval.datasets.tables.table import Row, Table, keep_columns, match_columns
from coeval.errors import InputError

Columns = Mapping[str, str] | None
"""The column of each field."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file or folder that can be imported (see ``known_formats.list_formats``)."""

    name: str
    """The name in ``--format``."""
    title: str
    """The title on the import page."""
    fits: Callable[[Path, Columns], bool]
    """A function that returns whether a file or folder may have this format."""
    open: Callable[[Path, str, Columns], Source]
    """A function that opens a study from a path, for the task with a slug; it raises InputError for a broken file."""
    fields: tuple[str, ...] = ()
    """The fields that can be mapped to columns; none if the format fixes them."""
    table: Callable[[Path], Table] | None = None
    """A function that reads a table's columns and rows; None if the file is not a table."""
    open_empty: Callable[[Path, str, Columns], Source] | None = None
    """Like ``open``, but keeps rows with an empty output; None if the format has its own rule."""
    folder: str = ""
    """The description of a folder of this format; empty if it is always one file."""

    def read(self, path: Path, slug: str, columns: Columns, *, empty_outputs: bool = False) -> Source:
        """Open a study with ``open_empty`` if ``empty_outputs`` is set and the format has it, or else with ``open``.

        Raises InputError also if the format does not allow a column mapping.
        """
        if columns and not self.fields:
            raise InputError(
                f"columns cannot be mapped in the format {self.name}, whose fields are fixed; leave it out."
            )
        open_source = self.open_empty if empty_outputs and self.open_empty else self.open
        return open_source(path, slug, columns)


# A preview of a file before it is imported: its columns, their fields, and the first rows.


@dataclass(frozen=True, slots=True)
class Preview:
    """A preview of a file. ``rows`` are the first rows, with one cell per column in ``columns``.

    ``fields`` can be mapped to columns; they are empty if the format fixes them. ``mapping`` (field -> column)
    contains the requested columns and guesses for the others, also of ``annotator`` and ``scores``.
    """

    format: str
    columns: tuple[str, ...]
    fields: tuple[str, ...]
    mapping: Mapping[str, str]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int
    texts: frozenset[str] = frozenset()
    """The columns with cells that are too long for a source id or have several lines."""
    notes: tuple[str, ...] = ()
    """The choices that were made from the rows, with their reasons."""


MOST_ROWS = 20
"""The largest number of rows in a preview."""


def preview_table(
    format: str, table: Table, fields: tuple[str, ...], mapping: Mapping[str, str] | None
) -> Preview:
    """Return the preview of a table. The whole file is checked, and ``MOST_ROWS`` rows are kept."""
    read = match_instances if fields == FIELDS else partial(match_columns, fields=fields)
    matched = read(table, mapping=mapping, guess=True)
    ids, people = _Ids(matched), PersonColumns(table, matched)
    rows: list[tuple[str, ...]] = []
    texts: set[str] = set()
    count = 0
    for count, row in enumerate(table.rows(), start=1):
        if count <= MOST_ROWS:
            rows.append(tuple(row.cells[column] for column in table.columns))
        texts.update(column for column, cell in row.cells.items() if column not in texts and is_text(cell))
        ids.add(row)
        if fields == FIELDS:
            people.add(row)
    notes = keep_columns(table, matched).notes if fields == FIELDS else table.notes
    if fields == FIELDS:
        matched, corrections = _look_again(table, matched, mapping or {}, texts, ids)
        matched, note = people.find(matched)
        notes += (*corrections, note) if note else corrections
        lacks = [field for field in ("input", "output") if field not in matched]
        notes += tuple(f"No column was read as the {field}: choose one." for field in lacks)
    return Preview(format, table.columns, fields, matched, tuple(rows), count, frozenset(texts), notes)


class _Ids:
    """A table's instance ids, with and without their systems."""

    def __init__(self, matched: Mapping[str, str]) -> None:
        self._instance, self._system = matched.get("instance"), matched.get("system")
        self._ids, self._pairs = Seen(), Seen()

    def add(self, row: Row) -> None:
        if self._instance and self._system:
            name = row.cells[self._instance].strip()
            self._ids.add(name)
            self._pairs.add((name, row.cells[self._system].strip()))

    @property
    def repeat_by_system(self) -> bool:
        return bool(self._ids.repeated()) and not self._pairs.repeated()


def _look_again(
    table: Table, matched: Mapping[str, str], mapping: Mapping[str, str], texts: Collection[str], ids: _Ids
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the columns of the fields, corrected from the rows, with notes. Requested mappings are kept."""
    columns, notes = dict(matched), []
    source = columns.get("document", "")
    if source in texts and "input" not in columns and "document" not in mapping:
        columns["input"] = columns.pop("document")
    elif source in texts:
        notes.append(
            f"“{source}” holds texts. It is shown to judge and people, and the source ids are made from it."
        )
    if ids.repeat_by_system and "instance" not in mapping:
        column = columns.pop("instance")
        again = f"The ids in “{column}” repeat, once for each system"
        if "document" in columns or "document" in mapping:
            notes.append(f"{again}: the instances are numbered by their rows.")
        else:
            columns["document"] = column
            notes.append(f"{again}: “{column}” is read as the source id.")
    return {field: columns[field] for field in FIELDS if field in columns}, tuple(notes)


def preview_source(format: str, source: Source) -> Preview:
    """Return the first instances of a study whose format fixes the fields."""
    columns = ("instance", "document", "system", "input", "output")
    rows: list[tuple[str, ...]] = []
    count = 0
    for count, instance in enumerate(source.instances, start=1):
        if count <= MOST_ROWS:
            rows.append(
                (instance.external_id, instance.document, instance.system, instance.input, instance.output)
            )
    return Preview(format, columns, (), {}, tuple(rows), count, notes=source.notes)
