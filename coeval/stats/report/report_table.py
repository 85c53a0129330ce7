"""A table as the report, the tab and the downloads have it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class Table:
    """One table: ``name`` for files and labels, ``title``, ``note`` (what is counted), and its ``frame``."""

    name: str
    title: str
    note: str
    frame: pd.DataFrame
