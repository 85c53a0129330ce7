"""Unwrap answers from Markdown, code fences and bullets."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|(?:>[ \t]?)+)[ \t]*", re.M)
_EMPHASIS = str.maketrans("", "", "*`\u200b\ufeff")
_STAR_BULLET = re.compile(r"^([ \t]*)\*(?=[ \t])", re.M)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)")
_BULLETS = re.compile(r"^(?:[ \t]*(?:[-*+•‣▪–—·●]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])[ \t]+){1,5}")


def strip_markup(text: str) -> str:
    """Return the text without emphasis, headings, quotation signs and fences. Bullets become dashes.

    >>> strip_markup("## **Rating:** `4`")
    'Rating: 4'
    """
    text = _FENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _UNDERSCORES.sub("", _STAR_BULLET.sub(r"\1-", text).translate(_EMPHASIS))
    return _LINE_MARKS.sub("", text).strip()


def strip_bullet(line: str) -> str:
    """Return the line without its bullets and numbers.

    >>> strip_bullet("- 2. Be clear")
    'Be clear'
    """
    return _BULLETS.sub("", line).strip()
