"""The normal form of names, so that names that look the same are the same everywhere."""

from __future__ import annotations

import unicodedata

from coeval.errors import InputError
from coeval.language import tr

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
