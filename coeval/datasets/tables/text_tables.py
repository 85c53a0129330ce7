"""CSV and JSON Lines files as tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from coeval.datasets.tables.table import MAX_COLUMNS, Row, Table, check_header, fit_cells
from coeval.datasets.text import explain_json, open_text, parse_json
from coeval.errors import InputError

LONGEST_FIELD = 1 << 26
"""The csv module's limit for a cell, far above our own limit, so that our error names the column."""


def open_csv(path: Path) -> Table:
    """Return a CSV file as a table. Only the header is read at first.

    Raises InputError for broken text, an empty file or a bad header; the rows raise it for a wrong number of cells or
    unmatched quotes.
    """
    with open_text(path) as file:
        separator = _guess_separator(file.readline())
    _, header = next(_records(path, separator), (1, []))
    columns = check_header(path.name, "line", header, unnamed=True)

    name = path.name  # a path computes its name at each access

    def rows() -> Iterator[Row]:
        for line, cells in islice(_records(path, separator), 1, None):
            yield fit_cells(name, "line", line, columns, cells)

    return Table(name, tuple(filter(None, columns)), rows)


def _guess_separator(header: str) -> str:
    """Return a comma if the header has one, or else a tab or a semicolon."""
    return next((mark for mark in ",\t;" if mark in header), ",")


def _records(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every record that is not blank, with the number of its first line."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
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
        return f"holds a cell of more than {LONGEST_FIELD:,} characters; shorten it, or close the quote before it."
    return f"cannot be read as CSV ({text}); save the file again as CSV in UTF-8."


def open_jsonl(path: Path) -> Table:
    """Return a JSONL file as a table whose columns are the keys of all objects, in order of appearance.

    Values other than text become JSON, and null an empty cell. ``Row.nested`` names the lists and objects. The file
    is read once to find the keys.

    Raises InputError for broken text, an empty file, a line that is not a JSON object, or too many keys.
    """
    columns: dict[str, None] = {}
    for line, record in read_records(path):
        columns.update(dict.fromkeys(record))
        if len(columns) > MAX_COLUMNS:
            raise InputError(
                f"{path.name}, line {line}: the file has more than {MAX_COLUMNS} different keys; put keys "
                "that vary from line to line under one key."
            )
    names = check_header(path.name, "line", list(columns))

    def rows() -> Iterator[Row]:
        for line, record in read_records(path):
            cells = {name: _as_text(record.get(name)) for name in names}
            nested = {name for name, value in record.items() if isinstance(value, list | dict)}
            yield Row(line, cells, frozenset(nested))

    return Table(path.name, names, rows)


def read_records(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield every object with its line number; raise InputError for any other line."""
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, _parse_line(f"{path.name}, line {number}", line)


def _parse_line(place: str, line: str) -> Mapping[str, object]:
    try:
        record = parse_json(line)
    except json.JSONDecodeError as exc:
        raise InputError(
            f"{place}, column {exc.colno}: is not JSON ({exc.msg}); each line must be one complete object."
        ) from exc
    except (RecursionError, ValueError) as exc:
        raise InputError(f"{place}: {explain_json(exc)}; correct the line.") from exc
    if not isinstance(record, dict):
        raise InputError(f'{place}: is not a JSON object; write {{"input": "...", "output": "..."}}.')
    stripped = {key.strip(): value for key, value in record.items()}
    if len(stripped) < len(record) or "" in stripped:
        raise InputError(f"{place}: has an empty key, or the same key twice; give each value its own key.")
    return stripped


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
