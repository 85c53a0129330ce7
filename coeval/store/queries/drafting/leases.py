"""Leases: who is at work on what only one worker at a time may do."""

from __future__ import annotations

from dataclasses import asdict

from coeval.clock import now, time_from_now
from coeval.domain import LEASE, Lease
from coeval.store.engines.interface import Database
from coeval.store.engines.mapper import Record
from coeval.store.engines.statements import get_row, upsert

LEASES = Record(Lease)
LIVE = "renewed_at BETWEEN :since AND :until"
"""A time in the future is of a clock that was set back since: it counts as long as one in the past."""


def live_since() -> dict[str, str]:
    """What ``LIVE`` compares with."""
    return {"since": time_from_now(-LEASE), "until": time_from_now(LEASE)}


def get_live_lease(db: Database, name: str) -> Lease | None:
    """The lease of that name, where somebody still renews it."""
    row = get_row(db, f"SELECT * FROM lease WHERE name = :name AND {LIVE}", {"name": name, **live_since()})
    return LEASES.from_row(row) if row else None


def take_lease(db: Database, name: str, holder: str, job: int | None = None) -> None:
    """Put a lease into the place of whatever stood there."""
    lease = Lease(name, holder, job, now())
    upsert(db, "lease", "name", asdict(lease))


def renew_leases(db: Database, holder: str) -> int:
    """Renew all that a holder has, and say how many they are."""
    return db.conn.execute("UPDATE lease SET renewed_at = ? WHERE holder = ?", [now(), holder]).rowcount


def remove_dead_lease(db: Database, name: str) -> None:
    """Remove a lease that nobody renews any more."""
    db.conn.execute(f"DELETE FROM lease WHERE name = :name AND NOT ({LIVE})", {"name": name, **live_since()})


def is_held(db: Database, name: str, holder: str) -> bool:
    return get_row(db, "SELECT 1 FROM lease WHERE name = ? AND holder = ?", [name, holder]) is not None


def release_leases(db: Database, holder: str) -> None:
    db.conn.execute("DELETE FROM lease WHERE holder = ?", [holder])
