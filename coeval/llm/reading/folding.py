"""Text folded for comparison: what a model retypes rarely keeps spaces, case and quotation marks.

Folding works character by character, so that every folded character still knows where it came from.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

QUOTE_MARKS = "\"'`´‘’‚‛“”„‟«»‹›「」『』《》〈〉＂＇"
_DASHES = "‐‑‒–—―−"
_INVISIBLE = frozenset("*\u200b\u200c\u200d\u2060\ufeff\u00ad")
_SPACES = re.compile(" {2,}")


class _Table(dict[int, str]):
    """What each character folds to, by its code point, filled in as characters turn up."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_char(chr(code))
        return folded


def _fold_char(char: str) -> str:
    """One character without case and compatibility forms; quotation marks and dashes become one of each.

    The stars of markdown's emphasis vanish: models quote the words without them.
    """
    if char in _INVISIBLE:
        return ""
    if char.isspace():
        return " "
    if char in QUOTE_MARKS:
        return "'"
    if char in _DASHES:
        return "-"
    return unicodedata.normalize("NFKD", char).casefold()


_TABLE = _Table()


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text with, for each of its characters, the index of the original one."""

    text: str
    origin: Sequence[int]

    def slice_of(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original of ``text[start:end]``, which must not be empty."""
        return self.origin[start], self.origin[end - 1] + 1


def fold_offsets(text: str) -> Folded:
    """Fold a text and keep the way back. Runs of white space become one space; time is linear.

    >>> fold_offsets("A  “B”").text
    "a 'b'"
    >>> fold_offsets("A  “B”").slice_of(2, 5)
    (3, 6)
    """
    folded = text.translate(_TABLE)
    origin: Sequence[int] = range(len(text))
    if any(len(_TABLE[ord(char)]) != 1 for char in set(text)):
        origin = array("I", (index for index, char in enumerate(text) for _ in _TABLE[ord(char)]))
    if "  " not in folded:
        return Folded(folded, origin)
    kept, last = array("I"), 0
    for run in _SPACES.finditer(folded):
        kept.extend(origin[last : run.start() + 1])
        last = run.end()
    kept.extend(origin[last:])
    return Folded(_SPACES.sub(" ", folded), kept)


def fold(text: str) -> str:
    """The folded text alone, without space at its ends.

    >>> fold(" It’s  FINE ")
    "it's fine"
    """
    return " ".join(text.translate(_TABLE).split())
