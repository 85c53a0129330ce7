"""What could not be computed is one sentence below a chart or a table, and no row of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

MOST_NAMES = 6
_UNDEFINED = re.compile(r"undefined(?:: (.*))?", re.S)
_FIGURE = re.compile(r"[−-]?\d*\.\d|.*%|[−-]?[\d,.]+ (?:s|min)\b")
"""What a cell with a computed number begins with; counts are whole and say nothing by themselves."""


def undefined_words(named: Iterable[tuple[str, str]]) -> str:
    """Names of what could not be computed, by their reasons.

    >>> undefined_words([("a", "needs two people"), ("b", "needs two people"), ("c", "")])
    'Not computed for a and b: needs two people. Not computed for c.'
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in named:
        by_reason.setdefault(reason.strip().rstrip("."), []).append(name)
    return " ".join(
        f"Not computed for {_listed(names)}{f': {reason}' if reason else ''}."
        for reason, names in by_reason.items()
    )


def split_estimates(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, str]:
    """The rows with a ``value``, and a sentence on the others, which ``name`` is the column to name by."""
    defined = frame["value"].notna()
    left_out = frame[~defined]
    named = zip(left_out[name].astype(str), left_out["reason"].astype(str), strict=True)
    return frame[defined], undefined_words(named)


def split_rows(rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], str]:
    """The rows of a table of texts that hold a figure, and a sentence on those whose figures are all undefined.

    >>> split_rows([["a", "undefined: nobody", "0"], ["b", ".50 [.40, .60]", "9"]])
    ([['b', '.50 [.40, .60]', '9']], 'Not computed for a: nobody.')
    """
    kept, named = [], []
    for row in rows:
        found = [(place, match) for place, cell in enumerate(row) if (match := _UNDEFINED.fullmatch(cell))]
        if not found or any(_FIGURE.match(cell) for cell in row):
            kept.append(list(row))
            continue
        reason = next((match[1] for _, match in found if match[1]), "")
        named.append((" ".join(cell for cell in row[: found[0][0]] if cell), reason))
    return kept, undefined_words(named)


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    shown = [*names[:MOST_NAMES], *([f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
