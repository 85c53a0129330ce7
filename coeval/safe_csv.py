"""Spreadsheet-safe cells. Every exported CSV passes through ``safe``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

UNSEEN = " \ufeff\u00a0\u200b\u2060"
"""Characters that a spreadsheet may skip before it finds a formula."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
GUARD = "'"
SUSPECT = frozenset((*UNSEEN, *FORMULA, GUARD))
"""The first characters of texts that ``safe`` may change."""

INSTANCE_COLUMNS = (
    "instance", "position", "document", "system", "input", "output", "reference", "context", "check",
)  # fmt: skip
"""The header of our own ``instances.csv``: only a file with it is read with ``restore``."""


def safe(value: Any) -> Any:
    """Return a cell that no spreadsheet reads as a formula; numbers stay numbers, and None becomes empty.

    A text that begins with an apostrophe also gets one, so that ``restore`` returns every text.

    >>> safe("=1+1"), safe(-1.5), safe(None), safe("plain"), safe("'tis")
    ("'=1+1", -1.5, '', 'plain', "''tis")
    """
    if value is None:
        return ""
    if isinstance(value, str) and (value.startswith(GUARD) or value.lstrip(UNSEEN).startswith(FORMULA)):
        return GUARD + value
    return value


def restore(cell: str) -> str:
    """Return the text of a cell that ``safe`` wrote.

    >>> restore(safe("=1+1")), restore(safe("'tis")), restore(safe("plain"))
    ('=1+1', "'tis", 'plain')
    """
    return cell.removeprefix(GUARD)


def read_cell(cell: str) -> str:
    """Return the text of a cell that ``safe`` or a person wrote: only a guard that ``safe`` would add is taken off.

    >>> read_cell("'=1+1"), read_cell("'tis"), read_cell("plain")
    ('=1+1', "'tis", 'plain')
    """
    text = restore(cell)
    return text if safe(text) == cell else cell


def rows_to_csv(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as spreadsheet-safe CSV; None is empty.

    >>> rows_to_csv([("a", "n"), ("=1", 1), (None, 2)])
    "a,n\\r\\n'=1,1\\r\\n,2\\r\\n"
    """
    target = io.StringIO()
    csv.writer(target).writerows([safe(cell) for cell in row] for row in rows)
    return target.getvalue()


def to_csv(frame: pd.DataFrame) -> str:
    """Return the frame as spreadsheet-safe CSV; missing values are empty.

    >>> import pandas as pd
    >>> to_csv(pd.DataFrame({"a": ["=1", None], "n": [1, 2]}))
    "a,n\\r\\n'=1,1\\r\\n,2\\r\\n"
    """
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False)
    return rows_to_csv(chain([map(str, frame.columns)], rows))
