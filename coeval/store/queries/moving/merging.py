"""A study added to the same study here: what is here already is known again, what is new is added, the rest conflicts.

A row is known again by what has to be unique (an instance's id, a run's label, a submission's key). Logs, of which
the newest line holds, are compared as wholes: one may go on where the other ends, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, rows, scalar
from coeval.store.queries.moving.conflicts import Conflicts
from coeval.store.queries.moving.reading import Row, Scope, list_rows, names_a_person
from coeval.store.queries.moving.shapes import LEDGER, Schema, Shape
from coeval.store.queries.moving.writing import PeopleMap, get_last_id, insert_rows

PARTS = {
    "criteria_set_member": "criteria_set",
    "proposal": "ballot_round",
    "vote": "ballot",
    "draft_row": "draft",
    "quote": "draft_row",
    "submission_row": "submission",
}
"""Rows that make up another: where that is known again, they have to be the same, no more and no fewer."""

UNORDERED = ("job", "suggestion", "import_batch")
"""Lines that stand for themselves: each is here, or is added."""

NOT_MERGED = ("annotator", "account", "task_archive", LEDGER)
"""What is met elsewhere; and whether the other file had put its task away."""

OF_THIS_FILE = {
    "task": frozenset(("slug", "origin", "seed")),
    "instance": frozenset(("position",)),
    "run": frozenset(("shown",)),
    "submission": frozenset(("import_batch",)),
}
"""Columns that may differ between two files of one study."""


class Merging:
    """One study on its way into the task of ``here``; ``conflicts`` and ``added`` fill up with ``run``."""

    def __init__(
        self, db: Database, source: Database, schema: Schema, there: Scope, here: Scope, persons: PeopleMap,
        conflicts: Conflicts, runs: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.db, self.source, self.schema, self.there, self.here = db, source, schema, there, here
        self.persons, self.conflicts, self.runs = persons, conflicts, runs
        self.added: Counter[str] = Counter()
        self.ids: dict[str, dict[int, int]] = {shape.name: {} for shape in schema.shapes}
        self.ids["annotator"] = dict(persons.ids)
        self.ids["task"] = {there[name]: here[name] for name in ("exam", "task")}
        self._known: dict[str, set[int]] = {name: set() for name in self.ids}
        """Ids here of what was known again."""
        self._last = {shape.name: get_last_id(db, shape.name) for shape in schema.shapes if shape.has_id}

    def run(self) -> None:
        for shape in self.schema.shapes:
            if shape.name == "task":
                self._compare_tasks(shape)
            elif shape.name not in NOT_MERGED:
                if shape.name in UNORDERED or shape.unique:
                    self._merge_rows(shape)
                else:
                    self._merge_logs(shape)
                self._check_parts(shape)

    def _compare_tasks(self, shape: Shape) -> None:
        for row in list_rows(self.source, self.schema, "task", self.there):
            stored = self._get(shape, self.ids["task"][row["id"]])
            self._compare(shape, row, stored, dict(row))

    def _get(self, shape: Shape, key: int) -> Row:
        row = get_row(self.db, f"SELECT * FROM {shape.name} WHERE id = ?", [key])
        assert row is not None
        return row

    # ---- rows that are known again by what is unique --------------------------------------------------------------

    def _merge_rows(self, shape: Shape) -> None:
        for row in list_rows(self.source, self.schema, shape.name, self.there):
            moved = self._move(shape, row)
            if moved is None:
                continue
            stored = self._find(shape, moved)
            if not stored:
                self._add(shape, row, moved)
            elif len(stored) > 1:
                self.conflicts.add(shape, row, "two rows here are both like it in part")
            elif self._compare(shape, row, stored[0], moved):
                self._know(shape, row, stored[0])

    def _move(self, shape: Shape, row: Row) -> Row | None:
        """A row with the ids that its references have here; None where it hangs on something in conflict."""
        moved = dict(row)
        for column, table in shape.references.items():
            if row[column] is not None:
                if row[column] not in self.ids[table]:
                    return None
                moved[column] = self.ids[table][row[column]]
        if "uid" in moved:
            moved["uid"] = self.persons.get_uid(row)
        if shape.name == "run":
            moved["label"] = self.runs.get(row["label"], row["label"])
        return moved

    def _find(self, shape: Shape, moved: Row) -> list[Row]:
        """The rows here that are the same, by any of what has to be unique."""
        stored: list[Row] = []
        for key in shape.unique or (tuple(column for column in shape.columns if column != "id"),):
            if shape.name == "instance" and "position" in key:
                continue
            same = " AND ".join(f"{c} = :{c}" if moved[c] is not None else f"{c} IS NULL" for c in key)
            row = get_row(self.db, f"SELECT * FROM {shape.name} WHERE {same}", moved)
            if row is not None and row not in stored:
                stored.append(row)
        return stored

    def _add(self, shape: Shape, row: Row, moved: Row) -> None:
        if shape.name in PARTS and moved[PARTS[shape.name]] in self._known[PARTS[shape.name]]:
            self.conflicts.add(shape, row, "it is not here")
            return
        if shape.name == "crowd":
            self.conflicts.add(shape, row, "the study was given out to a crowd there, and is not here")
            return
        if shape.name == "instance":
            sql = "SELECT coalesce(max(position), 0) + 1 FROM instance WHERE task = ?"
            moved["position"] = scalar(self.db, sql, [moved["task"]])
        if shape.name == "run":
            moved["shown"] = 0 if self._shows_another(moved["task"]) else row["shown"]
        if shape.has_id:
            self._last[shape.name] += 1
            moved["id"] = self.ids[shape.name][row["id"]] = self._last[shape.name]
        insert_rows(self.db, shape, [moved])
        self.added[shape.name] += 1

    def _shows_another(self, task: int) -> bool:
        return bool(scalar(self.db, "SELECT count(*) FROM run WHERE task = ? AND shown = 1", [task]))

    def _know(self, shape: Shape, row: Row, stored: Row) -> None:
        if shape.has_id:
            self.ids[shape.name][row["id"]] = stored["id"]
            self._known[shape.name].add(stored["id"])

    def _compare(self, shape: Shape, row: Row, stored: Row, moved: Row) -> bool:
        """Whether two rows say the same; a conflict where they do not."""
        differing = [column for column in self._list_compared(shape) if stored[column] != moved[column]]
        if differing:
            self.conflicts.add_difference(shape, row, differing, stored, moved)
        return not differing

    def _list_compared(self, shape: Shape) -> list[str]:
        """What has to be the same: all of what somebody did; of what is judged, not who put it in, or when."""
        skipped = OF_THIS_FILE.get(shape.name, frozenset()) | {"id"}
        if "annotator" not in shape.references.values():
            skipped |= {
                column for column in shape.columns if column.endswith("_at") or names_a_person(column)
            }
        return [column for column in shape.columns if column not in skipped]

    def _check_parts(self, shape: Shape) -> None:
        """What was known again has here no parts that it lacks there."""
        whole = PARTS.get(shape.name)
        if whole is None:
            return
        column = next(c for c, table in shape.references.items() if table == whole)
        there = Counter(row[column] for row in list_rows(self.source, self.schema, shape.name, self.there))
        for old, new in self.ids[whole].items():
            if new in self._known[whole]:
                here = scalar(self.db, f"SELECT count(*) FROM {shape.name} WHERE {column} = ?", [new])
                if here > there[old]:
                    self.conflicts.add(
                        shape, {column: old}, f"there are {there[old]} of these there, and {here} here"
                    )

    # ---- logs, of which the newest line holds ---------------------------------------------------------------------

    def _merge_logs(self, shape: Shape) -> None:
        subject = [
            column for column in shape.columns if column in shape.references and column in shape.required
        ]
        subject += ["name"] if shape.name == "column_role" else []
        logs: dict[tuple[Any, ...], list[tuple[Row, Row]]] = {}
        for row in list_rows(self.source, self.schema, shape.name, self.there):
            moved = self._move(shape, row)
            if moved is not None:
                logs.setdefault(tuple(moved[column] for column in subject), []).append((row, moved))
        for key, lines in logs.items():
            self._merge_log(shape, list(self._list_log(shape, subject, key)), lines)

    def _list_log(self, shape: Shape, subject: list[str], key: tuple[Any, ...]) -> Iterator[Row]:
        same = " AND ".join(f"{column} = ?" for column in subject)
        return rows(self.db, f"SELECT * FROM {shape.name} WHERE {same} ORDER BY id", key)

    def _merge_log(self, shape: Shape, here: list[Row], there: list[tuple[Row, Row]]) -> None:
        compared = self._list_compared(shape)
        same = 0
        for stored, (row, moved) in zip(here, there, strict=False):
            if any(stored[column] != moved[column] for column in compared):
                break
            self._know(shape, row, stored)
            same += 1
        if same == len(here):
            for row, moved in there[same:]:
                self._add(shape, row, moved)
        elif same < len(there):
            self.conflicts.add(
                shape, there[same][0], "both files went on from the same line, each in its own way"
            )
