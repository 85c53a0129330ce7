"""CSV, JSON Lines and JSON files as tables."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from coeval.datasets.tables.table import MAX_HEADER, Row, Table, check_header, fit_cells, tell_headings
from coeval.datasets.text import HEAD, explain_json, load_json, open_text, parse_json
from coeval.errors import InputError
from coeval.safe_csv import INSTANCE_COLUMNS, restore

LONGEST_FIELD = 1 << 26
"""The csv module's limit for a cell, far above our own limit, so that our error names the column."""


MARKS = ",\t;|"
SNIFFED = 20
"""The number of records that are read to find the separator."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file of separated values is written: a first line such as "sep=;" is not a record."""

    separator: str
    stated: bool = False
    quoted: bool = True


def open_csv(path: Path) -> Table:
    """Return a CSV file as a table. Only the header is read at first.

    Raises InputError for broken text, an empty file or a bad header; the rows raise it for a wrong number of cells or
    unmatched quotes.
    """
    dialect = _find_dialect(path)
    _, header = next(read_cells(path, dialect), (1, []))
    columns = check_header(path.name, "line", header, unnamed=True)

    ours = columns == INSTANCE_COLUMNS
    name = path.name  # a path computes its name at each access

    def read(skipped: int) -> Iterator[Row]:
        for line, cells in islice(read_cells(path, dialect), 1 + skipped, None):
            yield fit_cells(name, "line", line, columns, list(map(restore, cells)) if ours else cells)

    further, notes = tell_headings(columns, read(0))
    if not dialect.quoted:
        notes += (
            "Quotation marks are read as a part of the texts, because they do not enclose whole cells.",
        )
    return Table(name, tuple(filter(None, columns)), lambda: read(further), notes=notes)


def _find_dialect(path: Path) -> Dialect:
    """Return the separator that splits the first records into the same number of cells, and how quotes are read."""
    with open_text(path) as file:
        first = file.readline(1000).strip().strip('"')
        if re.fullmatch(r"sep=.", first, re.I):
            return Dialect(first[-1], stated=True)
        file.seek(0)
        text = file.read(HEAD)
    dialects = [_sniff(text, mark) for mark in MARKS]
    _, width, place = max((even, width, -place) for place, (even, width) in enumerate(dialects))
    separator = MARKS[-place] if width > 1 else ","
    return Dialect(separator, quoted=separator != "\t" or _is_quoted(path))


def _sniff(text: str, mark: str) -> tuple[bool, int]:
    """Return whether a separator splits all first records evenly into several cells, and the width of the first."""
    try:
        records = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        widths = [len(cells) for cells in islice(records, SNIFFED) if cells]
    except csv.Error:
        return False, 0
    whole = widths[:-1] if len(widths) < SNIFFED and len(text) >= HEAD else widths
    return len(set(whole)) == 1 and widths[0] > 1, widths[0] if widths else 0


def _is_quoted(path: Path) -> bool:
    """Return whether quotation marks enclose the cells of a file that is separated by tabs.

    Many such files have no quoting. A mark at the beginning of a cell would then swallow rows until the next one.
    """
    try:
        return not any(
            "\t" in cell and "\n" in cell for _, cells in read_cells(path, Dialect("\t")) for cell in cells
        )
    except InputError:
        return False


def read_cells(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield every record that is not blank, with the number of its first line."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    with open_text(path) as file:
        if dialect.stated:
            file.readline()
        if dialect.quoted:
            reader = csv.reader(file, delimiter=dialect.separator, strict=True)
        else:
            reader = csv.reader(file, delimiter=dialect.separator, strict=True, quoting=csv.QUOTE_NONE)
        while True:
            line = reader.line_num + 1 + dialect.stated
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
        if len(columns) > MAX_HEADER:
            raise InputError(
                f"{path.name}, line {line}: the file has more than {MAX_HEADER:,} different keys; put keys "
                "that vary from line to line under one key."
            )
    names = check_header(path.name, "line", list(columns))

    def rows() -> Iterator[Row]:
        for line, record in read_records(path):
            yield _build_row(line, names, record)

    return Table(path.name, names, rows)


RECORDS = ("data", "records", "rows", "examples", "instances", "items", "results")
"""The usual names of the list of records in a JSON file."""


def open_json(path: Path) -> Table:
    """Return a JSON file as a table: a list of objects, alone or under a name, or columns as pandas writes them.

    Raises InputError for a broken file, or one that holds no records.
    """
    records = [_check_record(f"{path.name}, entry {number}", record)
               for number, record in enumerate(_find_records(path.name, load_json(path)), 1)]  # fmt: skip
    names = check_header(path.name, "entry", list(dict.fromkeys(name for each in records for name in each)))

    def rows() -> Iterator[Row]:
        for number, record in enumerate(records, 1):
            yield _build_row(number, names, record)

    return Table(path.name, names, rows, "entry")


def _find_records(name: str, value: Any) -> Sequence[object]:
    """Return the records of a JSON value; raise InputError if it has none."""
    if isinstance(value, list):
        return value
    parts = value if isinstance(value, dict) else {}
    lists = {key: part for key, part in parts.items() if isinstance(part, list) and part}
    header = lists.get("columns", [])
    if header and all(isinstance(row, list) and len(row) == len(header) for row in lists.get("data", [None])):
        return [dict(zip(map(str, header), row, strict=True)) for row in lists["data"]]
    of_objects = {key: part for key, part in lists.items() if all(isinstance(each, dict) for each in part)}
    named = next((key for key in RECORDS if key in of_objects), None)
    if named or len(of_objects) == 1:
        return of_objects[named or next(iter(of_objects))]
    cells = [list(part.values()) if isinstance(part, dict) else part for part in parts.values()]
    if parts and all(isinstance(part, list) for part in cells) and len({len(part) for part in cells}) == 1:
        return [dict(zip(parts, row, strict=True)) for row in zip(*cells, strict=True)]
    if any(isinstance(part, str) for part in parts.values()):
        return [parts]
    raise InputError(
        f'{name}: holds no list of records; write [{{"input": "...", "output": "..."}}, ...], or one object on each '
        "line (JSON Lines)."
    )


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
    return _check_record(place, record)


def _check_record(place: str, record: object) -> Mapping[str, object]:
    if not isinstance(record, dict):
        raise InputError(f'{place}: is not a JSON object; write {{"input": "...", "output": "..."}}.')
    stripped = {key.strip(): value for key, value in record.items()}
    if len(stripped) < len(record) or "" in stripped:
        raise InputError(f"{place}: has an empty key, or the same key twice; give each value its own key.")
    return stripped


def _build_row(line: int, names: Sequence[str], record: Mapping[str, object]) -> Row:
    cells = {name: _as_text(record.get(name)) for name in names}
    nested = {name for name, value in record.items() if isinstance(value, list | dict)}
    return Row(line, cells, frozenset(nested))


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
