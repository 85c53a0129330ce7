"""The columns of a table in which each row is one person's work: the person, and the scores they gave."""

from __future__ import annotations

import re
from collections.abc import Mapping

from coeval.datasets.source import Seen
from coeval.datasets.tables.table import SYNONYMS, Row, Table, find_column, normal_name
from coeval.datasets.text import shorten

MAX_SPAN, SURE_SPAN = 100, 10
"""The widest range of scores, and the widest of a column on whose values all people agree."""

MAX_COMPARED = 1_000
"""The largest number of outputs for which the first person's cells are kept, to compare other people's with them."""

CHOOSE = "Choose other roles under Columns."
"""The end of the note; the command line has another."""

_MEASURE = re.compile(
    r"\b(id|\w*time|seconds|minutes|duration|age|year|length|count|words|tokens|index|order|position|number)\b"
)
_NUMBER = re.compile(r"[+-]?\d{1,4}(\.\d+)?", re.ASCII)
_NO_SCORE = ("", "na", "n/a", "nan", "null", "none")


class PersonColumns:
    """A search in the rows of a table for the columns of people and of their scores."""

    def __init__(self, table: Table, matched: Mapping[str, str]) -> None:
        """``matched`` is the column of each field of an instance."""
        self._person = (
            find_column(table.columns, SYNONYMS["annotator"], taken=matched.values())
            if "output" in matched
            else None
        )
        self._key = [matched[field] for field in ("input", "output", "system") if field in matched]
        self._id = matched.get("instance", "")
        used = {*matched.values(), self._person}
        self._ranges: dict[str, tuple[float, float] | None] = {
            column: None
            for column in table.columns
            if column not in used and not _MEASURE.search(normal_name(column))
        }
        self._differing: set[str] = set()
        self._first: dict[int, dict[str, str]] = {}
        self._ids: dict[int, int] = {}
        self._outputs, self._works, self._names = Seen(), Seen(), set[str]()
        self._split_ids = False

    def add(self, row: Row) -> None:
        if not self._person or not (who := row.cells[self._person].strip()):
            return
        key = hash(tuple(row.cells[column].strip() for column in self._key))
        self._outputs.add(key)
        self._works.add((key, who))
        self._names.add(who)
        for column in [*self._ranges]:
            self._widen(column, row.cells[column].strip())
        cells = {column: row.cells[column].strip() for column in self._ranges}
        if len(self._first) < MAX_COMPARED:
            self._first.setdefault(key, cells)
        before = self._first.get(key, cells)
        self._differing |= {column for column, cell in cells.items() if before[column] != cell}
        if self._id:
            name = hash(row.cells[self._id].strip())
            self._split_ids |= self._ids.setdefault(key, name) != name

    def _widen(self, column: str, cell: str) -> None:
        """Take a cell into its column's range, and drop the column if the cell is no score."""
        if _NUMBER.fullmatch(cell):
            low, high = self._ranges[column] or (float(cell), float(cell))
            self._ranges[column] = min(low, float(cell)), max(high, float(cell))
        elif cell.casefold() not in _NO_SCORE:
            del self._ranges[column]

    def find(self, matched: Mapping[str, str]) -> tuple[dict[str, str], str]:
        """Return the column of each field, and a note, or "" if no columns of people's scores were found.

        ``scores`` has one column name per line. An id of several outputs is the source id.
        """
        scores = [
            column
            for column, ends in self._ranges.items()
            if ends and ends[1] - ends[0] <= (MAX_SPAN if column in self._differing else SURE_SPAN)
        ]
        if not self._person or not scores or not self._outputs.repeated() or self._works.repeated():
            return dict(matched), ""
        fields = {**matched, "annotator": self._person, "scores": "\n".join(scores)}
        shared = len({*self._ids.values()}) < len(self._ids)
        if shared or self._split_ids:
            fields.pop("instance", None)
        if shared and not self._split_ids:
            fields.setdefault("document", self._id)
        note = f"Read as the scores of {len(self._names):,} people: {shorten(', '.join(scores), 300)}."
        return fields, f"{note} {CHOOSE}"
