"""Removal of a person's data. Only here are facts deleted or set aside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from coeval.clock import now
from coeval.store.engines.database import (
    Database,
    append,
    append_numbered,
    get_columns,
    get_row,
    overwrite_deleted,
    rows,
    scalar,
    to_json,
)
from coeval.store.queries.reservations import reject_finished

CHILDREN = {"submission_row": "submission", "vote": "ballot", "mark_answer": "mark"}
"""Tables whose rows belong to a person's row, with the column that refers to it."""
KEPT = frozenset(["enrolment", "reservation", "arrival", "invitation"])
"""Tables whose rows stay under a neutral name: they record that somebody took part and got work."""


def remove_person(db: Database, person: int) -> dict[str, int]:
    """Delete all of a person's saves, their account and sessions; return the number of rows by table.

    Every table with a column ``annotator`` is included, so that a later table is not forgotten.
    """
    overwrite_deleted(db)
    removed = {}
    for table, parent in CHILDREN.items():
        sql = f"DELETE FROM {table} WHERE {parent} IN (SELECT id FROM {parent} WHERE annotator = ?)"
        removed[table] = db.conn.execute(sql, [person]).rowcount
    for table in _tables_with_annotator(db):
        if table not in KEPT:
            cursor = db.conn.execute(f"DELETE FROM {table} WHERE annotator = ?", [person])
            removed[table] = cursor.rowcount
    _forget_name(db, person)
    return {table: n for table, n in removed.items() if table not in ("session", "account")}


@dataclass(frozen=True, slots=True)
class Aside:
    """Work that was set aside and can be restored; ``state`` is the person's earlier state."""

    id: int
    task: int
    person: int
    arrival: int | None
    state: str
    delete_after: str


def set_aside(
    db: Database, person: int, study: int, exam: int | None, arrival: int, state: str, delete_after: str
) -> int:
    """Set aside the saves of a person's submission until a time; return the number of rows.

    The rows leave their tables, so that no present or future query can count them. The work of the person's
    other submissions stays, with the exam answers that came before this submission.
    """
    overwrite_deleted(db)
    finished = "SELECT instance FROM reservation WHERE arrival = ? AND outcome = 'finished'"
    kept: dict[str, list[dict[str, Any]]] = {"reservation": list(rows(db, finished, [arrival]))}
    reject_finished(db, arrival)
    taken = 0
    for table, removed in _take_out(db, person, study, exam, arrival):
        kept.setdefault(table, []).extend(removed)
        taken += len(removed)
    values = {
        "task": study,
        "annotator": person,
        "arrival": arrival,
        "state": state,
        "rows_json": to_json(kept),
        "withdrawn_at": now(),
        "delete_after": delete_after,
    }
    append(db, "withdrawn_work", values)
    return taken


OF_SUBMISSION = """
SELECT i.id FROM instance i WHERE i.task = :study AND NOT EXISTS (SELECT 1 FROM reservation r
    WHERE r.instance = i.id AND r.annotator = :person AND r.arrival <> :arrival)
UNION
SELECT i.id FROM instance i WHERE i.task = :exam AND NOT EXISTS (SELECT 1 FROM submission s
    WHERE s.instance = i.id AND s.annotator = :person AND coalesce(s.submitted_at, '') < :since)
"""
"""The query for a submission's instances: those of no other submission, and the exam's since the arrival."""


def _take_out(
    db: Database, person: int, study: int, exam: int | None, arrival: int
) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    """Yield the saves of a person's submission by table, children first, and delete them."""
    first = scalar(db, "SELECT min(id) FROM arrival WHERE task = ? AND annotator = ?", [study, person])
    since = "" if first == arrival else scalar(db, "SELECT at FROM arrival WHERE id = ?", [arrival])
    values = {"study": study, "exam": exam, "person": person, "arrival": arrival, "since": since}
    instances = ", ".join(str(row["id"]) for row in list(rows(db, OF_SUBMISSION, values)))
    of_submission = f"annotator = :person AND instance IN ({instances or 'NULL'})"
    mine = [name for name in _tables_with_annotator(db, "instance") if name not in KEPT]
    where = {child: f"{parent} IN (SELECT id FROM {parent} WHERE {of_submission})"
             for child, parent in CHILDREN.items() if parent in mine}  # fmt: skip
    where |= dict.fromkeys(mine, of_submission)
    where["exam_attempt"] = "annotator = :person AND task = :study AND at >= :since"
    for table, condition in where.items():
        order = " ORDER BY id" if "id" in get_columns(db, table) else ""
        removed = list(rows(db, f"SELECT * FROM {table} WHERE {condition}{order}", values))
        if removed:
            db.conn.execute(f"DELETE FROM {table} WHERE {condition}", values)
            yield table, removed


def get_aside(db: Database, task: int, person: int) -> Aside | None:
    """Return a person's work that was set aside in a study, if any."""
    sql = "SELECT * FROM withdrawn_work WHERE task = ? AND annotator = ? ORDER BY id DESC LIMIT 1"
    row = get_row(db, sql, [task, person])
    return _aside(row) if row else None


def list_due(db: Database, at: str) -> list[Aside]:
    """Return the set-aside work that is due for deletion."""
    sql = (
        "SELECT id, task, annotator, arrival, state, delete_after FROM withdrawn_work WHERE delete_after <= ?"
    )
    return [_aside(row) for row in list(rows(db, sql, [at]))]


def _aside(row: dict[str, Any]) -> Aside:
    return Aside(*(row[name] for name in ("id", "task", "annotator", "arrival", "state", "delete_after")))


def delete_aside(db: Database, aside: Aside) -> None:
    """Delete set-aside work permanently."""
    overwrite_deleted(db)
    db.conn.execute("DELETE FROM withdrawn_work WHERE id = ?", [aside.id])


def put_back(db: Database, aside: Aside) -> int:
    """Restore work that was set aside; return the number of rows.

    Rows with ids get new ones, because SQLite may have reused the old ones.
    """
    row = get_row(db, "SELECT rows_json FROM withdrawn_work WHERE id = ?", [aside.id])
    assert row is not None
    kept: dict[str, list[dict[str, Any]]] = json.loads(row["rows_json"])
    db.conn.executemany(
        "UPDATE reservation SET outcome = 'finished' WHERE annotator = ? AND instance = ? AND outcome = 'rejected'",
        [(aside.person, reservation["instance"]) for reservation in kept.pop("reservation")],
    )
    ids: dict[tuple[str, int], int] = {}
    for table in sorted(kept, key=lambda name: name in CHILDREN):
        parent = CHILDREN.get(table)
        for values in kept[table]:
            if parent:
                values[parent] = ids[parent, values[parent]]
            old = values.pop("id", None)
            if old is None:
                append(db, table, values)
            else:
                ids[table, old] = append_numbered(db, table, values)
    delete_aside(db, aside)
    return sum(map(len, kept.values()))


def _tables_with_annotator(db: Database, also: str = "annotator") -> list[str]:
    """Return the tables that have both a column ``annotator`` and a column ``also``."""
    return [name for name in sorted(db.table_names()) if {"annotator", also} <= get_columns(db, name)]


def _forget_name(db: Database, person: int) -> None:
    db.conn.execute(
        "UPDATE enrolment SET actor = :new WHERE actor = (SELECT name FROM annotator WHERE id = :person)",
        {"new": f"removed-{person}", "person": person},
    )
    db.conn.execute("UPDATE annotator SET name = ?, uid = '' WHERE id = ?", [f"removed-{person}", person])
    db.conn.execute(
        "UPDATE arrival SET study = 'removed', session = 'removed-' || id WHERE annotator = ?", [person]
    )
    db.conn.execute(
        "UPDATE reservation SET outcome = 'rejected' WHERE annotator = ? AND outcome IN ('', 'finished')",
        [person],
    )
