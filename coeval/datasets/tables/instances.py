"""A table of instances: the common part of CSV, JSONL and Excel imports."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from coeval.datasets.source import Rows, Seen, Source
from coeval.datasets.tables.table import Row, Table, find_column, keep_columns, match_columns, require_columns
from coeval.datasets.text import shorten
from coeval.domain import ColumnRole, Instance, Task
from coeval.domain.tasks import Turn, is_chat, parse_messages, render_chat
from coeval.errors import InputError

FIELDS = ("instance", "input", "output", "document", "system", "reference")
"""The fields of an instance. Other columns are kept as its context."""

CONTEXT = "context"
"""The name in a mapping for the other columns to keep. Without it, all are kept."""

CHATS = ("messages", "conversation", "conversations")
"""Columns with a conversation, which are used if a file has no input or output column."""

_MADE_UP = re.compile(r"d[0-9a-f]{12}", re.ASCII)

MAX_NAME = 1_000
"""The longest name of an instance, document or system, in characters."""

MAX_SOURCE_ID = 100
"""The longest source id, in characters. A longer cell is a text to show."""


def open_instances(
    table: Table,
    slug: str,
    mapping: Mapping[str, str] | None,
    *,
    guess: bool = False,
    empty_outputs: bool = False,
) -> Source:
    """Return a study of instances alone.

    ``guess`` also accepts synonyms of the column names. ``empty_outputs`` also accepts rows with an empty output.

    An instance without an id gets its row number. An instance without a document gets one made from its input, so
    that the same input always means the same document. If the document column contains texts, judge and people see
    it, and the documents' names are made from the texts.

    Raises InputError for a missing column, an empty or nested input or output, or a duplicate id.
    """
    columns = match_instances(table, mapping, guess=guess)
    require_columns(table, columns, ("input", "output"))
    table = keep_columns(table, columns, (mapping or {}).get(CONTEXT, ""))
    source = columns.get("document", "")
    holds_texts = False
    seen = Seen()
    for _, instance in _read(table, columns, empty_outputs, keeps_source=True):
        seen.add(instance.external_id)
        holds_texts = holds_texts or is_text(instance.context.get(source, ""))
    if repeated := seen.repeated():
        _refuse_repeated(table, columns, repeated)
    task = _name_task(slug, columns)
    if holds_texts:
        task = replace(task, columns={source: ColumnRole.SHOWN})
    return Source(
        task,
        Rows(
            lambda: (
                instance for _, instance in _read(table, columns, empty_outputs, keeps_source=holds_texts)
            )
        ),
        notes=table.notes,
        fields=columns,
        columns=table.columns,
    )


def match_instances(
    table: Table, mapping: Mapping[str, str] | None, *, guess: bool = False
) -> dict[str, str]:
    """Return the column of each field, as in ``match_columns``.

    Without an output column, a conversation is the output. Without an input column as well, its last reply is the
    output, and the turns before it are the input.
    """
    fields = {field: column for field, column in (mapping or {}).items() if field != CONTEXT}
    columns = match_columns(table, FIELDS, fields, guess=guess)
    chat = find_column(table.columns, CHATS, taken=columns.values())
    if chat and "output" not in columns:
        columns["output"] = chat
    elif chat and "input" not in columns:
        columns["input"] = chat
    if "input" not in columns and find_column([columns.get("output", "")], CHATS):
        columns["input"] = columns["output"]
    return columns


def _read(
    table: Table, columns: Mapping[str, str], empty_outputs: bool = False, *, keeps_source: bool = False
) -> Iterator[tuple[int, Instance]]:
    """Yield each instance with its line number. Set ``keeps_source`` if the document column contains texts."""
    for number, row in enumerate(table.rows(), start=1):
        yield row.line, _Reader(table, columns, row, empty_outputs, keeps_source).read(number)


def _refuse_repeated(table: Table, columns: Mapping[str, str], repeated: Collection[int]) -> None:
    lines: dict[str, int] = {}
    alike: tuple[str, int, int] | None = None
    pairs: set[tuple[str, str]] = set()
    by_system = "system" in columns
    for line, instance in _read(table, columns, empty_outputs=True, keeps_source=True):
        name = instance.external_id
        if hash(name) not in repeated:
            continue
        by_system = by_system and (name, instance.system) not in pairs
        pairs.add((name, instance.system))
        if lines.setdefault(name, line) != line:
            alike = alike or (name, lines[name], line)
    if alike is None:
        return
    name, first, second = alike
    column = shorten(columns.get("instance", ""))
    duplicates = (
        f"{table.name}: {table.unit}s {first} and {second} have the same instance id '{shorten(name)}' in the "
        f"column '{column}'"
    )
    if not by_system:
        raise InputError(f"{duplicates}; give each its own.")
    once = f"{duplicates}, but with another system: '{column}' is rather the source id"
    raise InputError(
        f"{once} (--map document={column}).",
        told=f"{once}. Choose that role for it under Columns.",
    )


def is_text(cell: str) -> bool:
    """Return whether a cell of a document column is a text to show, not a source id.

    >>> is_text("article-7"), is_text("It rained."), is_text("It rained.\\nThen it stopped."), is_text("x" * 101)
    (False, False, True, True)
    """
    stripped = cell.strip()
    return len(stripped) > MAX_SOURCE_ID or "\n" in stripped or "\r" in stripped


def name_document(text: str) -> str:
    """Return a document name for an input. The same text always gets the same name.

    >>> name_document("What is snow?") == name_document(" What is snow? ")
    True
    """
    return "d" + hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def document_of(instance: Instance) -> str:
    """Return the document of an instance: the named one, or one made from its input."""
    return instance.document or name_document(instance.input)


def is_made_up(document: str) -> bool:
    """Return whether ``name_document`` made this name, which is then meaningless to readers.

    >>> is_made_up(name_document("What is snow?")), is_made_up("dream-7")
    (True, False)
    """
    return _MADE_UP.fullmatch(document) is not None


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row, with access to its fields by name."""

    table: Table
    columns: Mapping[str, str]
    row: Row
    empty_outputs: bool = False
    keeps_source: bool = False
    """True if the document column contains texts. They stay in the context, and ids are made from them."""

    def read(self, number: int) -> Instance:
        text, output = self._texts()
        return Instance(
            external_id=self._name("instance") or str(number),
            input=text,
            output=output,
            document=self._document() or name_document(text),
            system=self._name("system"),
            reference=self.row.cells.get(self.columns.get("reference", ""), ""),
            context=self._context(),
        )

    def _texts(self) -> tuple[str, str]:
        """Return the input and the output. In a conversation with both, the last reply is the output."""
        if self.columns["input"] != self.columns["output"]:
            return self._text("input"), self._text("output")
        turns = self._turns("output")
        replies = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
        if not replies or not replies[-1]:
            raise InputError(
                f"{self._place('output')}: has no assistant turn that answers another turn. Add one, or "
                "read the input from another column, so that the whole conversation is the output."
            )
        before, reply = turns[: replies[-1]], turns[replies[-1] :]
        plain = len(reply) == 1 and reply[0].content.strip() and not is_chat(reply[0].content)
        return render_chat(before), reply[0].content if plain else render_chat(reply)

    def _turns(self, field: str) -> tuple[Turn, ...]:
        """Return the turns of a conversation in a cell; none if the cell is a text."""
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

    def _document(self) -> str:
        if not self.keeps_source or "document" not in self.columns:
            return self._name("document")
        text = self._flat("document").strip()
        return name_document(text) if text else ""

    def _name(self, field: str) -> str:
        if field not in self.columns:
            return ""
        name = self._flat(field).strip()
        if len(name) > MAX_NAME:
            raise InputError(
                f"{self._place(field)}: has {len(name):,} characters; shorten the {field} to {MAX_NAME:,}."
            )
        return name

    def _flat(self, field: str) -> str:
        if self.columns[field] in self.row.nested:
            raise InputError(
                f"{self._place(field)}: contains a list or an object; the {field} must be one text or a "
                "conversation: a list of turns, each with role and content."
            )
        return self.row.cells[self.columns[field]]

    def _place(self, field: str) -> str:
        return self.table.place(self.row.line, self.columns[field])

    def _context(self) -> dict[str, str]:
        fields = self.columns.items()
        used = {column for field, column in fields if field != "document" or not self.keeps_source}
        return {name: text for name, text in self.row.cells.items() if name not in used and text}


def _name_task(slug: str, columns: Mapping[str, str]) -> Task:
    def title(field: str) -> str:
        name = columns[field].replace("_", " ").strip()
        return name[:1].upper() + name[1:]

    if columns["input"] == columns["output"]:
        return Task(slug=slug, name=slug, input_field="Conversation", output_field="Reply")
    return Task(slug=slug, name=slug, input_field=title("input"), output_field=title("output"))
