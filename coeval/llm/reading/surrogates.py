r"""Halves of characters: JSON lets a model write ``\ud83d`` alone, which no file or database can hold."""

from __future__ import annotations

import re

_LONE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    r"""The text with the replacement character where half of a character stands; the length stays the same.

    >>> clean_text("half \ud83d")
    'half �'
    """
    return _LONE.sub(REPLACEMENT, text)


def clean_value(value: object) -> object:
    """A value decoded from JSON with every text in it cleaned; a number or None is given back as it is."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_value(inner) for inner in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_value(inner) for key, inner in value.items()}
    return value
