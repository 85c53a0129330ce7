"""Writes for imports: finished work in large portions, invisible until the import is published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from coeval.clock import now
from coeval.domain import Group, Person, ScrutinyRow, Submission, Task
from coeval.store.engines.database import Database, chunks, insert, scalar
from coeval.store.queries import drafts, people, tasks
from coeval.store.queries.submissions import SUBMISSION

UNSAID = SUBMISSION.to_row(Submission(person=0, instance=0, criterion=0, score=None, rows=()))
"""The columns of a submission, with default values for those that are not in a file."""
del UNSAID["revision"]

# by position: by name, a million of them take a third longer
INSERT = f"""
INSERT INTO submission ({", ".join(UNSAID)}, import_batch, revision)
VALUES ({", ".join("?" * len(UNSAID))}, ?, (SELECT 1 + coalesce(max(revision), 0) FROM submission
  WHERE annotator = ? AND instance = ? AND criterion = ?))
"""

ROW = """
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)
VALUES ((SELECT id FROM submission WHERE uid = ?), ?, ?, ?, ?, ?, ?)
"""


def add_import(db: Database, task: Task, by: str) -> tuple[int, Task]:
    """Begin an import: its batch, and a hidden task for its instances and runs until it is published."""
    batch = insert(db, "import_batch", slug=task.slug, imported_by=by, started_at=now())
    staging = tasks.add_task(db, replace(task, slug=f"{tasks.UNSEEN}{batch}"))
    db.table("import_batch").update(batch, {"staging": staging.id})
    return batch, staging


def list_unfinished(db: Database) -> list[tuple[int, str]]:
    """Return unfinished and interrupted batches, each with the task's short name."""
    unfinished = db.query("SELECT id, slug FROM import_batch WHERE finished_at IS NULL ORDER BY id")
    return [(row["id"], row["slug"]) for row in unfinished]


def add_person(db: Database, batch: int, name: str, group: Group | None = None) -> Person:
    """Return the person with that name; a new person is removed if the import fails.

    ``group`` applies only to a new person.
    """
    stored = people.get_person(db, name)
    if stored is not None:
        return stored
    person = people.ensure_person(db, name)
    db.table("annotator").update(person.id, {"import_batch": batch})
    if group is not None:
        people.set_group(db, person.id, group)
    return person


def count_new_people(db: Database, batch: int) -> int:
    return int(scalar(db, "SELECT count(*) FROM annotator WHERE import_batch = ?", [batch]))


def get_known_uids(db: Database, uids: Iterable[str]) -> set[str]:
    """Return the keys among these that a submission already uses."""
    stored: set[str] = set()
    for batch in chunks(uids):
        marks = ", ".join("?" * len(batch))
        stored.update(
            uid for (uid,) in db.conn.execute(f"SELECT uid FROM submission WHERE uid IN ({marks})", batch)
        )
    return stored


def record_submissions(
    db: Database, batch: int, submissions: Sequence[tuple[dict[str, Any], Sequence[ScrutinyRow]]]
) -> None:
    """Append submissions (columns from the file, and rows), each as the next revision of its evaluation."""
    db.conn.executemany(
        INSERT,
        [
            (*(UNSAID | said).values(), batch, said["annotator"], said["instance"], said["criterion"])
            for said, _ in submissions
        ],
    )
    db.conn.executemany(
        ROW,
        [
            (said["uid"], position, row.draft_row, row.kind, row.action, row.reason, row.text)
            for said, lines in submissions
            for position, row in enumerate(lines)
        ],
    )


def name_task(db: Database, staging: int, slug: str) -> None:
    """Give an import's hidden task this short name."""
    db.table("task").update(staging, {"slug": slug})


def move_in(db: Database, staging: int, task: int) -> None:
    """Move instances, criteria and columns from an import's hidden task to the target task."""
    first = tasks.count_instances(db, task)
    db.conn.execute(
        "UPDATE instance SET task = ?, position = position + ? WHERE task = ?", [task, first, staging]
    )
    for table in ("criterion", "column_role"):
        db.conn.execute(f"UPDATE {table} SET task = ? WHERE task = ?", [task, staging])


def move_runs_in(db: Database, staging: int, task: int, criteria_set: int | None) -> None:
    """Move an import's runs to the target task and its criteria set; the task's shown run does not change."""
    values = {"task": task, "staging": staging, "criteria_set": criteria_set}
    drafts.hide_undrafted(db, staging)
    db.conn.execute(
        "UPDATE run SET shown = 0 WHERE task = :staging AND :task <> :staging"
        " AND EXISTS (SELECT 1 FROM run seen WHERE seen.task = :task AND seen.shown = 1)",
        values,
    )
    db.conn.execute(
        "UPDATE run SET task = :task, criteria_set = :criteria_set WHERE task = :staging AND criteria_set IS NULL",
        values,
    )


def finish_import(db: Database, batch: int, task: int) -> None:
    """Publish a batch, and delete its hidden task unless it becomes the task."""
    staging = get_staging(db, batch)
    db.conn.execute("UPDATE annotator SET import_batch = NULL WHERE import_batch = ?", [batch])
    db.table("import_batch").update(batch, {"finished_at": now(), "staging": None})
    if staging != task:
        db.conn.execute("DELETE FROM task WHERE id = ?", [staging])


LAST_REMOVALS = (
    "DELETE FROM annotator WHERE import_batch = :batch",
    "DELETE FROM run WHERE task = :staging",
    "DELETE FROM column_role WHERE task = :staging",
    "DELETE FROM criterion_guide WHERE criterion IN (SELECT id FROM criterion WHERE task = :staging)",
    "DELETE FROM criterion WHERE task = :staging",
    "DELETE FROM import_batch WHERE id = :batch",
    "DELETE FROM task WHERE id = :staging",
)


PART = 100
"""The most submissions or drafts that one step of a removal takes."""


def remove_part(db: Database, batch: int) -> bool:
    """Remove some rows of an unfinished batch; return whether there may be more.

    Child rows are removed before their parents, in one transaction, so that no save is ever without its
    lines.
    """
    staging = get_staging(db, batch)
    submissions = _list_ids(db, "SELECT id FROM submission WHERE import_batch = ? LIMIT ?", batch, PART)
    if submissions:
        _delete(db, "submission_row", "submission", submissions)
        _delete(db, "submission", "id", submissions)
        return True
    staged = "SELECT d.id FROM draft d JOIN run r ON r.id = d.run WHERE r.task = ? LIMIT ?"
    drafts = _list_ids(db, staged, staging, PART)
    if drafts:
        lines = _list_ids(db, f"SELECT id FROM draft_row WHERE draft IN ({_marks(drafts)})", *drafts)
        for some in chunks(lines):
            _delete(db, "quote", "draft_row", some)
        _delete(db, "draft_row", "draft", drafts)
        _delete(db, "draft", "id", drafts)
        return True
    instances = _list_ids(db, "SELECT id FROM instance WHERE task = ? LIMIT ?", staging, PART)
    if instances:
        _delete(db, "instance", "id", instances)
        return True
    for sql in LAST_REMOVALS:
        db.conn.execute(sql, {"batch": batch, "staging": staging})
    return False


def _list_ids(db: Database, sql: str, *values: int | None) -> list[int]:
    return [id_ for (id_,) in db.conn.execute(sql, values)]


def _delete(db: Database, table: str, column: str, ids: Sequence[int]) -> None:
    db.conn.execute(f"DELETE FROM {table} WHERE {column} IN ({_marks(ids)})", ids)


def _marks(ids: Sequence[int]) -> str:
    return ", ".join("?" * len(ids))


def get_staging(db: Database, batch: int) -> int | None:
    staging = scalar(db, "SELECT staging FROM import_batch WHERE id = ?", [batch])
    return None if staging is None else int(staging)
