"""Which tasks and runs are put away."""

from __future__ import annotations

from coeval.clock import now
from coeval.store.engines.interface import Database
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


def list_archived_run_ids(db: Database) -> frozenset[int]:
    """The ids of the runs that are put away."""
    return frozenset(row["run"] for row in db.query("SELECT run FROM archived_run"))


def record_run_archive(db: Database, run: int, by: str, *, archived: bool) -> None:
    """Put a run away, where its drafts are shown no more, or take it out again."""
    insert(db, "run_archive", run=run, archived=int(archived), changed_by=by, changed_at=now())
    if archived:
        db.conn.execute("UPDATE run SET shown = 0 WHERE id = ?", [run])
