"""Unwrap answers from Markdown, tags, fences and JSON. All functions are pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from coeval.llm.reading.cleanup import clean_value

MAX_ATTEMPTS = 50
"""Largest number of opening brackets tried as the start of JSON. It bounds the time for hostile texts."""

MAX_BULLETS = 5
"""Bullets and numbers that one line may begin with."""

MAX_JSON = 200_000
"""Number of characters of an answer that are searched for JSON."""

_PARTS = (
    r"(?:[a-z]{1,12}[_-]){0,2}(?:score|rating|grade|verdict|answer|conclusion|evidence|explanation|"
    r"rationale|analysis|"
    r"reasoning|justification)"
)
_LABEL_TAG = re.compile(rf"<\s*({_PARTS})\s*>", re.I)
_CLOSING_LABEL = re.compile(rf"<\s*/\s*{_PARTS}\s*>", re.I)
_BLOCK = re.compile(r"</?(?:p|div|br|li|tr|h[1-6])\s{0,3}/?>", re.I)
_TAG = re.compile(r"</?[a-z][a-z0-9_-]{0,20}(?:\s[^<>\n]{0,80})?/?>", re.I)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|(?:>[ \t]?)+)[ \t]*", re.M)
_STRUCK = re.compile(r"~~[^~\n]{0,40}\d[^~\n]{0,40}~~")
_TOKEN = re.compile(r"<[|｜][\w▁ -]{1,40}[|｜]>")
_BOXED = re.compile(r"\$?\\boxed\s{0,3}\{([^{}\n]{0,40})\}\$?")
_MATHS = re.compile(r"(?<=[:：=])([ \t*]{0,6})\${1,2}[ \t]{0,3}(\d[\d./ ]{0,9})\${1,2}(?![\w$])")
_STYLED = re.compile(r"\\[()\[\]]|\\(?:text|math)(?:bf|it|rm|tt|sf)?\s{0,3}\{([^{}\n]{0,40})\}")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{(\d{1,3})\}\s?\{(\d{1,3})\}")
_KEYCAP = re.compile("(?:\\d\ufe0f?\u20e3){1,3}")
_LEADER = re.compile(r"(?<=\w)[ \t]{0,3}[.·]{4,200}[ \t]{0,3}(?=\d)")
"""The dots between a name and its number in a list."""
_DOUBLE_BRACKETS = re.compile(r"\[\[[ \t]{0,3}([\d.]{1,9})[ \t]{0,3}\]\]")
_RESULT = re.compile(r"\[(?:RESULT|SCORE|RATING)\][ \t]{0,3}:?(?=\W{0,4}\d)", re.I)
_BLANK = re.compile(r"<\s{0,3}(-?\d[\d.]{0,9})\s{0,3}>")
"""A blank of the form that was filled in inside its brackets."""
_OPENING = re.compile(r"[{\[]")
_EXTRA_COMMA = re.compile(r",(\s{0,200}[}\]])")
_DECODER = json.JSONDecoder()
_JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],]', re.S)
_MAX_OPEN = 20
_EMPHASIS = str.maketrans("", "", "*`~\u200b\ufeff")
_STAR_BULLET = re.compile(r"^([ \t]*)\*(?=[ \t])", re.M)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•‣▪–—·●]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+")


def strip_markup(text: str) -> str:
    """Return the text without emphasis, headings, quotation signs, fences and tags. Bullets become dashes.

    A tag that names a part of the answer becomes its label.

    >>> strip_markup("## **Rating:** `4`")
    'Rating: 4'
    >>> strip_markup("<score>4</score>")
    'score: 4'
    """
    text = _FENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _CLOSING_LABEL.sub("\n", _LABEL_TAG.sub(_label, text))
    text = _BLANK.sub(r"\1", text)
    text = _TAG.sub("", _BLOCK.sub("\n", _TOKEN.sub("", text)))
    text = _FRACTION.sub(r"\1/\2", _KEYCAP.sub(_key_number, _LEADER.sub(": ", text)))
    text = _MATHS.sub(r"\1\2", _BOXED.sub(r"answer: \1", _STYLED.sub(r"\1", text)))
    text = _RESULT.sub("Final rating:", _DOUBLE_BRACKETS.sub(r"\1", text))
    text = _STRUCK.sub("", text)
    text = _UNDERSCORES.sub("", _STAR_BULLET.sub(r"\1-", text).translate(_EMPHASIS))
    return _LINE_MARKS.sub("", text).strip()


def _label(tag: re.Match[str]) -> str:
    return "\n" + re.sub("[_-]", " ", tag[1]) + ": "


def _key_number(keys: re.Match[str]) -> str:
    return f"{''.join(re.findall(r'[0-9]', keys[0]))}."


def strip_bullet(line: str) -> str:
    """Return the line without its bullet or number.

    >>> strip_bullet("- 2. Be clear")
    'Be clear'
    """
    for _ in range(MAX_BULLETS):
        bullet = _BULLET.match(line)
        if bullet is None:
            break
        line = line[bullet.end() :]
    return line.strip()


def find_json(text: str, *, mend: bool = True) -> list[tuple[object, str]]:
    """Return every outermost JSON object or list in the text, with its source, in order.

    With ``mend``, ignore extra commas before a closing bracket, and read an answer that is cut off inside its JSON as
    far as possible. Anything else that is unreadable is skipped.
    """
    text = text[:MAX_JSON]
    values = list(_scan_json(text))
    if not mend or _is_whole(values, text):
        return values
    mended_text = _EXTRA_COMMA.sub(r"\1", text)
    mended = list(_scan_json(mended_text)) if mended_text != text else values
    return mended if _is_whole(mended, mended_text) else _cut_off_json(text) or values


def opens_at(text: str) -> int:
    """Return the position of the first object that never closes, or -1 if every object closes.

    >>> opens_at('{"a": 1} {"b": {"c": 1}, ')
    9
    """
    text, at = text[:MAX_JSON], 0
    for _, source in _scan_json(text):
        start = text.find(source, at)
        if "{" in text[at:start]:
            break
        at = start + len(source)
    return text.find("{", at)


def _is_whole(values: list[tuple[object, str]], text: str) -> bool:
    """Return whether the parsed JSON begins at the first bracket, or the text has no brackets."""
    opening = _OPENING.search(text)
    return opening is None or bool(values) and text.startswith(values[0][1], opening.start())


def _scan_json(text: str) -> Iterator[tuple[object, str]]:
    position = 0
    for _ in range(MAX_ATTEMPTS):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        position = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, position)
        except RecursionError:
            return
        except ValueError:
            position += 1
            continue
        yield clean_value(value), text[position:end]
        position = end


def _cut_off_json(text: str) -> list[tuple[object, str]]:
    """Return the answer's first object, closed after its last complete member."""
    start = text.find("{")
    if start < 0 or re.search(r"[\w\[]", _FENCE.sub("", text[:start])):
        return []
    closers: list[str] = []
    ends: list[tuple[int, str]] = []
    for match in _JSON_PART.finditer(text, start):
        if match[0] in "{[":
            closers.append("}" if match[0] == "{" else "]")
        elif match[0] in "}]" and closers:
            closers.pop()
        elif match[0] == ",":
            ends = [*ends[-3:], (match.start(), "".join(reversed(closers[-_MAX_OPEN:])))]
    if not re.search(r"[\d.]\s*\Z", text):  # a number at the cut may have lost digits
        ends.append((len(text), "".join(reversed(closers[-_MAX_OPEN:]))))
    for end, closing in reversed(ends):
        for source in (text[start:end] + closing, text[start:end] + '"' + closing):
            with suppress(ValueError, RecursionError):
                return [(clean_value(json.loads(source)), text[start:])]
    return []
