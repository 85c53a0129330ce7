"""Read the first visible sheet of Excel workbooks (.xlsx). The first row names the columns; formulas give values."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.cell import ERROR_CODES
from openpyxl.utils import get_column_letter
from openpyxl.utils.escape import unescape
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula
from openpyxl.xml.constants import ARC_WORKBOOK, SHEET_MAIN_NS
from openpyxl.xml.functions import fromstring, tostring

from coeval.datasets.tables.table import MAX_HEADER, Row, Table, check_header, fit_cells, tell_headings
from coeval.datasets.text import check_size, shorten
from coeval.errors import CoevalError, InputError

MAX_UNZIPPED = 200_000_000
"""The largest unzipped size of a workbook, in bytes, because a small file can unzip to a huge one."""

MAX_SHEET_ROWS = 250_000
"""The largest number of rows in a sheet, including empty rows."""


MAX_PARTS = 20_000
"""The largest number of elements besides cells (styles, names, sheets); workbooks with more take minutes to open."""

_CELLS = re.compile(r"xl/(worksheets/.*|sharedStrings)\.xml", re.I)
"""The parts of a workbook that contain cells. All others are read when the workbook is opened."""

_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^>]*?\bref\s*=\s*[\"']([^\"']{1,40})")


def open_table(path: Path) -> Table:
    """Return the first visible sheet of a workbook as a table. Only the header is read at first.

    Raises InputError for a file that is not a workbook or is too large when unzipped, merged cells, an empty sheet or
    a bad header; the rows raise it for formulas without a value and for cells outside the columns.
    """
    sheets = list_sheets(path)
    _check_merged(path)
    where = f"{path.name}, sheet “{shorten(sheets[0])}”" if len(sheets) > 1 else path.name
    _, header = next(_records(path), (1, []))
    columns = check_header(where, "row", header, unnamed=True)
    notes = _tell_other_sheets(sheets)
    remedy = " ".join(["The first row must name every column.", *notes])

    def read(skipped: int) -> Iterator[Row]:
        for line, cells in islice(_records(path), 1 + skipped, None):
            padded = cells + [""] * (len(columns) - len(cells))
            yield fit_cells(where, "row", line, columns, padded, remedy)

    further, told = tell_headings(columns, read(0))
    return Table(path.name, tuple(filter(None, columns)), lambda: read(further), "row", (*notes, *told))


def _tell_other_sheets(sheets: Sequence[str]) -> tuple[str, ...]:
    """Return a note that names the sheets that are not read, or nothing if all are."""
    read, *others = (f"“{shorten(name)}”" for name in sheets)
    if not others:
        return ()
    return (
        f"The sheet {read} is read. Not read: {', '.join(others)}. Choose another under Sheet on the page, or with "
        "--sheet.",
    )


def list_sheets(path: Path) -> tuple[str, ...]:
    """Return the names of a workbook's visible sheets, in their order."""
    _check_archive(path)
    with _workbook(path, values=True) as book:
        return tuple(sheet.title for sheet in _list_visible(book))


def put_first(path: Path, sheet: str, copy: Path) -> None:
    """Write a copy of a workbook in which one of its visible sheets is the first, which is the one that is read.

    Raises InputError if the workbook lists its sheets elsewhere than Excel does.
    """
    try:
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as written:
            for member in archive.infolist():  # a name may occur twice
                part = archive.read(member)
                moved = _move_sheet(part, sheet) if member.filename == ARC_WORKBOOK else part
                written.writestr(member.filename, moved)
    except Exception as exc:  # a broken archive fails in zlib, in zipfile or in the parser
        raise _not_a_workbook(path) from exc
    if list_sheets(copy)[0] != sheet:  # another program's workbook may keep its list elsewhere
        raise InputError(
            f"{path.name}: save the sheet “{shorten(sheet)}” as a file of its own and import that."
        )


def _move_sheet(part: bytes, sheet: str) -> bytes:
    """Return the list of a workbook's sheets with this one first."""
    book = fromstring(part)
    sheets = book.find(f"{{{SHEET_MAIN_NS}}}sheets")
    moved = next(node for node in sheets if node.get("name") == sheet)
    sheets.remove(moved)
    sheets.insert(0, moved)
    return bytes(tostring(book))


def _check_archive(path: Path) -> None:
    check_size(path)
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            parts = 0 if size > MAX_UNZIPPED else _count_parts(archive)
    except Exception as exc:  # a broken archive fails in zlib, in zipfile or in the file system
        raise _not_a_workbook(path) from exc
    if size > MAX_UNZIPPED:
        raise InputError(
            f"{path.name}: contains {size:,} bytes when unzipped, and the limit is {MAX_UNZIPPED:,}; save "
            "the sheet as CSV, or split it."
        )
    if parts > MAX_PARTS:
        raise InputError(
            f"{path.name}: contains {parts:,} styles, names and sheets, and the limit is {MAX_PARTS:,}. "
            "Save the sheet as CSV, or copy its values into a new workbook."
        )


def _count_parts(archive: zipfile.ZipFile) -> int:
    """Return the number of elements in the parts without cells."""
    texts = (archive.read(name) for name in archive.namelist() if not _CELLS.fullmatch(name))
    return sum(text.count(b"<") - text.count(b"</") for text in texts)


def _check_merged(path: Path) -> None:
    """Raise InputError for merged cells: only the first contains the text, so the others would be read as empty."""
    with _workbook(path, values=True) as book, zipfile.ZipFile(path) as archive:
        sheet = _choose_sheet(path, book)
        before = b""
        try:
            with archive.open(sheet._worksheet_path) as part:
                while chunk := part.read(1 << 20):
                    if merged := _MERGED.search(before + chunk):
                        cells = shorten(merged[1].decode("ascii", "replace"))
                        raise InputError(
                            f"{path.name}, sheet '{shorten(sheet.title)}': cells {cells} are merged; "
                            "unmerge them and write the text into each cell."
                        )
                    before = chunk[-200:]
        except CoevalError:
            raise
        except Exception as exc:  # a broken archive fails in zlib, in zipfile or in the file system
            raise _not_a_workbook(path) from exc


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield every row with its number. Values are compared with formulas to detect formulas without a value."""
    with _workbook(path, values=True) as values, _workbook(path, values=False) as formulas:
        pairs = zip_longest(_sheet_rows(path, values), _sheet_rows(path, formulas), fillvalue=())
        for line, (row, written) in enumerate(pairs, start=1):
            cells = [
                _as_text(f"{path.name}, row {line}, cell {get_column_letter(column)}{line}", value, formula)
                for column, (value, formula) in enumerate(zip_longest(row, written), start=1)
            ]
            yield line, cells


@contextmanager
def _workbook(path: Path, *, values: bool) -> Iterator[openpyxl.Workbook]:
    with path.open("rb") as file:
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=values, keep_links=False)
        except Exception as exc:  # openpyxl raises any exception for a broken file: KeyError, ParseError, ...
            raise _not_a_workbook(path) from exc
        try:
            yield book
        finally:
            book.close()


def _list_visible(book: openpyxl.Workbook) -> list[Any]:
    return [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]


def _choose_sheet(path: Path, book: openpyxl.Workbook) -> Any:
    """Return the first visible sheet."""
    visible = _list_visible(book)
    if not visible:
        raise InputError(
            f"{path.name}: has no visible sheet; make the sheet with the table visible and save the file."
        )
    return visible[0]


def _sheet_rows(path: Path, book: openpyxl.Workbook) -> Iterator[tuple[object, ...]]:
    try:
        sheet = _choose_sheet(path, book)
        sheet.reset_dimensions()  # the size that a file states may be wrong or malicious
        for number, cells in enumerate(sheet.iter_rows(), start=1):
            if number > MAX_SHEET_ROWS:
                raise InputError(
                    f"{path.name}: extends beyond row {MAX_SHEET_ROWS:,}; delete the empty rows below the "
                    "data, or split the sheet."
                )
            yield _trim_row(path, number, tuple(_value_of(cell) for cell in cells))
    except CoevalError:
        raise
    except (
        Exception
    ) as exc:  # the sheet is parsed while its rows are read, so any exception is possible here as well
        raise _not_a_workbook(path) from exc


def _value_of(cell: Any) -> object:
    """Return the value of a cell, or an empty text if a formula has an empty result."""
    return "" if cell.value is None and cell.data_type == "str" else cell.value


def _trim_row(path: Path, number: int, row: tuple[object, ...]) -> tuple[object, ...]:
    width = max((column for column, value in enumerate(row, start=1) if value is not None), default=0)
    if width > MAX_HEADER:
        raise InputError(
            f"{path.name}, row {number}: extends to column {get_column_letter(width)}, and the limit is "
            f"{MAX_HEADER:,} columns; remove the columns to the right."
        )
    return row[:width]


def _as_text(place: str, value: object, formula: object) -> str:
    if value is None:
        if isinstance(formula, ArrayFormula | DataTableFormula) or str(formula or "").startswith("="):
            raise InputError(
                f"{place}: contains a formula without a value; open the file in a spreadsheet program and "
                "save it, or replace the formula by a value."
            )
        return ""
    if isinstance(value, str):
        if value in ERROR_CODES:
            raise InputError(f"{place}: contains the error {value}; replace it by a value.")
        return unescape(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float | int) and _is_rounded(value):
        raise InputError(
            f"{place}: contains a number of {len(str(abs(int(value))))} digits, and a workbook keeps only the first "
            "15; format the column as text, and write the numbers again."
        )
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_rounded(number: float) -> bool:
    """Return whether a number has more digits than a spreadsheet program keeps. An id would become another one."""
    digits = len(str(abs(int(number))))
    return digits > 15 and (isinstance(number, float) or number % 10 ** (digits - 15) == 0)


def _not_a_workbook(path: Path) -> InputError:
    return InputError(
        f"{path.name}: cannot be read as an Excel workbook; open it in a spreadsheet program and save it as "
        ".xlsx (without a password) or as CSV."
    )
