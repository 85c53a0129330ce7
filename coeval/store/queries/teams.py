"""The team, requested lines and stopping rules of a task."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from coeval.clock import now
from coeval.domain.studies import StoppingRule
from coeval.store.engines.database import Database, get_row, insert, join_ids, rows, scalar, to_json
from coeval.store.queries.tasks import record_change

# The task's team, if one was chosen, and the distribution of its work.


@dataclass(frozen=True, slots=True)
class StoredTeam:
    """The ids of a task's team (empty: everybody), and the number of people per instance (0: all)."""

    per_instance: int
    members: tuple[int, ...]


HIDDEN = (
    "SELECT t.task FROM current_task_team t WHERE EXISTS (SELECT 1 FROM task_team_member m WHERE m.task_team = t.id)"
    " AND NOT EXISTS (SELECT 1 FROM task_team_member m WHERE m.task_team = t.id AND m.annotator = :annotator)"
)
"""The tasks that a person does not work on."""


def get_team(db: Database, task: int) -> StoredTeam | None:
    """Return the team of a task; None if none was ever chosen."""
    head = get_row(db, "SELECT * FROM current_task_team WHERE task = ?", [task])
    if head is None:
        return None
    members = rows(
        db, "SELECT annotator FROM task_team_member WHERE task_team = ? ORDER BY annotator", [head["id"]]
    )
    return StoredTeam(head["per_instance"], tuple(row["annotator"] for row in members))


def record_team(db: Database, task: int, team: StoredTeam, by: str) -> None:
    """Store a new team; the previous team stays on record."""
    team_id = insert(db, "task_team", task=task, per_instance=team.per_instance, set_by=by, set_at=now())
    db.table("task_team_member").insert_all(
        {"task_team": team_id, "annotator": annotator} for annotator in team.members
    )


def list_hidden(db: Database, annotator: int) -> frozenset[int]:
    """Return the ids of the tasks that a person does not work on."""
    return frozenset(row["task"] for row in rows(db, HIDDEN, {"annotator": annotator}))


def find_standing(db: Database, annotator: int, slug: str) -> tuple[bool, bool]:
    """Return whether a person is a guest, and whether the person does not work on the task with this short name."""
    sql = (
        "SELECT (SELECT guest FROM account WHERE annotator = :annotator),"
        f" (SELECT 1 FROM task WHERE slug = :slug AND id IN ({HIDDEN}))"
    )
    guest, hidden = db.conn.execute(sql, {"annotator": annotator, "slug": slug}).fetchone()
    return bool(guest), bool(hidden)


def is_shared_out(db: Database, task: int, members: Sequence[int]) -> bool:
    """Return whether one of these people has the newest instance of a task, or whether the task has no instances."""
    sql = "SELECT id FROM instance WHERE task = ? ORDER BY position DESC LIMIT 1"
    newest = scalar(db, sql, [task])
    if newest is None:
        return True
    sql = f"SELECT 1 FROM assignment WHERE annotator IN ({join_ids(members)}) AND instance = ?"
    return bool(scalar(db, sql, [newest]))


def list_units(db: Database, task: int) -> list[tuple[int, str]]:
    """Return (instance, document) pairs of a task, in order."""
    instances = rows(db, "SELECT id, document FROM instance WHERE task = ? ORDER BY position", [task])
    return [(row["id"], row["document"]) for row in instances]


def list_given(db: Database, task: int, members: Sequence[int]) -> list[tuple[int, int]]:
    """Return the (annotator, instance) pairs of these people's queues in a task."""
    sql = f"SELECT annotator, instance FROM assignment WHERE annotator IN ({join_ids(members)}) AND task = ?"
    return [(row["annotator"], row["instance"]) for row in rows(db, sql, [task])]


def list_judged_by_others(db: Database, task: int, members: Sequence[int]) -> list[tuple[int, int]]:
    """Return the (annotator, instance) pairs of a task that people other than ``members`` have saved."""
    sql = (
        "SELECT DISTINCT s.annotator, s.instance FROM submission s JOIN instance i ON i.id = s.instance"
        f" WHERE i.task = ? AND s.annotator NOT IN ({join_ids(members)})"
    )
    return [(row["annotator"], row["instance"]) for row in rows(db, sql, [task])]


def list_with_queue(db: Database, task: int) -> list[int]:
    """Return the people who have a queue in a task."""
    annotators = rows(db, "SELECT DISTINCT annotator FROM assignment WHERE task = ?", [task])
    return [row["annotator"] for row in annotators]


def drop_unopened(db: Database, task: int, annotator: int) -> None:
    """Remove unopened instances from a queue, and renumber the others."""
    where = [task, annotator]
    db.conn.execute("DELETE FROM assignment WHERE task = ? AND annotator = ? AND arm IS NULL", where)
    sql = "SELECT instance FROM assignment WHERE task = ? AND annotator = ? ORDER BY position"
    kept = [row["instance"] for row in rows(db, sql, where)]
    # two instances never share a position, even for a moment: so they pass through positions below 0
    for sign in (-1, 1):
        _renumber(db, annotator, kept, sign)


def _renumber(db: Database, annotator: int, instances: Sequence[int], sign: int) -> None:
    values: Iterable[tuple[int, int, int]] = (
        (sign * place, annotator, instance) for place, instance in enumerate(instances, 1)
    )
    db.conn.executemany("UPDATE assignment SET position = ? WHERE annotator = ? AND instance = ?", values)


@dataclass(frozen=True, slots=True)
class Asking:
    """The current request for scores: ``scored`` of its ``lines`` have a score."""

    lines: int
    instances: int
    scored: int
    asked_by: str
    asked_at: str


def record_asking(
    db: Database, task: int, judge_hash: str, lines: Iterable[tuple[int, int]], by: str
) -> None:
    """Request these (instance, criterion) pairs in place of earlier ones; an empty list ends the request."""
    last = scalar(db, "SELECT coalesce(max(request), 0) FROM asked_line WHERE task = ?", [task])
    request = {"task": task, "request": last + 1, "judge_hash": judge_hash, "asked_by": by, "asked_at": now()}
    pairs: list[tuple[int | None, int | None]] = [*lines] or [(None, None)]
    db.table("asked_line").insert_all(
        {**request, "instance": instance, "criterion": criterion} for instance, criterion in pairs
    )


def is_asking(db: Database, task: int) -> bool:
    """Return whether only some lines of a task are requested."""
    return bool(scalar(db, "SELECT 1 FROM current_asked_line WHERE task = ? LIMIT 1", [task]))


def get_asking(db: Database, task: int) -> Asking | None:
    """Return the current request; None if there is none."""
    sql = (
        "SELECT count(*) AS lines, count(DISTINCT l.instance) AS instances, count(CASE WHEN EXISTS (SELECT 1"
        " FROM submission s WHERE s.instance = l.instance AND s.criterion = l.criterion) THEN 1 END) AS scored,"
        " max(l.asked_by) AS asked_by, max(l.asked_at) AS asked_at FROM current_asked_line l WHERE l.task = ?"
    )
    row = get_row(db, sql, [task])
    return Asking(**row) if row and row["lines"] else None


def list_asked_instances(db: Database, task: int) -> list[int]:
    """Return the instances with requested lines, in task order."""
    sql = (
        "SELECT DISTINCT i.id, i.position FROM current_asked_line l JOIN instance i ON i.id = l.instance"
        " WHERE l.task = ? ORDER BY i.position"
    )
    return [row["id"] for row in rows(db, sql, [task])]


def list_asked_criteria(db: Database, task: int, instance: int) -> frozenset[int]:
    """Return the criteria that are requested for an instance; empty if none are."""
    if not is_asking(db, task):  # the store keeps this answer for all saves of a transaction
        return frozenset()
    sql = "SELECT criterion FROM current_asked_line WHERE task = ? AND instance = ?"
    return frozenset(row["criterion"] for row in rows(db, sql, [task, instance]))


def list_stopping_rules(db: Database, task: int) -> list[StoppingRule]:
    """Return every stopping rule declared for a task, the newest first."""
    sql = (
        "SELECT stopping_json, changed_by, changed_at FROM task_change WHERE task = ? AND stopping_json IS NOT NULL"
        " ORDER BY id DESC"
    )
    return [
        StoppingRule(
            **json.loads(row["stopping_json"]), declared_by=row["changed_by"], declared_at=row["changed_at"]
        )
        for row in db.query(sql, [task])
    ]


def record_stopping_rule(db: Database, task: int, rule: StoppingRule, by: str) -> None:
    """Declare a stopping rule; earlier ones stay on record."""
    declared = {name: value for name, value in asdict(rule).items() if not name.startswith("declared_")}
    record_change(db, task, by, stopping_json=to_json(declared))
