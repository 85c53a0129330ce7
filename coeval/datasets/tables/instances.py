"""A table of answers to instances: what CSV, JSONL and Excel imports share."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from coeval.datasets.seen import Seen
from coeval.datasets.source import Rows, Source
from coeval.datasets.tables.table import Row, Table, match_columns, require_columns
from coeval.datasets.text import shorten
from coeval.domain import Instance, Task
from coeval.errors import InputError

FIELDS = ("instance", "input", "output", "document", "system", "reference")
"""The fields an instance has; every other column is kept as its context."""

MAX_NAME = 1_000
"""Longest instance, document or system name, in characters."""


def open_instances(
    table: Table, slug: str, mapping: Mapping[str, str] | None, *, guess: bool = False
) -> Source:
    """A study of instances alone. ``guess`` also accepts synonyms of the column names.

    An instance without an id gets the number of its row; one without a document gets one made from its
    input, so that the same input always means the same document.

    Raises InputError for a missing column, an empty input or output, a nested one, or a duplicate id.
    """
    columns = match_columns(table, FIELDS, mapping, guess=guess)
    require_columns(table, columns, ("input", "output"))
    instances = Rows(lambda: (instance for _, instance in _read(table, columns)))
    repeated = Seen(instance.external_id for instance in instances).repeated()
    if repeated:
        _refuse_repeated(table, columns, repeated)
    return Source(_name_task(slug, columns), instances)


def _read(table: Table, columns: Mapping[str, str]) -> Iterator[tuple[int, Instance]]:
    """Every instance with its line."""
    for number, row in enumerate(table.rows(), start=1):
        yield row.line, _Reader(table, columns, row).read(number)


def _refuse_repeated(table: Table, columns: Mapping[str, str], repeated: Collection[int]) -> None:
    lines: dict[str, int] = {}
    for line, instance in _read(table, columns):
        name = instance.external_id
        if hash(name) in repeated and lines.setdefault(name, line) != line:
            raise InputError(
                f"{table.name}: {table.unit}s {lines[name]} and {line} have the same instance id "
                f"'{shorten(name)}'; give each its own."
            )


def name_document(text: str) -> str:
    """A name for the document that an input is: the same for the same text, in every file.

    >>> name_document("What is snow?") == name_document(" What is snow? ")
    True
    """
    return "d" + hashlib.sha256(text.strip().encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row, its fields by name."""

    table: Table
    columns: Mapping[str, str]
    row: Row

    def read(self, number: int) -> Instance:
        text = self._text("input")
        return Instance(
            external_id=self._name("instance") or str(number),
            input=text,
            output=self._text("output"),
            document=self._name("document") or name_document(text),
            system=self._name("system"),
            reference=self.row.cells.get(self.columns.get("reference", ""), ""),
            context=self._context(),
        )

    def _text(self, field: str) -> str:
        text = self._flat(field)
        if not text.strip():
            raise InputError(f"{self._place(field)}: is empty; write the {field} or remove the row.")
        return text

    def _name(self, field: str) -> str:
        if field not in self.columns:
            return ""
        name = self._flat(field).strip()
        if len(name) > MAX_NAME:
            raise InputError(
                f"{self._place(field)}: has {len(name):,} characters and the {field} may have {MAX_NAME:,}; "
                "shorten it."
            )
        return name

    def _flat(self, field: str) -> str:
        if self.columns[field] in self.row.nested:
            raise InputError(
                f"{self._place(field)}: holds a list or an object; the {field} must be one text."
            )
        return self.row.cells[self.columns[field]]

    def _place(self, field: str) -> str:
        return self.table.place(self.row.line, self.columns[field])

    def _context(self) -> dict[str, str]:
        used = set(self.columns.values())
        return {name: text for name, text in self.row.cells.items() if name not in used and text}


def _name_task(slug: str, columns: Mapping[str, str]) -> Task:
    def title(field: str) -> str:
        name = columns[field].replace("_", " ").strip()
        return name[:1].upper() + name[1:]

    return Task(slug=slug, name=slug, input_field=title("input"), output_field=title("output"))
