"""A table of answers to instances: what CSV, JSONL and Excel imports share."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from coeval.datasets.seen import Seen
from coeval.datasets.source import Rows, Source
from coeval.datasets.tables.table import Row, Table, find_column, match_columns, require_columns
from coeval.datasets.text import shorten
from coeval.domain import Instance, Task
from coeval.domain.chats import Turn, is_chat, parse_messages, render_chat
from coeval.errors import InputError

FIELDS = ("instance", "input", "output", "document", "system", "reference")
"""The fields an instance has; every other column is kept as its context."""

CHATS = ("messages", "conversation", "conversations")
"""Columns that hold a conversation, and stand for the input and the output where a file names neither."""

_MADE_UP = re.compile(r"d[0-9a-f]{12}", re.ASCII)

MAX_NAME = 1_000
"""Longest instance, document or system name, in characters."""


def open_instances(
    table: Table,
    slug: str,
    mapping: Mapping[str, str] | None,
    *,
    guess: bool = False,
    empty_outputs: bool = False,
) -> Source:
    """A study of instances alone. ``guess`` also accepts synonyms of the column names, ``empty_outputs`` rows whose
    writer said nothing.

    An instance without an id gets the number of its row; one without a document gets one made from its
    input, so that the same input always means the same document.

    Raises InputError for a missing column, an empty input or output, a nested one, or a duplicate id.
    """
    columns = match_instances(table, mapping, guess=guess)
    require_columns(table, columns, ("input", "output"))
    instances = Rows(lambda: (instance for _, instance in _read(table, columns, empty_outputs)))
    repeated = Seen(instance.external_id for instance in instances).repeated()
    if repeated:
        _refuse_repeated(table, columns, repeated)
    return Source(_name_task(slug, columns), instances)


def match_instances(
    table: Table, mapping: Mapping[str, str] | None, *, guess: bool = False
) -> dict[str, str]:
    """The column that each field is read from, as ``match_columns`` gives it.

    A conversation is the output where there is no other. Where there is no input either it is both: its last reply
    is the output, and what was said before is the input.
    """
    columns = match_columns(table, FIELDS, mapping, guess=guess)
    chat = find_column(table.columns, CHATS, taken=columns.values())
    if chat and "output" not in columns:
        columns["output"] = chat
    elif chat and "input" not in columns:
        columns["input"] = chat
    if "input" not in columns and find_column([columns.get("output", "")], CHATS):
        columns["input"] = columns["output"]
    return columns


def _read(
    table: Table, columns: Mapping[str, str], empty_outputs: bool = False
) -> Iterator[tuple[int, Instance]]:
    """Every instance with its line."""
    for number, row in enumerate(table.rows(), start=1):
        yield row.line, _Reader(table, columns, row, empty_outputs).read(number)


def _refuse_repeated(table: Table, columns: Mapping[str, str], repeated: Collection[int]) -> None:
    lines: dict[str, int] = {}
    for line, instance in _read(table, columns, empty_outputs=True):
        name = instance.external_id
        if hash(name) in repeated and lines.setdefault(name, line) != line:
            raise InputError(
                f"{table.name}: {table.unit}s {lines[name]} and {line} have the same instance id "
                f"'{shorten(name)}'; give each its own."
            )


def name_document(text: str) -> str:
    """A name for the document that an input is: the same for the same text, in every file.

    >>> name_document("What is snow?") == name_document(" What is snow? ")
    True
    """
    return "d" + hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def is_made_up(document: str) -> bool:
    """Whether a document's name was made by ``name_document``, so that it tells a reader nothing.

    >>> is_made_up(name_document("What is snow?")), is_made_up("dream-7")
    (True, False)
    """
    return _MADE_UP.fullmatch(document) is not None


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row, its fields by name."""

    table: Table
    columns: Mapping[str, str]
    row: Row
    empty_outputs: bool = False

    def read(self, number: int) -> Instance:
        text, output = self._texts()
        return Instance(
            external_id=self._name("instance") or str(number),
            input=text,
            output=output,
            document=self._name("document") or name_document(text),
            system=self._name("system"),
            reference=self.row.cells.get(self.columns.get("reference", ""), ""),
            context=self._context(),
        )

    def _texts(self) -> tuple[str, str]:
        """Input and output; of one conversation that is both, its last reply is the output."""
        if self.columns["input"] != self.columns["output"]:
            return self._text("input"), self._text("output")
        turns = self._turns("output")
        replies = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
        if not replies or not replies[-1]:
            raise InputError(
                f"{self._place('output')}: has no turn of the assistant that answers another one; add it, or read "
                "the input from another column, so that the whole conversation is the output."
            )
        before, reply = turns[: replies[-1]], turns[replies[-1] :]
        plain = len(reply) == 1 and reply[0].content.strip() and not is_chat(reply[0].content)
        return render_chat(before), reply[0].content if plain else render_chat(reply)

    def _turns(self, field: str) -> tuple[Turn, ...]:
        """The turns of a cell that holds a conversation; none where it holds a text."""
        cell = self.row.cells[self.columns[field]]
        if not cell.lstrip().startswith("["):
            return ()
        try:
            return parse_messages(json.loads(cell))
        except (ValueError, RecursionError):
            return ()

    def _text(self, field: str) -> str:
        turns = self._turns(field)
        text = render_chat(turns) if turns else self._flat(field)
        if text.strip():
            return text
        if field == "output" and self.empty_outputs:
            return ""
        other = ", or say that empty outputs are answers too" if field == "output" else ""
        raise InputError(f"{self._place(field)}: is empty; write the {field} or remove the row{other}.")

    def _name(self, field: str) -> str:
        if field not in self.columns:
            return ""
        name = self._flat(field).strip()
        if len(name) > MAX_NAME:
            raise InputError(
                f"{self._place(field)}: has {len(name):,} characters and the {field} may have {MAX_NAME:,}; "
                "shorten it."
            )
        return name

    def _flat(self, field: str) -> str:
        if self.columns[field] in self.row.nested:
            raise InputError(
                f"{self._place(field)}: holds a list or an object; the {field} must be one text, or a conversation: "
                "a list of turns, each with role and content."
            )
        return self.row.cells[self.columns[field]]

    def _place(self, field: str) -> str:
        return self.table.place(self.row.line, self.columns[field])

    def _context(self) -> dict[str, str]:
        used = set(self.columns.values())
        return {name: text for name, text in self.row.cells.items() if name not in used and text}


def _name_task(slug: str, columns: Mapping[str, str]) -> Task:
    def title(field: str) -> str:
        name = columns[field].replace("_", " ").strip()
        return name[:1].upper() + name[1:]

    if columns["input"] == columns["output"]:
        return Task(slug=slug, name=slug, input_field="Conversation", output_field="Reply")
    return Task(slug=slug, name=slug, input_field=title("input"), output_field=title("output"))
