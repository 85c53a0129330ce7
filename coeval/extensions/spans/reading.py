"""Common parts of the readers of span files: formats, and checks of rows, columns and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.tables.text_tables import Dialect, read_cells
from coeval.datasets.text import check_text, open_text, reading
from coeval.errors import InputError
from coeval.extensions.spans.annotations import Collection
from coeval.extensions.spans.typology import Typology

MOST_LINES = 1_000_000
"""The largest line number."""


@dataclass(frozen=True, slots=True)
class Further:
    """Additional files for reading a file: the texts of items, and the document of each line."""

    items: Path | None = None
    documents: Path | None = None
    people: Path | None = None
    arm: str = ""
    """The arm of all annotations, if the file does not name it."""


@dataclass(frozen=True, slots=True)
class SpanFormat:
    """One file format, in and out."""

    name: str
    title: str
    read: Callable[[Path, Typology, Further], Collection]
    write: Callable[[Collection, Typology], str]


COMMAS = Dialect(",")


def read_rows(path: Path, dialect: Dialect = COMMAS) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table of separated values with their line numbers.

    Raises:
        InputError: the file is not a table, or a cell cannot be stored.
    """
    with reading(path.name):
        for line, cells in read_cells(path, dialect):
            for cell in cells:
                check_text(cell, f"{path.name}, line {line:,}")
            yield line, cells


def read_number(text: str, place: str, what: str, low: float, high: float) -> float:
    """Parse the number in a cell.

    Raises:
        InputError: it is not a number, or outside the limits.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        limits = f"from {low:g} to {high:g}"
        raise InputError(f"{place}: {what} is “{text[:40]}”; it must be a number {limits}.")
    return number


def check_columns(name: str, columns: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """Check that a table has all required columns.

    Raises:
        InputError: one is missing; the message lists the existing ones.
    """
    for column in needed:
        if column not in columns:
            there = ", ".join(columns)[:200]
            raise InputError(f"{name}, line 1: there is no column “{column}”; the columns are: {there}.")


def read_documents(path: Path) -> list[str]:
    """Return the document of each line of a test set, from a file of mt-metrics-eval (``domain<TAB>document``)."""
    with reading(path.name), open_text(path) as file:
        return [line.rstrip("\r\n").split("\t")[-1] for line in file]
