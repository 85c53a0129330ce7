"""The answer in an annotation tool's record, whose fields each project names for itself; and passages of a text."""

from __future__ import annotations

from coeval.datasets.gathering import NOBODY, build_instance
from coeval.datasets.json_nodes import Node
from coeval.datasets.tables.table import SYNONYMS, find_column
from coeval.domain import Instance

_TEXTS = ("text", "content", "body", "sentence", "html")


def read_answer(fields: Node, name: str) -> Instance:
    """The answer among a record's fields, found by their names; where none fits, the longest text is the output.

    A record of one text alone has no input. What no field of an instance takes is its context.
    """
    given = {field: node for field, node in fields.entries() if field.strip()}
    taken: dict[str, str] = {}
    for field in ("output", "input", "document", "system", "reference"):
        names = (*SYNONYMS[field], *(_TEXTS if field == "output" else ()))
        column = find_column(list(given), names, taken=taken.values())
        if column:
            taken[field] = column
    if "output" not in taken:
        texts = [field for field, node in given.items() if field not in taken.values() and node.value]
        longest = max(texts, key=lambda field: len(_words(given[field])), default=taken.pop("input", ""))
        taken |= {"output": longest} if longest else {}
    words = {field: _words(given[column]) for field, column in taken.items()}
    instance = build_instance(
        name,
        words.get("input", ""),
        words.get("output", ""),
        system=words.get("system", ""),
        reference=words.get("reference", ""),
        context={field: node.text() for field, node in given.items() if field not in taken.values()},
    )
    if not words.get("document"):
        return instance
    return Instance(
        name,
        instance.input,
        instance.output,
        words["document"],
        instance.system,
        instance.reference,
        instance.context,
    )


def _words(node: Node) -> str:
    """A text or a conversation; a dialogue's turns may name an author and a text."""
    value = node.value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(turn, dict) and {"author", "text"} <= turn.keys() for turn in value)
    ):
        messages = [{"role": str(turn["author"]), "content": turn["text"]} for turn in value]
        return Node(messages, node.place).text()
    return node.chat()


def name_person(tool: str, who: Node) -> str:
    """The person who completed an annotation: by e-mail address or name, else by number."""
    if not isinstance(who.value, dict):
        return f"{tool} {who.name()}" if who.value is not None else NOBODY
    full = " ".join(filter(None, (who.get("first_name").name(), who.get("last_name").name())))
    return who.get("email").name() or full or f"{tool} {who.get('id').name()}"


def slice_utf16(text: str, start: int, end: int) -> str:
    """The passage between two offsets that a browser counted, in units of UTF-16.

    >>> slice_utf16("🌱 so it grows", 3, 5)
    'so'
    """
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * max(0, start) : 2 * max(0, end)].decode("utf-16-le", "ignore")


def count_utf16(text: str) -> int:
    """The length of a text as a browser counts it.

    >>> count_utf16("🌱!")
    3
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
