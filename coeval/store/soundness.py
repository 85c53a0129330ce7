"""Is the file sound? What ``python -m coeval check`` looks at, each with what it found."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.store.engines.interface import Database
from coeval.store.engines.light import Database as SqliteDatabase
from coeval.store.engines.statements import scalar
from coeval.store.migrations.registry import migrations

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
    "submissions by a draft of another instance or criterion": (
        "SELECT count(*) FROM submission s JOIN draft d ON d.id = s.draft"
        " WHERE d.instance <> s.instance OR d.criterion <> s.criterion"
    ),
    "submissions saved before they were opened": (
        "SELECT count(*) FROM submission WHERE opened_at IS NOT NULL AND opened_at > submitted_at"
    ),
    "instances whose positions have a gap": (
        "SELECT count(*) FROM (SELECT 1 FROM instance GROUP BY task HAVING max(position) <> count(*)) gaps"
    ),
    "queues whose tally is not what is in them": (
        "SELECT count(*) FROM (SELECT count(CASE WHEN state = 'finished' THEN 1 END) AS finished,"
        " sum(flagged) AS flagged, annotator, task"
        " FROM assignment GROUP BY annotator, task) q LEFT JOIN queue_tally t USING (annotator, task)"
        " WHERE q.finished <> coalesce(t.finished, 0) OR q.flagged <> coalesce(t.flagged, 0)"
    ),
    "tasks that show more than one run": (
        "SELECT count(*) FROM (SELECT 1 FROM run WHERE shown = 1 GROUP BY task HAVING count(*) > 1) doubled"
    ),
}


@dataclass(frozen=True, slots=True)
class Soundness:
    """What a check found: totals by table, and faults in words (none: the file is sound).

    What our own rules promise is looked at only where no migration is pending: an older file keeps older rules.
    """

    migrations: tuple[str, ...]
    pending: tuple[str, ...]
    totals: dict[str, int]
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.faults


def _examine_pages(db: SqliteDatabase) -> list[str]:
    """Damage to the file, and references to nothing: a server of PostgreSQL sees to both by itself."""
    pages = [row["integrity_check"] for row in db.query("PRAGMA integrity_check")]
    faults = [f"page fault: {text}" for text in pages if text != "ok"]
    orphans: dict[str, int] = {}
    for row in db.query("PRAGMA foreign_key_check"):
        name = f"{row['table']} without its {row['parent']}"
        orphans[name] = orphans.get(name, 0) + 1
    return faults + [f"{n:,} rows of {name}" for name, n in orphans.items()]


def _list_migrations(db: Database) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that a database has had, and those to come."""
    known = [migration.name for migration in migrations.pending(SqliteDatabase(memory=True))]
    sql = f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ?"
    had = {row["name"] for row in db.query(sql, [migrations.name])}
    return tuple(name for name in known if name in had), tuple(name for name in known if name not in had)


def examine_file(db: Database) -> Soundness:
    """Look at the whole file: pages, references between tables, and what our own rules promise."""
    faults = _examine_pages(db) if isinstance(db, SqliteDatabase) else []
    applied, pending = _list_migrations(db)
    if not pending:
        faults += [f"{n:,} {name}" for name, sql in FAULTS.items() if (n := scalar(db, sql))]
    there = set(db.table_names())
    totals = {table: int(scalar(db, f"SELECT count(*) FROM {table}")) for table in COUNTED if table in there}
    return Soundness(applied, pending, totals, tuple(faults))
