"""JSON that another program wrote, read with its place in hand: what is amiss is named where it stands."""

from __future__ import annotations

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
from coeval.datasets.tables import jsonl_file
from coeval.datasets.text import check_text, load_json, parse_json, shorten
from coeval.domain.chats import parse_messages, render_chat
from coeval.errors import InputError

LINES = (".jsonl", ".ndjson")
HEAD = 1_000_000
"""Bytes of a file of lines that are looked at to tell what it is."""

PEEKED = 20
"""Entries of a list that are looked at to tell what a file is."""


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and where it stands in its file. What is not there is a node that holds None."""

    value: Any
    place: str

    def get(self, *names: str) -> Node:
        """The value under the first of the names that is there and not null."""
        fields = self.value if isinstance(self.value, dict) else {}
        name = next((name for name in names if fields.get(name) is not None), names[0])
        return Node(fields.get(name), f"{self.place}, '{shorten(name)}'")

    def path(self, *names: str) -> Node:
        """The value under a name, under a name, and so on."""
        node = self
        for name in names:
            node = node.get(name)
        return node

    def items(self) -> list[Node]:
        """The entries of a list; none where there is nothing. Raises InputError for anything else."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise InputError(f"{self.place}: is not a list; fetch the file again.")
        return [Node(entry, f"{self.place}, entry {number}") for number, entry in enumerate(self.value, 1)]

    def entries(self) -> list[tuple[str, Node]]:
        """The names and values of an object; none where there is nothing. Raises InputError for anything else."""
        if self.value is None:
            return []
        if not isinstance(self.value, dict):
            raise InputError(f"{self.place}: is not an object; fetch the file again.")
        return [(check_text(name, self.place), self.get(name)) for name in self.value]

    def text(self) -> str:
        """A text as it is, messages as a conversation, any other value as JSON; empty where there is nothing."""
        if self.value is None:
            return ""
        if isinstance(self.value, str):
            return check_text(self.value, self.place)
        turns = parse_messages(self.value)
        words = render_chat(turns) if turns else json.dumps(self.value, ensure_ascii=False)
        return check_text(words, self.place)

    def chat(self) -> str:
        """As ``text``, and a conversation too where its messages stand in the text as JSON, or under "messages".

        Of a single message only the words are given.
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
        """A short text, without the blanks around it."""
        words = self.text().strip()
        if len(words) > 1_000:
            raise InputError(f"{self.place}: has {len(words):,} characters and 1,000 fit; shorten it.")
        return words

    def number(self) -> float | None:
        """A number; true and false are 1 and 0. None for anything else, and for one without end."""
        if not isinstance(self.value, int | float):
            return None
        try:
            number = float(self.value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None

    def time(self) -> str:
        """A time, given as ISO 8601 or in seconds since 1970, as it is stored; empty where it is neither."""
        try:
            if isinstance(self.value, int | float) and not isinstance(self.value, bool):
                moment = datetime.fromtimestamp(self.value, UTC)
            else:
                moment = datetime.fromisoformat(str(self.value or "").strip())
            return write_time(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
        except (ValueError, OverflowError, OSError):
            return ""


def load_node(path: Path) -> Node:
    """A JSON file, or the records of a JSON Lines file as a list; raises InputError where it is broken."""
    if path.suffix.lower() in LINES:
        return Node([dict(record) for _, record in jsonl_file.read_records(path)], path.name)
    return Node(load_json(path), path.name)


def peek(path: Path) -> Node:
    """What a file of JSON begins with, lists cut short: enough to tell what wrote it. None for any other file.

    Raises InputError for a file that is named ``.json`` and is none.
    """
    stat = path.stat() if path.is_file() else None
    if stat is None or path.suffix.lower() not in (".json", *LINES):
        return Node(None, path.name)
    return Node(_peek(path, stat.st_mtime_ns, stat.st_size), path.name)


@lru_cache(maxsize=64)
def _peek(path: Path, changed: int, size: int) -> object:
    """Every format asks what a file holds: it is read for the first of them."""
    if path.suffix.lower() not in LINES:
        return _cut(load_json(path))
    return [_cut(value) for value in islice(_parse_lines(read_head(path).splitlines()), PEEKED)]


def read_head(path: Path) -> str:
    """What a text file begins with: a large one is not gone through to tell what it is."""
    with path.open("rb") as file:
        return file.read(HEAD).decode("utf-8-sig", "ignore")


def _parse_lines(lines: Iterable[str]) -> Iterator[object]:
    for line in lines:
        if line.strip():
            try:
                yield parse_json(line)
            except (ValueError, RecursionError):
                return  # whoever reads the file says what is wrong with it


def _cut(value: object, depth: int = 6) -> object:
    if isinstance(value, dict):
        return {name: _cut(inner, depth - 1) for name, inner in islice(value.items(), 200)} if depth else {}
    if isinstance(value, list):
        return [_cut(inner, depth - 1) for inner in value[:PEEKED]] if depth else []
    return value[:200] if isinstance(value, str) else value
