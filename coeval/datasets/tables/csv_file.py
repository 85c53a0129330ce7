"""CSV files: comma, semicolon or tab between cells, double quotes around them (RFC 4180)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from coeval.datasets.tables.table import Row, Table, check_header, fit_cells
from coeval.datasets.text import open_text
from coeval.errors import InputError

MAX_CELL = 1 << 26
"""Longest cell the csv module is let read, far above what is accepted, so that the refusal names a column."""


def open_table(path: Path) -> Table:
    """A CSV file as a table; only its header is read yet.

    Raises InputError for broken text, an empty file, a bad header; its rows raise it for a wrong number
    of cells and for quotes that do not match.
    """
    with open_text(path) as file:
        separator = _guess_separator(file.readline())
    _, header = next(_records(path, separator), (1, []))
    columns = check_header(path.name, "line", header)

    name = path.name  # a path works its name out anew each time it is asked

    def rows() -> Iterator[Row]:
        for line, cells in islice(_records(path, separator), 1, None):
            yield fit_cells(name, "line", line, columns, cells)

    return Table(name, columns, rows)


def _guess_separator(header: str) -> str:
    """Comma where the header has one; otherwise a tab or a semicolon where it has that."""
    return next((mark for mark in ",\t;" if mark in header), ",")


def _records(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Every record that is not a blank line, with the number of the line it begins on."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as exc:
                raise InputError(f"{path.name}, line {line}: {_explain(exc)}") from exc
            if cells:
                yield line, cells


def _explain(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "opens a double quote that is never closed; close it, or write a quote inside a text twice."
    if "expected after" in text:
        return "has text after a closing double quote; write a quote inside a text twice."
    if "field limit" in text:
        return f"holds a cell of more than {MAX_CELL:,} characters; shorten it, or close the quote before it."
    return f"cannot be read as CSV ({text}); save the file again as CSV in UTF-8."
