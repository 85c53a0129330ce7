"""Read other programs' JSON with the position of each value, so that errors can name the place."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from coeval.clock import write_time
from coeval.datasets.tables import text_tables
from coeval.datasets.text import (
    HEAD,
    check_text,
    find_json,
    load_json,
    parse_json,
    read_head,
    shorten,
)
from coeval.domain.tasks import parse_messages, render_chat
from coeval.errors import InputError

PEEKED = 20
"""The number of list entries that are read to recognise a file."""


def decode(value: Any) -> Any:
    """Return the value of a JSON text, as tables hold lists and objects; return any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{", '"'):
        return value
    return _decode(value)


@lru_cache(maxsize=8)
def _decode(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and its place in the file. If the value is missing, it is None.

    The parts of a JSON text can be read as those of a value.
    """

    value: Any
    place: str

    def get(self, *names: str) -> Node:
        """Return the value of the first of these names that exists and is not null."""
        value = decode(self.value)
        fields = value if isinstance(value, dict) else {}
        name = next((name for name in names if fields.get(name) is not None), names[0])
        return Node(fields.get(name), f"{self.place}, '{shorten(name)}'")

    def path(self, *names: str) -> Node:
        """Return the nested value at this path of names."""
        node = self
        for name in names:
            node = node.get(name)
        return node

    def items(self) -> list[Node]:
        """Return the entries of a list, none if missing; raise InputError for any other value."""
        value = decode(self.value)
        if value is None:
            return []
        if not isinstance(value, list):
            raise InputError(f"{self.place}: is not a list; export the file again.")
        return [Node(entry, f"{self.place}, entry {number}") for number, entry in enumerate(value, 1)]

    def entries(self) -> list[tuple[str, Node]]:
        """Return the names and values of an object, none if missing; raise InputError for any other value."""
        value = decode(self.value)
        if value is None:
            return []
        if not isinstance(value, dict):
            raise InputError(f"{self.place}: is not an object; export the file again.")
        return [(check_text(name, self.place), self.get(name)) for name in value]

    def text(self) -> str:
        """Return a text unchanged, messages as a conversation, and other values as JSON; return "" if there
        is no value.
        """
        if self.value is None:
            return ""
        if isinstance(self.value, str):
            return check_text(self.value, self.place)
        turns = parse_messages(self.value)
        words = render_chat(turns) if turns else json.dumps(self.value, ensure_ascii=False)
        return check_text(words, self.place)

    def chat(self) -> str:
        """Return the same as ``text``, but also recognise conversations in a JSON text or under "messages".

        For a single message, only its words are returned.
        """
        value = self.value
        if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            try:
                value = parse_json(value)
            except (ValueError, RecursionError):
                return self.text()
        inner = value.get("messages", value) if isinstance(value, dict) else value
        message = [inner] if isinstance(inner, dict) and "role" in inner else inner
        turns = parse_messages(message)
        if len(turns) == 1:
            return check_text(turns[0].content, self.place)
        return check_text(render_chat(turns), self.place) if turns else self.text()

    def name(self) -> str:
        """Return a short text without surrounding blanks."""
        words = self.text().strip()
        if len(words) > 1_000:
            raise InputError(f"{self.place}: has {len(words):,} characters; shorten it to 1,000.")
        return words

    def number(self) -> float | None:
        """Return a finite number; true and false are 1 and 0. Return None for any other value."""
        if not isinstance(self.value, int | float):
            return None
        try:
            number = float(self.value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None

    def time(self) -> str:
        """Return a time (ISO 8601, or (milli)seconds since 1970) in the stored form; empty if it is neither."""
        try:
            if isinstance(self.value, int | float) and not isinstance(self.value, bool):
                moment = datetime.fromtimestamp(self.value / (1000 if self.value > 1e11 else 1), UTC)
            else:
                moment = datetime.fromisoformat(str(self.value or "").strip())
            return write_time(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
        except (ValueError, OverflowError, OSError):
            return ""


def load_node(path: Path) -> Node:
    """Return the value of a JSON file, or a JSON Lines file's records as a list; raise InputError if it is broken."""
    if find_json(path) == "lines":
        return Node([dict(record) for _, record in text_tables.read_records(path)], path.name)
    return Node(load_json(path), path.name)


def peek(path: Path) -> Node:
    """Return the beginning of a JSON file, with lists shortened, so that its tool can be recognised; None for
    other files.

    Raises InputError for a file that begins as JSON and is broken.
    """
    if not find_json(path):
        return Node(None, path.name)
    stat = path.stat()
    return Node(_peek(path, stat.st_mtime_ns, stat.st_size), path.name)


@lru_cache(maxsize=64)
def _peek(path: Path, changed: int, size: int) -> object:
    """Return the beginning of a file's JSON. The result is cached, because every format requests it."""
    if find_json(path) != "lines":
        return _cut(load_json(path))
    text = read_head(path, HEAD).decode("utf-8-sig", "ignore")
    return [_cut(value) for value in islice(_parse_lines(io.StringIO(text)), PEEKED)]


def _parse_lines(lines: Iterable[str]) -> Iterator[object]:
    for line in lines:
        if line.strip():
            try:
                yield parse_json(line)
            except (ValueError, RecursionError):
                return  # the reader of the whole file reports the error


def _cut(value: object, depth: int = 6) -> object:
    if isinstance(value, dict):
        return {name: _cut(inner, depth - 1) for name, inner in islice(value.items(), 200)} if depth else {}
    if isinstance(value, list):
        return [_cut(inner, depth - 1) for inner in value[:PEEKED]] if depth else []
    return value[:200] if isinstance(value, str) else value
