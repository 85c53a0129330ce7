"""What models wrap their answers in: markdown, tags, fences and JSON; all of it pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from coeval.llm.reading.surrogates import clean_value

MAX_ATTEMPTS = 50
"""How many opening brackets are tried as the start of JSON: a bound on the time a hostile text can take."""

MAX_BULLETS = 5
"""Bullets and numbers that one line may begin with."""

MAX_JSON = 200_000
"""Characters of an answer in which JSON is looked for."""

_LABEL_TAG = re.compile(
    r"<\s*(score|rating|answer|conclusion|evidence|explanation|rationale|analysis)\s*>", re.I
)
_CLOSING_LABEL = re.compile(
    r"<\s*/\s*(?:score|rating|answer|conclusion|evidence|explanation|rationale|analysis)\s*>", re.I
)
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,9}(?:\s[^<>\n]{0,80})?/?>", re.I)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|(?:>[ \t]?)+)[ \t]*", re.M)
_BOXED = re.compile(r"\$?\\boxed\s{0,3}\{([^{}\n]{0,40})\}\$?")
_DOUBLE_BRACKETS = re.compile(r"\[\[[ \t]{0,3}([\d.]{1,9})[ \t]{0,3}\]\]")
_RESULT = re.compile(r"\[(?:RESULT|SCORE|RATING)\][ \t]{0,3}:?")
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
    """The words alone: no emphasis, headings, quotation signs, fences or tags; bullets become dashes.

    A tag that names a part of the answer becomes its label.

    >>> strip_markup("## **Rating:** `4`")
    'Rating: 4'
    >>> strip_markup("<score>4</score>")
    'score: 4'
    """
    text = _FENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _CLOSING_LABEL.sub("\n", _LABEL_TAG.sub(r"\n\1: ", text))
    text = _BOXED.sub(r"answer: \1", _TAG.sub("", text))
    text = _RESULT.sub("Final rating:", _DOUBLE_BRACKETS.sub(r"\1", text))
    text = _UNDERSCORES.sub("", _STAR_BULLET.sub(r"\1-", text).translate(_EMPHASIS))
    return _LINE_MARKS.sub("", text).strip()


def strip_bullet(line: str) -> str:
    """The line without its bullet or number.

    >>> strip_bullet("- 2. Be clear")
    'Be clear'
    """
    for _ in range(MAX_BULLETS):
        bullet = _BULLET.match(line)
        if bullet is None:
            break
        line = line[bullet.end() :]
    return line.strip()


def find_json(text: str) -> list[tuple[object, str]]:
    """Every outermost JSON object or list in the text, with its source, in order.

    Commas too many before a closing bracket are forgiven, and an answer cut off inside its JSON is read as
    far as it goes; anything else unreadable is passed over.
    """
    text = text[:MAX_JSON]
    values = list(_scan_json(text))
    if _is_whole(values, text):
        return values
    mended_text = _EXTRA_COMMA.sub(r"\1", text)
    mended = list(_scan_json(mended_text)) if mended_text != text else values
    return mended if _is_whole(mended, mended_text) else _cut_off_json(text) or values


def _is_whole(values: list[tuple[object, str]], text: str) -> bool:
    """Whether what was read begins where the first bracket opens; a text without brackets has it all."""
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
    """The object that begins the answer, closed after its last complete member."""
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
    if not re.search(r"[\d.]\s*\Z", text):  # a number at the cut may have lost its end
        ends.append((len(text), "".join(reversed(closers[-_MAX_OPEN:]))))
    for end, closing in reversed(ends):
        for source in (text[start:end] + closing, text[start:end] + '"' + closing):
            with suppress(ValueError, RecursionError):
                return [(clean_value(json.loads(source)), text[start:])]
    return []
