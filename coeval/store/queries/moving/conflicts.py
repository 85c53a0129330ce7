"""Where two files of one study say different things, in words that name the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row
from coeval.store.queries.moving.shapes import Schema, Shape

MOST = 200
"""Conflicts that are listed; of the others only their number is told."""

NAMED_BY = {
    "task": "slug", "instance": "external_id", "criterion": "text", "run": "label", "annotator": "name",
    "criteria_set": "version", "ballot_round": "round", "column_role": "name",
}  # fmt: skip
"""The column by which people know a row."""

WORDS = {
    "task": "the task", "crowd": "the crowd plan", "draft_row": "a line of a draft",
    "submission_row": "a line of a submission",
    "criteria_set": "criteria set", "criteria_set_member": "a criterion of a set", "column_role": "who sees the column",
    "design_change": "the design", "criterion_guide": "the guide of a criterion", "mark": "a flag or comment",
    "planted_error": "planted error", "exam_attempt": "a try at the exam", "ballot_round": "ballot round",
}  # fmt: skip

SETTINGS = frozenset(
    ("task", "crowd", "column_role", "design_change", "criterion_guide", "criterion_steps", "stopping_rule")
)
"""What the owner of a file decides about its task: where told to, a merge goes on with what stands here."""

HARD = frozenset(("scale_min", "scale_max"))
"""Columns of the task that no choice settles: scores on two scales cannot be compared."""


class Conflicts:
    """What a merge found that it cannot settle; ``settled`` counts what ``keep_texts`` settled."""

    def __init__(self, source: Database, schema: Schema, *, keep_texts: bool) -> None:
        self._source, self._schema, self._keep_texts = source, schema, keep_texts
        self.listed: list[str] = []
        self.n, self.settled = 0, 0

    def add(self, shape: Shape, row: Mapping[str, Any], why: str, *, hard: bool = False) -> None:
        if shape.name in SETTINGS and self._keep_texts and not hard:
            self.settled += 1
            return
        self.n += 1
        if len(self.listed) < MOST:
            self.listed.append(f"{self._name(shape, row)}: {why}")

    def add_difference(
        self, shape: Shape, row: Mapping[str, Any], columns: Sequence[str], stored: Mapping[str, Any],
        moved: Mapping[str, Any],
    ) -> None:  # fmt: skip
        first = columns[0]
        more = f" (and {', '.join(columns[1:])})" if columns[1:] else ""
        references = (
            "" if first in shape.references else f": here {_cut(stored[first])}, there {_cut(moved[first])}"
        )
        why = f"its {first.removesuffix('_json')} differs{references}{more}"
        self.add(shape, row, why, hard=shape.name == "task" and bool(HARD & set(columns)))

    def _name(self, shape: Shape, row: Mapping[str, Any]) -> str:
        words = WORDS.get(shape.name, shape.name.replace("_", " "))
        known = ", ".join(self._describe(shape, row))
        return f"{words} ({known})" if known else words

    def _describe(self, shape: Shape, row: Mapping[str, Any]) -> list[str]:
        """What people know a row by, or the rows that it hangs on."""
        if NAMED_BY.get(shape.name) in row:
            return [_cut(row[NAMED_BY[shape.name]])]
        parts: list[str] = []
        for column in shape.columns:
            table = shape.references.get(column)
            if (
                table in (None, "task", "import_batch")
                or column not in shape.required
                or row.get(column) is None
            ):
                continue
            parent = get_row(self._source, f"SELECT * FROM {table} WHERE id = ?", [row[column]])
            parts += self._describe(self._schema.get(str(table)), parent or {})
        return list(dict.fromkeys(parts))


def _cut(value: Any) -> str:
    text = " ".join(str(value).split())
    return f"“{text[:50]}{'…' if len(text) > 50 else ''}”"
