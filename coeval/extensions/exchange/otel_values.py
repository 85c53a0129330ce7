"""The names and values of OpenTelemetry's JSON: attributes, and the events that hold one message each."""

from __future__ import annotations

import re
from typing import Any

from coeval.datasets.json_nodes import Node, decode
from coeval.extensions.exchange.tool_files import read_number

_FLAT = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages")
"""Lists whose entries are attributes of their own, such as ``gen_ai.prompt.0.role``."""

_VALUES = ("stringValue", "boolValue", "doubleValue", "bytesValue")


def rename(value: Any) -> Any:
    """Return a value of the protocol with the names that its JSON has, such as "spanId" for "span_id"."""
    if isinstance(value, list):
        return [rename(each) for each in value]
    if not isinstance(value, dict):
        return value
    parts = {re.sub(r"_(?=[a-z])(?P<next>.)", lambda m: m["next"].upper(), name)
             if "." not in name else name: inner for name, inner in value.items()}  # fmt: skip
    return {name: inner if name in ("attributes", "body") and isinstance(inner, dict) else rename(inner)
            for name, inner in parts.items()}  # fmt: skip


def read_message(event: Node) -> tuple[dict[str, Any], bool]:
    """Return the message of an event, and whether the model made it."""
    name = event.get("name", "eventName").name()
    fields = read_attributes(event).value
    body = event.get("body")
    inner = read_value(body)
    fields = {**(inner if isinstance(inner, dict) else {}), **fields}
    message = decode(fields.get("message"))
    made = name == "gen_ai.choice"
    role = "assistant" if made else name.split(".")[1]
    return {"role": role, **{key: decode(part) for key, part in fields.items() if key != "message"},
            **(message if isinstance(message, dict) else {"content": message} if message else {})}, made  # fmt: skip


def read_attributes(record: Node) -> Node:
    """Return the attributes of a span or an event by name. Lists with an attribute for each part are lists again."""
    given = record.get("attributes")
    fields: dict[str, Any] = dict(given.value) if isinstance(given.value, dict) else {
        each.get("key").name(): read_value(each.get("value")) for each in given.items()
    }  # fmt: skip
    for prefix in _FLAT:
        tree: dict[str, Any] = {}
        for name in [name for name in fields if name.startswith(f"{prefix}.")]:
            short = name.removeprefix(f"{prefix}.").replace(".message.", ".").replace(".tool_call.", ".")
            *path, last = short.split(".")
            at = tree
            for part in path:
                at = at.setdefault(part, {}) if isinstance(at, dict) else {}
            at[last] = fields.pop(name)
        if tree:
            fields[prefix] = _build_lists(tree)
    return Node(fields, record.place)


def _build_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {name: _build_lists(value) for name, value in tree.items()}
    return list(inner.values()) if inner and all(name.isdigit() for name in inner) else inner


def read_value(value: Node) -> Any:
    """Return a value of the protocol; numbers of 64 bits are texts in JSON."""
    entries, pairs = value.path("arrayValue", "values"), value.path("kvlistValue", "values")
    if entries.value is not None:
        return [read_value(each) for each in entries.items()]
    if pairs.value is not None:
        return {pair.get("key").name(): read_value(pair.get("value")) for pair in pairs.items()}
    number = value.get("intValue")
    return read_number(number.text()) or 0 if number.value is not None else value.get(*_VALUES).value
