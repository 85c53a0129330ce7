"""Find JSON in an answer: complete values, and the complete members of an object that is cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coeval.folded_text import clean_value

MAX_ATTEMPTS = 50
"""Largest number of opening brackets that are tried. It bounds the time for hostile texts."""

MAX_JSON = 200_000
"""Number of characters of an answer that are searched for JSON."""

_OPENING = re.compile(r"\{|\[(?=\s{0,200}[{\"])")
_PART = re.compile(r'"(?:[^"\\]|\\.)*(?P<open>"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+', re.S)


@dataclass(frozen=True, slots=True)
class FoundJson:
    """A complete JSON object or list in an answer. ``inside`` is True if it is in an object that is cut off."""

    value: Any
    start: int
    end: int
    inside: bool


def _refuse_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object. A name with two different values states nothing, so such an object is no JSON to us."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if members.setdefault(name, value) != value:
            raise ValueError(f"{name} has two values")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeats)


def find_json(text: str) -> list[FoundJson]:
    """Return every outermost complete JSON object or list in the text, in order.

    >>> [found.value for found in find_json('{"a": 1} and [{"b": 2}]')]
    [{'a': 1}, [{'b': 2}]]
    """
    text = text[:MAX_JSON]
    found: list[FoundJson] = []
    position, inside = 0, False
    for _ in range(MAX_ATTEMPTS):
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        position = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, position)
        except RecursionError:
            break
        except ValueError:
            position, inside = position + 1, True
            continue
        found.append(FoundJson(clean_value(value), position, end, inside))
        position = end
    return found


def find_members(text: str) -> Mapping[str, object]:
    """Return the complete members of the first object, if the text ends within it; a member ends with a comma.

    >>> find_members('{"score": 3, "conclusion": "It is')
    {'score': 3}
    """
    start = text.find("{")
    if start < 0:
        return {}
    members: dict[str, object] = {}
    depth, comma = 0, start
    for part in _PART.finditer(text[:MAX_JSON], start):
        if part[0] in ("{", "["):
            depth += 1
        elif part[0] in ("}", "]"):
            depth -= 1
            if depth == 0:
                return {}
        elif part[0] == "," and depth == 1:
            try:
                member = _DECODER.decode("{" + text[comma + 1 : part.start()] + "}")
            except (ValueError, RecursionError):
                return {}
            if any(members.get(name, value) != value for name, value in member.items()):
                return {}
            members |= member
            comma = part.start()
    cleaned = clean_value(members)
    assert isinstance(cleaned, dict)
    return cleaned
