"""Records of a tool that writes the same ones as JSON, as JSON Lines or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from coeval.datasets.json_nodes import LINES, PEEKED, Node, load_node, peek, read_head
from coeval.datasets.tables import csv_file, jsonl_file
from coeval.errors import InputError

_TABLES = (".csv", ".tsv")


def load_records(path: Path) -> Iterator[Node]:
    """The records of a list, of the list under ``data``, or of a table, whose cells are texts.

    Raises InputError for a broken file, and for an entry that is no object.
    """
    if path.suffix.lower() in _TABLES:
        yield from _rows(path)
        return
    if path.suffix.lower() in LINES:  # one record at a time is in memory
        for number, (_, fields) in enumerate(jsonl_file.read_records(path), 1):
            yield Node(dict(fields), f"{path.name}, entry {number}")
        return
    file = load_node(path)
    records = [file] if isinstance(file.value, dict) and "data" not in file.value else None
    for record in records or (file.get("data") if isinstance(file.value, dict) else file).items():
        if not isinstance(record.value, dict):
            raise InputError(f"{record.place}: is no object; fetch the file again.")
        yield record


def peek_records(path: Path) -> list[Node]:
    """The first records of a file; none where it has none."""
    if path.is_file() and path.suffix.lower() in _TABLES:
        try:
            rows = list(islice(csv.DictReader(io.StringIO(read_head(path), newline="")), PEEKED))
        except csv.Error:
            return []
        return [Node({name: cell for name, cell in row.items() if name and cell}, path.name) for row in rows]
    head = peek(path)
    if isinstance(head.value, dict):
        head = (
            head.get("data") if isinstance(head.value.get("data"), list) else Node([head.value], head.place)
        )
    records = head.items() if isinstance(head.value, list) else []
    return [record for record in records if isinstance(record.value, dict)]


def _rows(path: Path) -> Iterator[Node]:
    table = csv_file.open_table(path)
    for row in table.rows():
        cells = {name: text for name, text in row.cells.items() if text}
        yield Node(cells, f"{table.name}, {table.unit} {row.line}")
