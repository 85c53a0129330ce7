"""Read lists from a model's answer: criteria and evaluation steps."""

from __future__ import annotations

import re

from coeval.folded_text import fold
from coeval.llm.reading.json_objects import find_json
from coeval.llm.reading.markup import strip_bullet, strip_markup, strip_thoughts

MAX_ITEMS = 30
"""Largest number of criteria or steps from one answer."""

MAX_ITEM = 500
"""Longest criterion or step, in characters; a longer one is cut after a whole word."""

MIN_COPY = 20
"""Length from which an item that is also in the prompt is a copy. Shorter ones may be a coincidence."""

MAX_LIST = 50_000

_NUMBERED = re.compile(r"^[ \t]{0,3}(?:(?:criterion|step)[ \t]*)?\(?\d{1,3}[.):][ \t]+(?=\S)", re.I)
_BULLETED = re.compile(r"^[ \t]{0,3}[-+•‣▪·●–—][ \t]+(?=\S)")


def read_list(text: str, *, given: str = "", whole: bool = True) -> list[str]:
    """Return the items of a list, in order, without duplicates and markup. Never raise.

    The list is JSON (a list of texts, also inside an object), or numbered or bulleted lines. If the answer is not
    ``whole``, its last line does not count. Sentences of the prompt ``given`` are copies and do not count. Return at
    most `MAX_ITEMS` items of at most `MAX_ITEM` characters.

    >>> read_list("Here they are:\\n1. **Clear**: easy to read\\n2. Correct facts.")
    ['Clear: easy to read', 'Correct facts.']
    """
    text = strip_thoughts(text[:MAX_LIST])
    items = _json_items(text)
    if items is None:
        words = strip_markup(text)
        items = _marked_items(words if whole else words[: words.rfind("\n") + 1])
    folded = fold(given)
    unique: dict[str, str] = {}
    for item in map(_clean, items):
        said = fold(item).rstrip(".")
        copied = len(said) >= MIN_COPY and said in folded
        if re.search(r"[^\W\d_]", item) and not copied:
            unique.setdefault(said, item)
    return list(unique.values())[:MAX_ITEMS]


def _json_items(text: str) -> list[str] | None:
    """Return the texts of the last JSON list, also one in an object, or None if there is no list."""
    for found in reversed(find_json(text)):
        lists = [found.value] if isinstance(found.value, list) else list(found.value.values())
        for value in lists:
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                return value
    return None


def _marked_items(text: str) -> list[str]:
    """Return the items of a numbered list, or else of a bulleted list, with the lines that continue them."""
    lines = text.split("\n")
    for marker in (_NUMBERED, _BULLETED):
        items: list[list[str]] = []
        gap = False
        for line in lines:
            if match := marker.match(line):
                items.append([line[match.end() :]])
            elif items and line.strip() and (not gap or line[:1] in " \t"):
                items[-1].append(strip_bullet(line))
            gap = not line.strip()
        if items:
            return [" ".join(item) for item in items]
    return []


def _clean(item: str) -> str:
    text = strip_bullet(" ".join(strip_markup(item[: MAX_ITEM * 4]).split())).strip(" \t\"“”'")
    if len(text) <= MAX_ITEM:
        return text
    return text[:MAX_ITEM].rsplit(" ", 1)[0] if " " in text[:MAX_ITEM] else text[:MAX_ITEM]
