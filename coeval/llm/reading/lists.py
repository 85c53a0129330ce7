"""Read lists from a model's answer: criteria, evaluation steps, the lines of a plan."""

from __future__ import annotations

import re

from coeval.llm.reading.cleanup import fold, strip_thoughts
from coeval.llm.reading.markup import find_json, strip_bullet, strip_markup

MAX_ITEMS = 30
"""Largest number of criteria or steps from one answer."""

MAX_ITEM = 500
"""Longest criterion or step, in characters; a longer one is cut after a whole word."""

MAX_PLAN = 10_000
MAX_LIST = 50_000

_NUMBERED = re.compile(r"^(?P<indent>[ \t]*)(?:(?:criterion|step)[ \t]*)?\(?\d{1,3}[.):][ \t]+\S", re.I)
_BULLETED = re.compile(r"^(?P<indent>[ \t]*)[-+•‣▪·●–—][ \t]+\S")
_LABEL = re.compile(r"^(?:criterion|step)[ \t]*\d*[ \t]*[:.)-][ \t]*", re.I)
_NAME_KEYS = ("name", "title", "label")
_TEXT_KEYS = ("text", "criterion", "description", "statement", "definition", "premise", "step", "action")


def parse_criteria(text: str) -> list[str]:
    """Return the criteria that an answer lists, in order, without duplicates, numbers, bullets and markup.

    Read JSON and fenced JSON (strings, or objects with a name and a text), numbered and bulleted lists, and plain
    lines. Return at most `MAX_ITEMS` criteria of at most `MAX_ITEM` characters. Never raise.

    >>> parse_criteria("Here they are:\\n1. **Clear**: easy to read\\n2. Correct facts.")
    ['Clear: easy to read', 'Correct facts.']
    """
    text = strip_thoughts(text[:MAX_LIST])
    items = _json_items(text)
    if not items:
        items = _marked_items(strip_markup(text))
    unique: dict[str, str] = {}
    for item in map(_clean, items):
        if re.search(r"[^\W\d_]", item):
            unique.setdefault(fold(item).rstrip("."), item)
    return list(unique.values())[:MAX_ITEMS]


def parse_steps(text: str) -> list[str]:
    """Return the evaluation steps that an answer lists, with the formats and limits of `parse_criteria`."""
    return parse_criteria(text)


def parse_plan(text: str) -> str:
    """Return a fusion plan as editable text of at most `MAX_PLAN` characters, without reasoning, fences or JSON."""
    text = strip_thoughts(text[:MAX_LIST])
    steps = _json_items(text)
    if steps:
        text = "\n".join(f"{number}. {_clean(step)}" for number, step in enumerate(steps[:MAX_ITEMS], 1))
    return re.sub(r"\n{3,}", "\n\n", strip_markup(text))[:MAX_PLAN].strip()


def _json_items(text: str) -> list[str]:
    for value, _ in find_json(text):
        items = _strings(value)
        if items:
            return items
    return []


def _strings(value: object) -> list[str]:
    """Return the items of a JSON list or of the list in an object, or an object's members as "name: text"."""
    if isinstance(value, list):
        return [text for text in map(_item_text, value) if text]
    if not isinstance(value, dict):
        return []
    for inner in value.values():
        if isinstance(inner, list | dict):
            return _strings(inner)
    return [
        f"{name}: {text}" if len(value) > 1 else text for name, text in value.items() if isinstance(text, str)
    ]


def _item_text(value: object) -> str:
    """Return one item as text: a string unchanged, an object as its name and text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return ""
    lowered = {
        str(key).lower(): inner for key, inner in value.items() if isinstance(inner, str) and inner.strip()
    }
    names = [lowered[key] for key in _NAME_KEYS if key in lowered]
    texts = [lowered[key] for key in _TEXT_KEYS if key in lowered]
    return ": ".join(dict.fromkeys(names[:1] + texts[:2])) or next(iter(lowered.values()), "")


def _marked_items(text: str) -> list[str]:
    """Return the items of a numbered list, or else of a bulleted list, or else several short lines."""
    lines = text.split("\n")
    for marker in (_NUMBERED, _BULLETED):
        indents = [len(match["indent"]) for line in lines if (match := marker.match(line))]
        if indents:
            return _gather(lines, marker, min(indents))
    plain = [line.strip() for line in lines if line.strip() and not line.rstrip().endswith(":")]
    return plain if len(plain) > 1 and all(len(line) <= MAX_ITEM // 2 for line in plain) else []


def _gather(lines: list[str], marker: re.Pattern[str], indent: int) -> list[str]:
    """Return each marked line with its continuation lines: the lines below, and indented lines after a gap."""
    items: list[list[str]] = []
    gap = False
    for line in lines:
        match = marker.match(line)
        if match and len(match["indent"]) <= indent:
            items.append([line])
        elif items and line.strip() and (not gap or line[:1] in " \t"):
            items[-1].append(strip_bullet(line))
        gap = not line.strip()
    return [" ".join(item) for item in items]


def _clean(item: str) -> str:
    text = " ".join(strip_markup(item[: MAX_ITEM * 4]).split())
    text = strip_bullet(_LABEL.sub("", strip_bullet(text))).strip(" \t\"“”'")
    if len(text) <= MAX_ITEM:
        return text
    return text[:MAX_ITEM].rsplit(" ", 1)[0] if " " in text[:MAX_ITEM] else text[:MAX_ITEM]
