"""Which tasks are put away."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.clock import now
from coeval.store.engines.statements import insert


def list_archived_ids(db: Database) -> frozenset[int]:
    """The ids of the tasks that are put away."""
    newest = (
        "SELECT a.task FROM task_archive a WHERE a.archived = 1 AND NOT EXISTS"
        " (SELECT 1 FROM task_archive later WHERE later.task = a.task AND later.id > a.id)"
    )
    return frozenset(row["task"] for row in db.query(newest))


def record_archive(db: Database, task: int, by: str, *, archived: bool) -> None:
    """Put a task away, or take it out again."""
    insert(db, "task_archive", task=task, archived=int(archived), changed_by=by, changed_at=now())
