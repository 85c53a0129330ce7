"""Unwrap answers from Markdown, code fences and bullets."""

from __future__ import annotations

import re

MAX_BULLETS = 5
"""Bullets and numbers that one line may begin with."""

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|(?:>[ \t]?)+)[ \t]*", re.M)
_EMPHASIS = str.maketrans("", "", "*`\u200b\ufeff")
_STAR_BULLET = re.compile(r"^([ \t]*)\*(?=[ \t])", re.M)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•‣▪–—·●]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+")


def strip_markup(text: str) -> str:
    """Return the text without emphasis, headings, quotation signs and fences. Bullets become dashes.

    >>> strip_markup("## **Rating:** `4`")
    'Rating: 4'
    """
    text = _FENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _UNDERSCORES.sub("", _STAR_BULLET.sub(r"\1-", text).translate(_EMPHASIS))
    return _LINE_MARKS.sub("", text).strip()


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
