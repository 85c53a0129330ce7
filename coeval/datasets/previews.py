"""A look at a file before it is imported: its columns, what they would be read as, its first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coeval.datasets.source import Source
from coeval.datasets.tables.instances import FIELDS, match_instances
from coeval.datasets.tables.table import Table, match_columns


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file holds. ``rows`` are the first ones, a cell for each of ``columns``.

    ``fields`` are those that can be mapped to a column, empty where the format fixes them; ``mapping``
    (field -> column) is what was asked for and, beside it, the likeliest guess.
    """

    format: str
    columns: tuple[str, ...]
    fields: tuple[str, ...]
    mapping: Mapping[str, str]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int


def preview_table(
    format: str, table: Table, fields: tuple[str, ...], mapping: Mapping[str, str] | None, limit: int
) -> Preview:
    """A tabular file's preview; the whole file is read and checked, ``limit`` rows of it are kept."""
    if fields == FIELDS:
        matched = match_instances(table, mapping, guess=True)
    else:
        matched = match_columns(table, fields, mapping, guess=True)
    rows, count = _first_rows(table, limit)
    return Preview(format, table.columns, fields, matched, tuple(rows), count)


def preview_source(format: str, source: Source, limit: int) -> Preview:
    """The preview of a study whose format fixes its fields: its instances."""
    columns = ("instance", "document", "system", "input", "output")
    rows: list[tuple[str, ...]] = []
    count = 0
    for count, instance in enumerate(source.instances, start=1):
        if count <= limit:
            rows.append(
                (instance.external_id, instance.document, instance.system, instance.input, instance.output)
            )
    return Preview(format, columns, (), {}, tuple(rows), count)


def _first_rows(table: Table, limit: int) -> tuple[Sequence[tuple[str, ...]], int]:
    rows: list[tuple[str, ...]] = []
    count = 0
    for row in table.rows():
        count += 1
        if len(rows) < limit:
            rows.append(tuple(row.cells[column] for column in table.columns))
    return rows, count
