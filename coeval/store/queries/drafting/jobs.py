"""Jobs: long work that outlives the page that started it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from coeval.clock import now
from coeval.domain import Job, JobState
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, rows, to_json
from coeval.store.queries.drafting.leases import LIVE, live_since

CUT_OFF = (
    "kind <> 'batch' AND state IN ('queued', 'running') AND updated_at NOT BETWEEN :since AND :until"
    f" AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.job = job.id AND {LIVE})"
)
"""A job that says it is at work, and has shown no sign of life for as long as a lease holds."""


def _job(row: dict[str, Any]) -> Job:
    values = {name: value for name, value in row.items() if name not in ("params_json", "state")}
    return Job(**values, state=JobState(row["state"]), params=json.loads(row["params_json"]))


def add_job(db: Database, job: Job) -> Job:
    at = now()
    job_id = insert(
        db,
        "job",
        kind=job.kind,
        task=job.task,
        state=job.state,
        params_json=to_json(dict(job.params)),
        total=job.total,
        done=job.done,
        failed=job.failed,
        message=job.message,
        created_by=job.created_by,
        created_at=at,
        updated_at=at,
    )
    return replace(job, id=job_id, created_at=at, updated_at=at)


def get_job(db: Database, job: int) -> Job | None:
    row = get_row(db, "SELECT * FROM job WHERE id = ?", [job])
    return _job(row) if row else None


def list_jobs(db: Database, task: int, *, limit: int = 20) -> list[Job]:
    sql = "SELECT * FROM job WHERE task = ? ORDER BY id DESC LIMIT ?"
    return [_job(row) for row in db.query(sql, [task, limit])]


def list_active(db: Database, task: int) -> list[Job]:
    """The pre-fills of a task that are at work, or about to be."""
    active = db.table("job").rows_where(
        "task = ? AND kind <> 'batch' AND state IN ('queued', 'running')", [task], order_by="id"
    )
    return [_job(row) for row in active]


def update_job(db: Database, job: int, **values: Any) -> None:
    """Change state, total, done, failed or message of a job."""
    db.table("job").update(job, values | {"updated_at": now()})


def mark_interrupted(db: Database, after: int = 0) -> int:
    """Cancel jobs that say they are at work while nobody is; gives how many. Batch files wait for no process.

    ``after`` is how often servers take a job over before that.
    """
    cursor = db.conn.execute(
        "UPDATE job SET state = 'cancelled', message = 'cut off; start it again to go on where it was',"
        f" updated_at = :now WHERE {CUT_OFF} AND takeovers >= :after",
        {"now": now(), "after": after, **live_since()},
    )
    return cursor.rowcount


def has_interrupted(db: Database, after: int = 0) -> bool:
    sql = f"SELECT 1 FROM job WHERE {CUT_OFF} AND takeovers >= :after LIMIT 1"
    return get_row(db, sql, {"after": after, **live_since()}) is not None


def find_abandoned(db: Database, before: int, but: Collection[int] = ()) -> Job | None:
    """The oldest job ``but`` these that nobody is at any more, and that was taken over fewer than ``before`` times."""
    sql = f"SELECT * FROM job WHERE {CUT_OFF} AND takeovers < :before ORDER BY id"
    found = map(_job, rows(db, sql, {"before": before, **live_since()}))
    return next((job for job in found if job.id not in but), None)


def take_over(db: Database, before: int, but: Collection[int] = ()) -> Job | None:
    """Queue the oldest abandoned job for whoever asks, and give it; None where there is none."""
    job = find_abandoned(db, before, but)
    if job is not None:
        update_job(db, job.id, state=JobState.QUEUED, takeovers=job.takeovers + 1)
    return job


def list_waiting(db: Database, kind: str) -> list[Job]:
    """Jobs of a kind that wait for something from outside, oldest first."""
    waiting = db.table("job").rows_where("kind = ? AND state = 'queued'", [kind], order_by="id")
    return [_job(row) for row in waiting]
