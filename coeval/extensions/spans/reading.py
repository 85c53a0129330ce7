"""Common parts of the readers of span files: formats, and checks of texts, tables and numbers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from coeval.datasets.tables.text_tables import LONGEST_FIELD
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


def read_csv(path: Path, *, delimiter: str = ",", quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV table with their line numbers.

    Raises:
        InputError: the file is not a table, or a cell cannot be stored.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    with reading(path.name), open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter, quoting=quoting)
        try:
            for row in reader:
                if row:
                    for cell in row:
                        check_text(cell, f"{path.name}, line {reader.line_num:,}")
                    yield reader.line_num, row
        except csv.Error as error:
            raise InputError(f"{path.name}, line {reader.line_num:,}: {error}.") from error


def read_number(
    text: str, place: str, what: str, low: float = float("-inf"), high: float = float("inf")
) -> float:
    """Parse the number in a cell.

    Raises:
        InputError: it is not a number, or outside the limits.
    """
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high or number in (float("inf"), float("-inf")):
        limits = f" from {low:g} to {high:g}" if low > float("-inf") and high < float("inf") else ""
        raise InputError(f"{place}: {what} is “{text[:40]}”; it must be a number{limits}.")
    return number


def check_columns(path: Path, found: Mapping[str, int], needed: tuple[str, ...]) -> None:
    """Check that a table has all required columns.

    Raises:
        InputError: one is missing; the message lists the existing ones.
    """
    for name in needed:
        if name not in found:
            there = ", ".join(found)[:200]
            raise InputError(f"{path.name}, line 1: there is no column “{name}”; the columns are: {there}.")


def read_documents(path: Path) -> list[str]:
    """Return the document of each line of a test set, from a file of mt-metrics-eval (``domain<TAB>document``)."""
    with reading(path.name), open_text(path) as file:
        return [line.rstrip("\r\n").split("\t")[-1] for line in file]
