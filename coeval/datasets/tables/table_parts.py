"""A folder of parts of one table, named as data sets name them: ``train-00000-of-00002.parquet`` and so on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from coeval.datasets.tables.formats import is_table, open_table
from coeval.datasets.tables.table import Row, Table
from coeval.datasets.text import shorten
from coeval.errors import InputError

PART = re.compile(r"(?P<name>.*?)-?(?P<number>\d+)-of-(?P<count>\d+)\.\w+")


def open_parts(folder: Path) -> Table:
    """The table that the parts in a folder make together, in the order of their numbers; rows are counted through.

    Raises InputError for a part that is missing, or one with other columns than the first.
    """
    paths = _list_parts(folder)
    tables = [open_table(path) for path in paths]
    expected = int(PART.fullmatch(paths[0].name)["count"])  # type: ignore[index]
    if len(paths) != expected:
        raise InputError(
            f"{folder.name}: holds {len(paths)} of the {expected} parts of a table; add the others."
        )
    for table in tables[1:]:
        if set(table.columns) != set(tables[0].columns):
            raise InputError(
                f"{table.name}: has other columns than {tables[0].name} "
                f"({shorten(', '.join(sorted(set(table.columns) ^ set(tables[0].columns))))}); import it by itself."
            )

    def rows() -> Iterator[Row]:
        numbers = count(1)
        for table in tables:
            for row in table.rows():
                yield Row(next(numbers), row.cells, row.nested)

    return Table(folder.name, tables[0].columns, rows, unit="row")


def _list_parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if PART.fullmatch(path.name) and is_table(path))


def holds_parts(path: Path) -> bool:
    """Whether a path is a folder of such parts and nothing else."""
    return path.is_dir() and bool(parts := _list_parts(path)) and len(parts) == len(list(path.iterdir()))
