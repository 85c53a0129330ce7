"""Read the forms of an answer: the words that count, JSON objects, and lists."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coeval.folded_text import clean_value, fold

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|(?:>[ \t]?)+)[ \t]*", re.M)
_EMPHASIS = str.maketrans("", "", "*`\u200b\ufeff")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_STAR_BULLET = re.compile(r"^([ \t]*)\*(?=[ \t])", re.M)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)")
_BULLETS = re.compile(r"^(?:[ \t]*(?:[-*+•‣▪–—·●]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+){1,5}")


def strip_markup(text: str) -> str:
    """Return the text without emphasis, headings, quotation signs, fences and struck words. Bullets become dashes.

    >>> strip_markup("## **Rating:** `4`")
    'Rating: 4'
    """
    text = _FENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _UNDERSCORES.sub("", _STAR_BULLET.sub(r"\1-", _STRUCK.sub("", text)).translate(_EMPHASIS))
    return _LINE_MARKS.sub("", text).strip()


def strip_bullet(line: str) -> str:
    """Return the line without its bullets and numbers.

    >>> strip_bullet("- 2. Be clear")
    'Be clear'
    """
    return _BULLETS.sub("", line).strip()


_NAMES = (
    r"(?:think(?:ing)?|thoughts?|thought[ _-]?process|reason(?:ing)?(?:[ _-](?:content|trace))?|reflection|"
    r"scratch[ _-]?pad|analysis|deliberation|(?:inner|internal)[ _-](?:monologue|thoughts?)|cot|"
    r"chain[ _-]of[ _-]thoughts?)"
)
_OPENS, _CLOSES = r"[<\[◁]\s?[|｜]?\s?", r"\s?[|｜]?\s?[>\]▷]"
_TAG = re.compile(
    rf"{_OPENS}(?:(?P<end>/\s?|end[ _▁](?:of[ _▁])?)|(?:begin|start)[ _▁](?:of[ _▁])?)?"
    rf"(?:\w{{1,12}}:)?{_NAMES}(?:\s[^<>\n]{{0,80}})?{_CLOSES}",
    re.I,
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,5}(?P<name>\w{1,20})(?:(?!<\|(?:message|channel)\|>).){0,120}<\|message\|>", re.S
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")


def strip_thoughts(text: str) -> str:
    """Return the answer without its thoughts, or "" if a thought is never closed.

    Some servers leave out the opening tag, so everything before an unmatched closing tag is a thought too. In the
    Harmony format, the last final channel is the answer.

    >>> strip_thoughts("[THINK]Score: 1?[/THINK]Score: 4")
    'Score: 4'
    >>> strip_thoughts("<think>Score: 1?")
    ''
    >>> strip_thoughts("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4")
    '4'
    """
    text = _final_channel(text.replace("\ufeff", ""))
    if text.lstrip()[:1] == "{" and text.rstrip()[-1:] == "}":
        return text  # tags inside JSON strings are ordinary text
    return _strip_tagged(text)


def _strip_tagged(text: str) -> str:
    """Return the text outside thinking tags. An "[Analysis]" that is never closed is a heading."""
    pieces: list[str] = []
    at, inside = 0, False
    last_end = max((tag.start() for tag in _TAG.finditer(text) if tag["end"]), default=-1)
    for tag in _TAG.finditer(text):
        if tag["end"]:
            pieces, at, inside = pieces if inside else [], tag.end(), False
        elif not inside and (tag[0][0] != "[" or tag.start() < last_end):
            pieces.append(text[at : tag.start()])
            inside = True
    return "" if inside else "".join([*pieces, text[at:]])


def _final_channel(text: str) -> str:
    """Return the content of the last final channel, or the whole text if it has no channels."""
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        return text
    final = [channel for channel in channels if channel["name"] == "final"]
    if not final:
        return ""
    end = _CHANNEL_END.search(text, final[-1].end())
    return text[final[-1].end() : end.start() if end else len(text)]


# Find JSON in an answer: complete values, and the complete members of an object that is cut off.

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
    objects: list[FoundJson] = []
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
        objects.append(FoundJson(clean_value(value), position, end, inside))
        position = end
    return objects


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


# Read lists from a model's answer: criteria and evaluation steps.

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
    for part in reversed(find_json(text)):
        lists = [part.value] if isinstance(part.value, list) else list(part.value.values())
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
