"""Checks of a database for ``python -m coeval check``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlite_utils import Database as SqliteDatabase

from coeval.store.engines.database import Database, scalar
from coeval.store.steps import create_database, list_applied, list_pending, list_step_names

COUNTED = (
    "task", "instance", "criterion", "criteria_set", "ballot", "run", "draft", "draft_row", "annotator",
    "assignment", "submission", "submission_row", "call", "job",
)  # fmt: skip

FAULTS = {
    "submissions whose revisions have a gap": (
        "SELECT count(*) FROM (SELECT 1 FROM submission GROUP BY annotator, instance, criterion"
        " HAVING max(revision) <> count(*)) gaps"
    ),
    "submissions without any row": (
        "SELECT count(*) FROM submission s WHERE s.draft IS NOT NULL AND s.arm = 'assisted'"
        " AND NOT EXISTS (SELECT 1 FROM submission_row r WHERE r.submission = s.id)"
    ),
    "submissions based on a draft of another instance or criterion": (
        "SELECT count(*) FROM submission s JOIN draft d ON d.id = s.draft"
        " WHERE d.instance <> s.instance OR d.criterion <> s.criterion"
    ),
    "submissions saved before they were opened": (
        "SELECT count(*) FROM submission WHERE opened_at IS NOT NULL AND opened_at > submitted_at"
    ),
    "instances whose positions have a gap": (
        "SELECT count(*) FROM (SELECT 1 FROM instance GROUP BY task HAVING max(position) <> count(*)) gaps"
    ),
    "tasks that show more than one run": (
        "SELECT count(*) FROM (SELECT 1 FROM run WHERE shown = 1 GROUP BY task HAVING count(*) > 1) doubled"
    ),
}


@dataclass(frozen=True, slots=True)
class Soundness:
    """The result of a check: totals by table, and descriptions of faults (empty for a sound file).

    CoEval's own rules are checked only if no step is pending, because an older file follows older rules.
    """

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
    return faults + [f"{n:,} rows of {name}" for name, n in orphans.items()] + _list_triggers(db)


def _list_triggers(db: SqliteDatabase) -> list[str]:
    """Return triggers that are not CoEval's own: they can change or drop what people save."""
    found, ours = ({one.name: one.sql for one in each.triggers} for each in (db, create_database()))
    return [f"a foreign trigger “{name}”: drop it" for name, sql in found.items() if ours.get(name) != sql]


def _examine_texts(db: SqliteDatabase) -> Iterator[str]:
    """Yield texts that no program writes on purpose; PostgreSQL accepts none of them."""
    db.conn.create_function("is_text", -1, _is_text, deterministic=True)
    for table in db.table_names():
        columns = [row["name"] for row in db.query(f"PRAGMA table_info({table})") if row["type"] == "TEXT"]
        if columns:
            given = ", ".join(f'CAST("{column}" AS BLOB)' for column in columns)
            n = scalar(db, f"SELECT count(*) FROM {table} WHERE NOT is_text({given})")
            if n:
                yield f"{n:,} rows of {table} with a text that is not UTF-8, or contains the character NUL"


def _is_text(*texts: bytes | None) -> bool:
    try:
        return not any(b"\0" in text or (not text.isascii() and not text.decode()) for text in texts if text)
    except UnicodeDecodeError:
        return False


def _list_steps(db: Database) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the steps that a database has applied, and of those that it lacks."""
    had = set(list_applied(db))
    return tuple(name for name in list_step_names() if name in had), tuple(
        step.name for step in list_pending(db)
    )


def examine_file(db: Database) -> Soundness:
    """Check the whole file: pages, references between tables, and CoEval's own rules."""
    faults = _examine_pages(db) if isinstance(db, SqliteDatabase) else []
    if isinstance(db, SqliteDatabase) and not faults:
        faults += _examine_texts(db)
    applied, pending = _list_steps(db)
    if not pending:
        faults += [f"{n:,} {name}" for name, sql in FAULTS.items() if (n := scalar(db, sql))]
    there = set(db.table_names())
    totals = {table: int(scalar(db, f"SELECT count(*) FROM {table}")) for table in COUNTED if table in there}
    return Soundness(applied, pending, totals, tuple(faults))
