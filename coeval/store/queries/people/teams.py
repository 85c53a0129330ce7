"""Who works at a task, where that was chosen, and what of it is given to whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coeval.clock import now
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, rows, scalar


@dataclass(frozen=True, slots=True)
class StoredTeam:
    """Ids of the people who work at a task (none: everybody), and how many an instance goes to (0: all of them)."""

    per_instance: int
    members: tuple[int, ...]


HIDDEN = (
    "SELECT t.task FROM current_task_team t WHERE EXISTS (SELECT 1 FROM task_team_member m WHERE m.task_team = t.id)"
    " AND NOT EXISTS (SELECT 1 FROM task_team_member m WHERE m.task_team = t.id AND m.annotator = :annotator)"
)
"""The tasks that a person does not work at."""


def get_team(db: Database, task: int) -> StoredTeam | None:
    """The team of a task; None where none was ever chosen."""
    head = get_row(db, "SELECT * FROM current_task_team WHERE task = ?", [task])
    if head is None:
        return None
    members = rows(
        db, "SELECT annotator FROM task_team_member WHERE task_team = ? ORDER BY annotator", [head["id"]]
    )
    return StoredTeam(head["per_instance"], tuple(row["annotator"] for row in members))


def record_team(db: Database, task: int, team: StoredTeam, by: str) -> None:
    """Put a team in force; the one before stays on record."""
    team_id = insert(db, "task_team", task=task, per_instance=team.per_instance, set_by=by, set_at=now())
    db.table("task_team_member").insert_all(
        {"task_team": team_id, "annotator": annotator} for annotator in team.members
    )


def list_hidden(db: Database, annotator: int) -> frozenset[int]:
    """The ids of the tasks that a person does not work at."""
    return frozenset(row["task"] for row in rows(db, HIDDEN, {"annotator": annotator}))


def is_hidden(db: Database, annotator: int, slug: str) -> bool:
    """Whether a person does not work at the task of that short name."""
    sql = f"SELECT 1 FROM task WHERE slug = :slug AND id IN ({HIDDEN})"
    return bool(scalar(db, sql, {"annotator": annotator, "slug": slug}))


def is_shared_out(db: Database, task: int, members: Sequence[int]) -> bool:
    """Whether the newest instance of a task is given to one of these people, or there is none."""
    sql = "SELECT id FROM instance WHERE task = ? ORDER BY position DESC LIMIT 1"
    newest = scalar(db, sql, [task])
    if newest is None:
        return True
    sql = f"SELECT 1 FROM assignment WHERE annotator IN ({_marks(members)}) AND instance = ?"
    return bool(scalar(db, sql, [newest]))


def _marks(members: Sequence[int]) -> str:
    return ", ".join(str(int(member)) for member in members) or "NULL"


def list_units(db: Database, task: int) -> list[tuple[int, str]]:
    """(instance, document) of a task, in its order."""
    found = rows(db, "SELECT id, document FROM instance WHERE task = ? ORDER BY position", [task])
    return [(row["id"], row["document"]) for row in found]


def list_given(db: Database, task: int, members: Sequence[int]) -> list[tuple[int, int]]:
    """(annotator, instance) of these people's queues in a task."""
    sql = f"SELECT annotator, instance FROM assignment WHERE annotator IN ({_marks(members)}) AND task = ?"
    return [(row["annotator"], row["instance"]) for row in rows(db, sql, [task])]


def list_judged_by_others(db: Database, task: int, members: Sequence[int]) -> list[tuple[int, int]]:
    """(annotator, instance) of what people who are not among these have saved in a task."""
    sql = (
        "SELECT DISTINCT s.annotator, s.instance FROM submission s JOIN instance i ON i.id = s.instance"
        f" WHERE i.task = ? AND s.annotator NOT IN ({_marks(members)})"
    )
    return [(row["annotator"], row["instance"]) for row in rows(db, sql, [task])]


def list_with_queue(db: Database, task: int) -> list[int]:
    """The people who have a queue in a task."""
    found = rows(db, "SELECT DISTINCT annotator FROM assignment WHERE task = ?", [task])
    return [row["annotator"] for row in found]


def drop_unopened(db: Database, task: int, annotator: int) -> None:
    """Take out of a queue what its owner has not opened, and number the rest anew."""
    where = [task, annotator]
    db.conn.execute("DELETE FROM assignment WHERE task = ? AND annotator = ? AND arm IS NULL", where)
    sql = "SELECT instance FROM assignment WHERE task = ? AND annotator = ? ORDER BY position"
    kept = [row["instance"] for row in rows(db, sql, where)]
    # a place is one instance's alone, also for a moment: so they pass through places below 0
    for sign in (-1, 1):
        _renumber(db, annotator, kept, sign)


def _renumber(db: Database, annotator: int, instances: Sequence[int], sign: int) -> None:
    values: Iterable[tuple[int, int, int]] = (
        (sign * place, annotator, instance) for place, instance in enumerate(instances, 1)
    )
    db.conn.executemany("UPDATE assignment SET position = ? WHERE annotator = ? AND instance = ?", values)
