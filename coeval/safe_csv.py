"""Cells that no spreadsheet takes for a formula: every CSV that leaves goes through ``safe``."""

from __future__ import annotations

from typing import Any

UNSEEN = " \ufeff\u00a0\u200b\u2060"
"""What a spreadsheet may pass over before it finds a formula."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
SUSPECT = frozenset((*UNSEEN, *FORMULA))
"""First characters of every text that ``safe`` changes."""


def safe(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers, None becomes empty.

    >>> safe("=1+1"), safe(-1.5), safe(None), safe("plain")
    ("'=1+1", -1.5, '', 'plain')
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.lstrip(UNSEEN).startswith(FORMULA):
        return "'" + value
    return value
