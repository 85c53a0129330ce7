"""Every kind of table that can be read, and which kind a file is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.tables import csv_file, jsonl_file
from coeval.datasets.tables.table import Table
from coeval.datasets.text import check_size
from coeval.errors import InputError


def _open_xlsx(path: Path) -> Table:
    # loaded when a workbook comes: openpyxl takes a fifth of all the time that the server takes to start
    from coeval.datasets.tables import xlsx_file

    return xlsx_file.open_table(path)


def _open_parquet(path: Path) -> Table:
    from coeval.datasets.tables import parquet_file

    return parquet_file.open_table(path)


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A kind of file that holds a table."""

    name: str
    title: str
    endings: tuple[str, ...]
    open: Callable[[Path], Table]
    start: bytes = b""
    """What a file begins with, by which one of another ending is recognised; empty: by its ending alone."""


TABLES: tuple[TableFormat, ...] = (
    TableFormat("csv", "CSV (comma, tab or semicolon)", (".csv", ".tsv", ".txt"), csv_file.open_table),
    TableFormat("jsonl", "JSON Lines", (".jsonl", ".ndjson"), jsonl_file.open_table, b"{"),
    TableFormat("xlsx", "Excel workbook", (".xlsx", ".xlsm"), _open_xlsx, b"PK\x03\x04"),
    TableFormat("parquet", "Parquet", (".parquet", ".pq"), _open_parquet, b"PAR1"),
)
"""A new kind of table is a file with its ``open_table``, and a line here. The first takes what no other does."""


def is_table(path: Path) -> bool:
    """Whether a file's ending is that of a table."""
    return path.is_file() and _by_ending(path) is not None


def open_table(path: Path) -> Table:
    """A table of any kind; raises InputError for a file that is broken or of another kind."""
    return guess_table(path).open(path)


def guess_table(path: Path) -> TableFormat:
    """The kind of table that a file is: by its ending, else by its first bytes.

    Raises InputError for an old Excel file.
    """
    check_size(path)
    with path.open("rb") as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(
            f"{path.name}: is an old or password-protected Excel file; save it as plain .xlsx or CSV."
        )
    by_start = (kind for kind in reversed(TABLES) if kind.start and head.startswith(kind.start))
    return _by_ending(path) or next(by_start, TABLES[0])


def _by_ending(path: Path) -> TableFormat | None:
    return next((kind for kind in TABLES if path.suffix.lower() in kind.endings), None)
