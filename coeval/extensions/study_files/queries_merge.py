"""Merge a study with the same study here: recognise existing rows, add new ones, and list conflicts.

Rows are recognised by their unique keys (an instance's id, a run's label, a submission's key). Logs, in which
the newest line is valid, are compared as a whole: one may only continue the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from coeval.extensions.study_files.queries import (
    PeopleMap,
    Row,
    Scope,
    get_last_id,
    insert_rows,
    list_rows,
    names_a_person,
)
from coeval.extensions.study_files.queries_schema import LEDGER, Schema, Shape
from coeval.rules.names import compose, find_other_forms
from coeval.store.engines.database import Database, get_row, rows, scalar

MOST = 200
"""The largest number of listed conflicts; the others are only counted."""

NAMED_BY = {
    "task": "slug", "instance": "external_id", "criterion": "text", "run": "label", "annotator": "name",
    "criteria_set": "version", "ballot_round": "round", "column_role": "name",
}  # fmt: skip
"""The column that names a row for people."""

WORDS = {
    "task": "the task", "crowd": "the crowd plan", "draft_row": "a line of a draft",
    "submission_row": "a line of a submission",
    "criteria_set": "criteria set", "criteria_set_member": "a criterion of a set",
    "column_role": "the visibility of the column",
    "design_change": "the design", "criterion_guide": "the guide of a criterion", "mark": "a flag or comment",
    "planted_error": "planted error", "exam_attempt": "an attempt at the exam", "ballot_round": "ballot round",
}  # fmt: skip

SETTINGS = frozenset(
    ("task", "crowd", "column_role", "design_change", "criterion_guide", "criterion_steps", "stopping_rule")
)
"""An owner's settings of a task. On request, a merge keeps the settings of this database."""

NAMES = {"instance": ("external_id", "document", "system"), "criterion": ("text",)}
"""Columns whose texts are names: they are compared in their normal form."""

HARD = frozenset(("scale_min", "scale_max"))
"""Columns of the task that must match: scores on two scales cannot be compared."""


class Conflicts:
    """The conflicts that a merge cannot resolve; ``settled`` counts those that ``keep_texts`` resolved."""

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
        """Return a row's display name, or the names of the rows that it refers to."""
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


PARTS = {
    "criteria_set_member": "criteria_set",
    "proposal": "ballot_round",
    "vote": "ballot",
    "draft_row": "draft",
    "quote": "draft_row",
    "submission_row": "submission",
}
"""Tables whose rows are parts of another row. If that row exists here, its parts must be identical."""

UNORDERED = ("job", "suggestion", "import_batch")
"""Tables of independent rows: each row exists here, or is added."""

NOT_MERGED = ("annotator", "account", "task_archive", LEDGER)
"""Tables that other code merges, and the archiving of the task in the other file."""

OF_THIS_FILE = {
    "task": frozenset(("slug", "origin", "seed")),
    "instance": frozenset(("position",)),
    "run": frozenset(("shown",)),
    "submission": frozenset(("import_batch",)),
}
"""Columns that may differ between two files of one study."""


class Merging:
    """A merge of a study into the task of ``here``; ``run`` fills ``conflicts`` and ``added``."""

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
        """The ids of recognised rows in this database."""
        self._last = {shape.name: get_last_id(db, shape.name) for shape in schema.shapes if shape.has_id}
        self._forms: dict[tuple[str, int], Mapping[str, str]] = {}
        """The names of earlier versions by table and task, by their normal forms."""

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

    # ---- rows with unique keys ------------------------------------------------------------------------------

    def _merge_rows(self, shape: Shape) -> None:
        for row in list_rows(self.source, self.schema, shape.name, self.there):
            moved = self._move(shape, row)
            if moved is None:
                continue
            stored = self._find(shape, moved)
            if not stored:
                self._add(shape, row, moved)
            elif len(stored) > 1:
                self.conflicts.add(shape, row, "two rows here each match it in part")
            elif self._compare(shape, row, stored[0], moved):
                self._know(shape, row, stored[0])

    def _move(self, shape: Shape, row: Row) -> Row | None:
        """Return a row with its references changed to ids of this database; None if it refers to a conflicting row."""
        moved = dict(row)
        for column, table in shape.references.items():
            if row[column] is not None:
                if row[column] not in self.ids[table]:
                    return None
                moved[column] = self.ids[table][row[column]]
        for column in NAMES.get(shape.name, ()):
            moved[column] = self._give_form(shape.name, moved["task"], moved[column])
        if "uid" in moved:
            moved["uid"] = self.persons.get_uid(row)
        if shape.name == "run":
            moved["label"] = self.runs.get(row["label"], row["label"])
        return moved

    def _give_form(self, table: str, task: int, name: str) -> str:
        """Return the form of a name that is stored here, or else its normal form."""
        if (table, task) not in self._forms:
            columns = ", ".join(NAMES[table])
            stored = self.db.conn.execute(f"SELECT {columns} FROM {table} WHERE task = ?", [task])
            self._forms[table, task] = find_other_forms(chain.from_iterable(stored))
        form = compose(name)
        return self._forms[table, task].get(name) or self._forms[table, task].get(form, form)

    def _find(self, shape: Shape, moved: Row) -> list[Row]:
        """Return the rows in this database that share a unique key with a row of the study."""
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
            self.conflicts.add(shape, row, "only the other file gave the study to a crowd")
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
        """Return whether two rows are equal; record a conflict if not."""
        differing = [column for column in self._list_compared(shape) if stored[column] != moved[column]]
        if differing:
            self.conflicts.add_difference(shape, row, differing, stored, moved)
        return not differing

    def _list_compared(self, shape: Shape) -> list[str]:
        """Return the columns that must match: all columns of people's work, and all but author and time of
        other rows.
        """
        skipped = OF_THIS_FILE.get(shape.name, frozenset()) | {"id"}
        if "annotator" not in shape.references.values():
            skipped |= {
                column for column in shape.columns if column.endswith("_at") or names_a_person(column)
            }
        return [column for column in shape.columns if column not in skipped]

    def _check_parts(self, shape: Shape) -> None:
        """Check that a recognised row has the same number of parts in both files."""
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
                        shape,
                        {column: old},
                        f"the other file has {there[old]} of these, and this database has {here}",
                    )

    # ---- logs, in which the newest line is valid ---------------------------------------------------------------------

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
            self.conflicts.add(shape, there[same][0], "both files continued differently after the same line")
