"""JSON Lines files: one object a line, its keys the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from coeval.datasets.tables.table import MAX_COLUMNS, Row, Table, check_header
from coeval.datasets.text import explain_json, open_text, parse_json
from coeval.errors import InputError


def open_table(path: Path) -> Table:
    """A JSONL file as a table whose columns are the keys of all its objects, in order of appearance.

    A value that is not text becomes its JSON text, null an empty cell; lists and objects are also named
    in ``Row.nested``. The file is read once to find the keys.

    Raises InputError for broken text, an empty file, a line that is not a JSON object, too many keys.
    """
    columns: dict[str, None] = {}
    for line, record in read_records(path):
        columns.update(dict.fromkeys(record))
        if len(columns) > MAX_COLUMNS:
            raise InputError(
                f"{path.name}, line {line}: at most {MAX_COLUMNS} different keys are read; "
                "put what varies from line to line under one key."
            )
    names = check_header(path.name, "line", list(columns))

    def rows() -> Iterator[Row]:
        for line, record in read_records(path):
            cells = {name: _as_text(record.get(name)) for name in names}
            nested = {name for name, value in record.items() if isinstance(value, list | dict)}
            yield Row(line, cells, frozenset(nested))

    return Table(path.name, names, rows)


def read_records(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Every object with the number of its line; raises InputError for a line that holds none."""
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
        raise InputError(f"{place}: {explain_json(exc)}; mend the line.") from exc
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
