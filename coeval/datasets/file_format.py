"""File formats, which recognise and open files, and previews of files before they are imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coeval.datasets.source import Seen, Source
from coeval.datasets.tables.instances import FIELDS, is_text, match_instances
from coeval.datasets.tables.table import (
    SYNONYMS,
    Row,
    Table,
    find_column,
    keep_columns,
    match_columns,
    normal_name,
)
from coeval.datasets.text import shorten
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


# The columns of a table in which each row is one person's work: the person, and the scores they gave.


MAX_SPAN, SURE_SPAN = 100, 10
"""The widest range of scores, and the widest of a column on whose values all people agree."""

MAX_COMPARED = 1_000
"""The largest number of outputs for which the first person's cells are kept, to compare other people's with them."""

CHOOSE = "Choose other roles under Columns."
"""The end of the note; the command line has another."""

_MEASURE = re.compile(
    r"\b(id|\w*time|seconds|minutes|duration|age|year|length|count|words|tokens|index|order|position|number)\b"
)
_NUMBER = re.compile(r"[+-]?\d{1,4}(\.\d+)?", re.ASCII)
_NO_SCORE = ("", "na", "n/a", "nan", "null", "none")


class PersonColumns:
    """A search in the rows of a table for the columns of people and of their scores."""

    def __init__(self, table: Table, matched: Mapping[str, str]) -> None:
        """``matched`` is the column of each field of an instance."""
        self._person = (
            find_column(table.columns, SYNONYMS["annotator"], taken=matched.values())
            if "output" in matched
            else None
        )
        self._key = [matched[field] for field in ("input", "output", "system") if field in matched]
        self._id = matched.get("instance", "")
        used = {*matched.values(), self._person}
        self._ranges: dict[str, tuple[float, float] | None] = {
            column: None
            for column in table.columns
            if column not in used and not _MEASURE.search(normal_name(column))
        }
        self._differing: set[str] = set()
        self._first: dict[int, dict[str, str]] = {}
        self._ids: dict[int, int] = {}
        self._outputs, self._works, self._names = Seen(), Seen(), set[str]()
        self._split_ids = False

    def add(self, row: Row) -> None:
        if not self._person or not (who := row.cells[self._person].strip()):
            return
        key = hash(tuple(row.cells[column].strip() for column in self._key))
        self._outputs.add(key)
        self._works.add((key, who))
        self._names.add(who)
        for column in [*self._ranges]:
            self._widen(column, row.cells[column].strip())
        cells = {column: row.cells[column].strip() for column in self._ranges}
        if len(self._first) < MAX_COMPARED:
            self._first.setdefault(key, cells)
        before = self._first.get(key, cells)
        self._differing |= {column for column, cell in cells.items() if before[column] != cell}
        if self._id:
            name = hash(row.cells[self._id].strip())
            self._split_ids |= self._ids.setdefault(key, name) != name

    def _widen(self, column: str, cell: str) -> None:
        """Take a cell into its column's range, and drop the column if the cell is no score."""
        if _NUMBER.fullmatch(cell):
            low, high = self._ranges[column] or (float(cell), float(cell))
            self._ranges[column] = min(low, float(cell)), max(high, float(cell))
        elif cell.casefold() not in _NO_SCORE:
            del self._ranges[column]

    def find(self, matched: Mapping[str, str]) -> tuple[dict[str, str], str]:
        """Return the column of each field, and a note, or "" if no columns of people's scores were found.

        ``scores`` has one column name per line. An id of several outputs is the source id.
        """
        scores = [
            column
            for column, ends in self._ranges.items()
            if ends and ends[1] - ends[0] <= (MAX_SPAN if column in self._differing else SURE_SPAN)
        ]
        if not self._person or not scores or not self._outputs.repeated() or self._works.repeated():
            return dict(matched), ""
        fields = {**matched, "annotator": self._person, "scores": "\n".join(scores)}
        shared = len({*self._ids.values()}) < len(self._ids)
        if shared or self._split_ids:
            fields.pop("instance", None)
        if shared and not self._split_ids:
            fields.setdefault("document", self._id)
        note = f"Read as the scores of {len(self._names):,} people: {shorten(', '.join(scores), 300)}."
        return fields, f"{note} {CHOOSE}"
