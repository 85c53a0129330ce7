"""Which format a file has, and the reader of each tabular one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from coeval.datasets.tables import csv_file, jsonl_file
from coeval.datasets.tables.table import Table
from coeval.datasets.text import check_size
from coeval.errors import InputError


def _open_xlsx(path: Path) -> Table:
    # loaded when a workbook comes: openpyxl takes a fifth of all the time that the server takes to start
    from coeval.datasets.tables import xlsx_file

    return xlsx_file.open_table(path)


TABLES: Mapping[str, Callable[[Path], Table]] = {
    "csv": csv_file.open_table,
    "jsonl": jsonl_file.open_table,
    "xlsx": _open_xlsx,
}
"""The tabular formats; the other formats are built on them or have files of their own."""

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}


def is_table(path: Path) -> bool:
    """Whether a file's ending is that of a table."""
    return path.is_file() and path.suffix.lower() in _SUFFIXES


def open_table(path: Path) -> Table:
    """A tabular file of any format; raises InputError for one that is broken or of another kind."""
    return TABLES[guess_table(path)](path)


def guess_table(path: Path) -> str:
    """The tabular format of a file: by its ending, else by its first bytes.

    Raises InputError for an old Excel file.
    """
    check_size(path)
    with path.open("rb") as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(
            f"{path.name}: is an old or password-protected Excel file; save it as plain .xlsx or CSV."
        )
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    return "jsonl" if head.startswith(b"{") else "csv"
