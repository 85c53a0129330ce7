"""Texts that are compared: lone surrogates, case, quotation marks and spaces do not count.

Folding works character by character, so that every folded character can be traced to its original position.
Names have a normal form, so that names that look the same are the same everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from coeval.errors import InputError
from coeval.language import tr

_LONE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    r"""Return the text with each lone surrogate replaced by U+FFFD. The length stays the same.

    >>> clean_text("half \ud83d")
    'half �'
    """
    return _LONE.sub(REPLACEMENT, text)


def clean_value(value: object) -> object:
    """Return a value decoded from JSON with all its strings cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_value(inner) for inner in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(inner) for key, inner in value.items()}
    return value


# Texts are folded for comparison, because a model that retypes a text rarely keeps spaces, case and quotation
# marks.

QUOTE_MARKS = "\"'`´‘’‚‛“”„‟«»‹›「」『』《》〈〉＂＇"
_DASHES = "‐‑‒–—―−"
_INVISIBLE = frozenset("*\u200b\u200c\u200d\u2060\ufeff\u00ad")
_SPACES = re.compile(" {2,}")


class _Table(dict[int, str]):
    """The folded form of each character, by code point, filled in when first needed."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_char(chr(code))
        return folded


def _fold_char(char: str) -> str:
    """Return one character without case and compatibility forms, with uniform quotation marks and dashes.

    Markdown's emphasis asterisks are removed, because models quote words without them.
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
    """Folded text, with the index of the original character for each of its characters."""

    text: str
    origin: Sequence[int]

    def slice_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the original of ``text[start:end]``, which must not be empty."""
        return self.origin[start], self.origin[end - 1] + 1


def fold_offsets(text: str) -> Folded:
    """Fold a text and keep the original offsets. Runs of white space become one space. Time is linear.

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
    """Return the folded text alone, without space at its ends.

    >>> fold(" It’s  FINE ")
    "it's fine"
    """
    return " ".join(text.translate(_TABLE).split())


BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible letters and marks. Other invisible characters are in Unicode's category Cf."""
JOINERS = "\u200c\u200d"
"""Joiners, which shape letters of Arabic, Persian and Indian scripts, and combine emoji."""


def normalize_name(text: str) -> str:
    """Return a name in Unicode's composed form (NFC), without surrounding blanks.

    >>> normalize_name(" Jose\\u0301 ") == "Jos\\u00e9"
    True

    Raises:
        InputError: it contains an invisible character.
    """
    name = compose(text)
    if name.isascii():
        return name
    for at, character in enumerate(name):
        if _is_invisible(character) and not _joins(name, at):
            raise InputError(
                tr(
                    "“{text}” contains an invisible character ({code}): type it again.",
                    text="".join(c for c in name if not _is_invisible(c))[:80],
                    code=f"U+{ord(character):04X}",
                )
            )
    return name


def compose(text: str) -> str:
    """Return a text in Unicode's composed form (NFC), without surrounding blanks, to compare stored names."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", text).strip()


def _is_invisible(character: str) -> bool:
    return character in BLANKS or unicodedata.category(character) == "Cf"


def _joins(name: str, at: int) -> bool:
    """Return whether a joiner is between two letters that it shapes, or between two emoji."""
    if name[at] not in JOINERS or not 0 < at < len(name) - 1:
        return False
    before, after = name[at - 1], unicodedata.category(name[at + 1])
    if unicodedata.bidirectional(before) == "AL" or unicodedata.combining(before) == 9:
        return after.startswith("L")
    return after == "So" and unicodedata.category(before) in ("So", "Sk", "Mn")
