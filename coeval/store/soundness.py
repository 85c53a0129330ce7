"""Checks of a database for ``python -m coeval check``."""

from __future__ import annotations

from dataclasses import dataclass

from sqlite_utils import Database as SqliteDatabase

from coeval.store.engines.database import Database, scalar
from coeval.store.steps import list_applied, list_pending, list_step_names

COUNTED = (
    "task", "instance", "criterion", "criteria_set", "ballot", "run", "draft", "draft_row", "annotator",
    "assignment", "submission", "submission_row", "call", "job",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Soundness:
    """The result of a check: totals by table, and descriptions of faults (empty for a sound file)."""

    migrations: tuple[str, ...]
    pending: tuple[str, ...]
    totals: dict[str, int]
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.faults


def _examine_pages(db: SqliteDatabase) -> list[str]:
    """Return damage to the file, and broken references; a PostgreSQL server prevents both itself."""
    pages = [row["integrity_check"] for row in db.query("PRAGMA integrity_check")]
    faults = [f"page fault: {text}" for text in pages if text != "ok"]
    orphans: dict[str, int] = {}
    for row in db.query("PRAGMA foreign_key_check"):
        name = f"{row['table']} without its {row['parent']}"
        orphans[name] = orphans.get(name, 0) + 1
    return faults + [f"{n:,} rows of {name}" for name, n in orphans.items()]


def _list_steps(db: Database) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the steps that a database has applied, and of those that it lacks."""
    had = set(list_applied(db))
    return tuple(name for name in list_step_names() if name in had), tuple(
        step.name for step in list_pending(db)
    )


def examine_file(db: Database) -> Soundness:
    """Check the whole file: pages, references between tables, steps and totals."""
    faults = _examine_pages(db) if isinstance(db, SqliteDatabase) else []
    applied, pending = _list_steps(db)
    there = set(db.table_names())
    totals = {table: int(scalar(db, f"SELECT count(*) FROM {table}")) for table in COUNTED if table in there}
    return Soundness(applied, pending, totals, tuple(faults))
