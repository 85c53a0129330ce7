"""The kinds of readable tables, their detection, and folders with the parts of one table."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from coeval.datasets.tables import text_tables
from coeval.datasets.tables.table import Row, Table
from coeval.datasets.text import LINES, check_size, ending, find_json, read_head, shorten
from coeval.errors import InputError

# The kinds of tables that can be read, and their detection.


def _open_xlsx(path: Path) -> Table:
    # openpyxl takes a fifth of the server's start-up time, so it is only loaded for a workbook
    from coeval.datasets.tables import xlsx_file

    return xlsx_file.open_table(path)


def _open_parquet(path: Path) -> Table:
    from coeval.datasets.tables import parquet_file

    return parquet_file.open_table(path)


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A kind of file that contains a table."""

    name: str
    title: str
    endings: tuple[str, ...]
    open: Callable[[Path], Table]
    fits: Callable[[Path, bytes], bool] | None = None
    """A function that recognises such a file by its content and its first bytes; None to use the ending only."""


TABLES: tuple[TableFormat, ...] = (
    TableFormat("csv", "CSV (comma, tab or semicolon)", (".csv", ".tsv", ".txt"), text_tables.open_csv),
    TableFormat(
        "jsonl", "JSON Lines", LINES, text_tables.open_jsonl, lambda path, head: find_json(path) == "lines"
    ),
    TableFormat(
        "json",
        "JSON (a list of records)",
        (),
        text_tables.open_json,
        lambda path, head: find_json(path) == "json",
    ),
    TableFormat(
        "xlsx",
        "Excel workbook",
        (".xlsx", ".xlsm"),
        _open_xlsx,
        lambda path, head: head.startswith(b"PK\x03\x04"),
    ),
    TableFormat(
        "parquet",
        "Parquet",
        (".parquet", ".pq"),
        _open_parquet,
        lambda path, head: head.startswith(b"PAR1"),
    ),
)
"""The kinds of tables; the first one is used for unknown texts. To add one, write a file with ``open_table``."""


def is_table(path: Path) -> bool:
    """Return whether a file has the ending of a table."""
    return path.is_file() and _by_ending(path) is not None


def open_table(path: Path) -> Table:
    """Return a table of any kind; raise InputError for a broken file or one of another kind."""
    return guess_table(path).open(path)


def list_sheets(path: Path) -> tuple[str, ...]:
    """Return the names of the visible sheets of a workbook, in their order; none for another file.

    Raises InputError for a file that has the ending of a workbook and is none.
    """
    if not path.is_file() or not _is_workbook(path):
        return ()
    from coeval.datasets.tables import xlsx_file

    return xlsx_file.list_sheets(path)


def _is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook by its ending or, if that tells nothing, by its parts.

    Its first bytes are not enough: studies and logs of other tools are archives too.
    """
    if _by_ending(path):
        return guess_table(path).open is _open_xlsx
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


@contextmanager
def on_sheet(path: Path, sheet: str) -> Iterator[Path]:
    """Yield a file of which ``sheet`` is read: the workbook itself for its first sheet or "", or a temporary copy.

    Raises InputError for a file that has no such sheet.
    """
    sheets = list_sheets(path) if sheet else ()
    if not sheet or sheets[:1] == (sheet,):
        yield path
        return
    if not sheets:
        raise InputError(f"{path.name}: is not an Excel workbook, so it has no sheet “{shorten(sheet)}”.")
    if sheet not in sheets:
        listed = ", ".join(f"“{shorten(name)}”" for name in sheets)
        raise InputError(f"{path.name}: has no sheet “{shorten(sheet)}”; its sheets are {listed}.")
    from coeval.datasets.tables import xlsx_file

    with tempfile.TemporaryDirectory(prefix="coeval-sheet-") as folder:
        copy = Path(folder) / path.name
        xlsx_file.put_first(path, sheet, copy)
        yield copy


def guess_table(path: Path) -> TableFormat:
    """Return the kind of a table file from its content, or from its ending if the content does not tell.

    Raises InputError for an old Excel file, or a web page.
    """
    check_size(path)
    start = read_head(path, 4096)
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(
            f"{path.name}: is an old or password-protected Excel file; save it as plain .xlsx or CSV."
        )
    if _PAGE.match(head):
        raise InputError(
            f"{path.name}: is a web page or XML, whatever its ending; open it in a spreadsheet program and save it as "
            ".xlsx or CSV."
        )
    by_content = next((kind for kind in reversed(TABLES) if kind.fits and kind.fits(path, head)), None)
    named = _by_ending(path)
    is_text = b"\0" not in start or start[:2] in (b"\xff\xfe", b"\xfe\xff")
    return by_content or (TABLES[0] if named is None or (named.fits and head and is_text) else named)


_PAGE = re.compile(rb"<(!doctype|html|head|meta|style|table|body|\?xml|!--)", re.I)


def _by_ending(path: Path) -> TableFormat | None:
    return next((kind for kind in TABLES if ending(path) in kind.endings), None)


PART = re.compile(r"(?P<name>.*?)-?(?P<number>\d+)-of-(?P<count>\d+)\.\w+")


def open_parts(folder: Path) -> Table:
    """Return the parts in a folder as one table, in the order of their numbers, with continuous row numbers.

    Raises InputError for a missing part, or one with other columns than the first.
    """
    paths = _list_parts(folder)
    tables = [open_table(path) for path in paths]
    expected = int(PART.fullmatch(paths[0].name)["count"])  # type: ignore[index]
    if len(paths) != expected:
        raise InputError(
            f"{folder.name}: contains {len(paths)} of the {expected} parts of a table; add the others."
        )
    for table in tables[1:]:
        if set(table.columns) != set(tables[0].columns):
            raise InputError(
                f"{table.name}: differs from {tables[0].name} in its columns "
                f"({shorten(', '.join(sorted(set(table.columns) ^ set(tables[0].columns))))}); "
                "import it separately."
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
    """Return whether a folder contains such parts and nothing else."""
    return path.is_dir() and bool(parts := _list_parts(path)) and len(parts) == len(list(path.iterdir()))
