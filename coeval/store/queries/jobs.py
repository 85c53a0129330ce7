"""Jobs, which outlive the page that started them, and leases, which give exclusive work to one worker."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any

from coeval.clock import now, time_from_now
from coeval.domain import LEASE, Job, JobState, Lease
from coeval.store.engines.database import Database, Record, get_row, insert, rows, to_json, upsert

LEASES = Record(Lease)
LIVE = "renewed_at BETWEEN :since AND :until"
"""The condition for a recent sign of life.

A time in the future comes from a clock that was set back, and counts as expired.
"""


def live_since() -> dict[str, str]:
    """Return the values for ``LIVE``."""
    return {"since": time_from_now(-LEASE), "until": time_from_now(LEASE)}


def get_live_lease(db: Database, name: str) -> Lease | None:
    """Return the lease with that name if its holder still renews it."""
    row = get_row(db, f"SELECT * FROM lease WHERE name = :name AND {LIVE}", {"name": name, **live_since()})
    return LEASES.from_row(row) if row else None


def take_lease(db: Database, name: str, holder: str, job: int | None = None) -> None:
    """Store a lease, in place of any earlier one."""
    lease = Lease(name, holder, job, now())
    upsert(db, "lease", "name", asdict(lease))


def renew_leases(db: Database, holder: str) -> int:
    """Renew all leases of a holder, and return their number."""
    return db.conn.execute("UPDATE lease SET renewed_at = ? WHERE holder = ?", [now(), holder]).rowcount


def remove_dead_lease(db: Database, name: str) -> None:
    """Remove an expired lease."""
    db.conn.execute(f"DELETE FROM lease WHERE name = :name AND NOT ({LIVE})", {"name": name, **live_since()})


def is_lease_held(db: Database, name: str, holder: str) -> bool:
    return get_row(db, "SELECT 1 FROM lease WHERE name = ? AND holder = ?", [name, holder]) is not None


def release_leases(db: Database, holder: str) -> None:
    db.conn.execute("DELETE FROM lease WHERE holder = ?", [holder])


def list_named_leases(db: Database, prefix: str) -> list[str]:
    """Return the names of leases that begin with ``prefix``, the newest last."""
    sql = f"SELECT name FROM lease WHERE {_begins(prefix)} = ? ORDER BY renewed_at"
    return [row["name"] for row in db.query(sql, [prefix])]


def release_named_leases(db: Database, prefix: str) -> None:
    db.conn.execute(f"DELETE FROM lease WHERE {_begins(prefix)} = ?", [prefix])


def _begins(prefix: str) -> str:
    # PostgreSQL has no substr for a bigint parameter
    return f"substr(name, 1, {len(prefix)})"


# Jobs: long work that outlives the page that started it.

PREFILLS = EVALUATIONS, BATCH = "evaluations", "batch"
"""The kinds of jobs that draft evaluations."""

CUT_OFF = (
    f"kind <> '{BATCH}' AND state IN ('queued', 'running') AND updated_at NOT BETWEEN :since AND :until"
    f" AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.job = job.id AND {LIVE})"
)
"""The condition for a job marked as running that has shown no sign of life for the duration of a lease."""


JOB = Record(Job, elsewhere=("params", "id"))


def _job(row: dict[str, Any]) -> Job:
    return JOB.from_row(row, params=json.loads(row["params_json"]), id=row["id"])


def add_job(db: Database, job: Job) -> Job:
    at = now()
    stored = replace(job, created_at=at, updated_at=at)
    params = to_json(dict(job.params))
    return replace(stored, id=insert(db, "job", params_json=params, **JOB.to_row(stored)))


def get_job(db: Database, job: int) -> Job | None:
    row = get_row(db, "SELECT * FROM job WHERE id = ?", [job])
    return _job(row) if row else None


def list_jobs(db: Database, task: int, kinds: Collection[str], *, limit: int = 20) -> list[Job]:
    """Return a task's jobs of these kinds, newest first."""
    marks = ", ".join("?" * len(kinds))
    sql = f"SELECT * FROM job WHERE task = ? AND kind IN ({marks}) ORDER BY id DESC LIMIT ?"
    return [_job(row) for row in db.query(sql, [task, *kinds, limit])]


def get_prefill(db: Database, task: int) -> Job | None:
    """Return a task's newest pre-fill if it is under way, was stopped, or failed."""
    newest = list_jobs(db, task, PREFILLS, limit=1)
    return newest[0] if newest and newest[0].state is not JobState.DONE else None


def list_active(db: Database, task: int, kind: str) -> list[Job]:
    """Return the running and queued jobs of a kind."""
    active = db.table("job").rows_where(
        "task = ? AND kind = ? AND state IN ('queued', 'running')", [task, kind], order_by="id"
    )
    return [_job(row) for row in active]


def update_job(db: Database, job: int, **values: Any) -> None:
    """Change state, total, done, failed or message of a job."""
    db.table("job").update(job, values | {"updated_at": now()})


def mark_interrupted(db: Database, after: int = 0) -> int:
    """Cancel jobs marked as running that have no worker, and return their number; batch files need no worker.

    Jobs that servers have taken over fewer than ``after`` times are left alone.
    """
    cursor = db.conn.execute(
        "UPDATE job SET state = 'cancelled', message = 'interrupted; start it again to continue',"
        f" updated_at = :now WHERE {CUT_OFF} AND takeovers >= :after",
        {"now": now(), "after": after, **live_since()},
    )
    return cursor.rowcount


def has_interrupted(db: Database, after: int = 0) -> bool:
    sql = f"SELECT 1 FROM job WHERE {CUT_OFF} AND takeovers >= :after LIMIT 1"
    return get_row(db, sql, {"after": after, **live_since()}) is not None


def find_abandoned(db: Database, before: int, but: Collection[int] = ()) -> Job | None:
    """Return the oldest abandoned job not in ``but`` that was taken over fewer than ``before`` times."""
    sql = f"SELECT * FROM job WHERE {CUT_OFF} AND takeovers < :before ORDER BY id"
    candidates = map(_job, rows(db, sql, {"before": before, **live_since()}))
    return next((job for job in candidates if job.id not in but), None)


def take_over(db: Database, before: int, but: Collection[int] = ()) -> Job | None:
    """Queue the oldest abandoned job for the caller and return it; None if there is none."""
    job = find_abandoned(db, before, but)
    if job is not None:
        update_job(db, job.id, state=JobState.QUEUED, takeovers=job.takeovers + 1)
    return job


def list_waiting(db: Database, kind: str) -> list[Job]:
    """Return jobs of a kind that wait for an external event, oldest first."""
    waiting = db.table("job").rows_where("kind = ? AND state = 'queued'", [kind], order_by="id")
    return [_job(row) for row in waiting]
