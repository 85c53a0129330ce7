"""The form of a drafted line: everything about it that a reader notices without reading the content.

A planted error may differ from a draft only in content, so lines and drafts are exchanged only within one
form. Two lines of one form have similar quotes, the same link between quotes and comment, and comments with
the same first words, length class and final punctuation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from coeval.domain import EvaluationRow

LIST_MARK = re.compile(r"\s*(?:(?:[-*•–—]|\(?(?:\d{1,2}|[A-Za-z])[.)])\s+)?")
LEAD_IN = re.compile(r"[^:：.!?]{0,80}[:：]\s*")
CLOSING = re.compile(r"[\"”“’'»」』]*")
QUOTE_SIGNS = re.compile(r"[\"“”„«»「」『』‘’]|(?<!\w)'|'(?!\w)")
WORD = re.compile(r"\w+")
STEP = math.log(1.3)
"""Two lengths in one class differ by less than thirty percent."""

DOUBTS = re.compile(r"\b(?:but|however|although|though|while|could|may|might|some\w*)\b", re.IGNORECASE)
DENIALS = re.compile(r"\b(?:not|no|lack\w*|fail\w*|without|never)\b|n[’']t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Comment:
    """A line of evidence, split where its comment begins."""

    line: EvaluationRow
    head: str
    """The list mark, lead-in and quotes, which are kept when another comment replaces this one."""
    text: str
    form: Hashable


@lru_cache(maxsize=8_000)
def take_apart(line: EvaluationRow) -> Comment | None:
    """Return the comment of a line, and the form that another comment needs to replace it.

    Returns None for a line that only quotes, or whose quotes are not found in it.

    >>> from coeval.domain import RowKind
    >>> found = take_apart(EvaluationRow(RowKind.EVIDENCE, "- Mind: this is too long."))
    >>> found.head, found.text
    ('- Mind: ', 'this is too long.')
    """
    mark = LIST_MARK.match(line.text)
    end = mark.end() if mark else 0
    for quote in line.quotes:
        at = line.text.find(quote.text, end)
        if at < 0 or not quote.text:
            return None
        end = at + len(quote.text)
    ends = (CLOSING if line.quotes else LEAD_IN).match(line.text, end)
    end = ends.end() if ends else end
    comment = line.text[end:]
    words = WORD.findall(comment)
    if not words:
        return None
    link, last = re.match(r"\W*", comment), re.search(r"\W*$", comment)
    form = (
        bool(line.quotes),
        link and link[0],
        last and last[0],
        tuple(word.casefold() for word in words[:2]),
        measure(comment),
        frozenset(QUOTE_SIGNS.findall(comment)),
    )
    return Comment(line, line.text[:end], comment, form)


def measure(text: str) -> int:
    """Return the length class of a text.

    >>> measure(""), measure("a" * 100) == measure("a" * 101), measure("a" * 100) < measure("a" * 150)
    (-1, True, True)
    """
    return int(math.log(len(text)) / STEP) if text else -1


def find_subjects(text: str) -> set[str]:
    """Return the stems of the words that may name the subject of a text.

    >>> sorted(find_subjects("It explains explanations of dogs."))
    ['dogs', 'explai', 'explan']
    """
    return {word.casefold()[:6] for word in WORD.findall(text) if len(word) > 3}
