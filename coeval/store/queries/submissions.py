"""People's saves: append-only, each as a new revision."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

from coeval.clock import now, read_time, write_time
from coeval.domain import Arm, ScrutinyRow, Submission
from coeval.store.engines.database import (
    Database,
    Record,
    append_all,
    append_numbered,
    chunks,
    get_row,
    rows,
    scalar,
)

SUBMISSION = Record(
    Submission,
    renamed={"person": "annotator"},
    elsewhere=("rows", "id"),
    may_be_null=("opened_at", "submitted_at", "planted"),
)
"""Maps all stored fields of a submission.

To add one, add a field of ``Submission`` and a column of that name.
"""

LINE = Record(ScrutinyRow)
LINES_AT_ONCE = 100
"""The number of lines per statement: an evaluation has few lines, and SQLite limits the number of values."""

OF_FIRST = ("uid", "person", "instance", "criterion", "score", "opened_at", "submitted_at", "active_ms")
"""The fields of a submission that a first score stores. To add a field, name it here and add its column."""

FIRST_SCORE = Record(
    Submission,
    renamed={"person": "annotator"},
    elsewhere=tuple(field.name for field in fields(Submission) if field.name not in OF_FIRST),
    may_be_null=("opened_at", "submitted_at"),
)


OUTCOME = (
    "CASE WHEN s.arm <> 'blind' AND (s.draft IS NULL OR s.draft IN (SELECT id FROM draft WHERE status = 'unscored'))"
    " THEN 'undrafted' ELSE s.arm END"
)
"""The resulting arm of a submission ``s``, in SQL: undrafted if no draft could be read. Every count starts here."""


def published(alias: str) -> str:
    """Return the condition that excludes submissions of unfinished imports, for queries over many people."""
    pending = "SELECT id FROM import_batch WHERE finished_at IS NULL"
    return f"({alias}.import_batch IS NULL OR {alias}.import_batch NOT IN ({pending}))"


REPLACED = f"""
SELECT old.id FROM submission later
JOIN submission old ON old.annotator = later.annotator AND old.instance = later.instance
  AND old.criterion = later.criterion AND old.revision < later.revision
WHERE later.revision > 1 AND {published("later")}
"""
"""Submissions that a later revision replaces; revisions begin with 1.

There are few, and an index has the later revisions. Looking for a later revision of each submission takes 0.7
s for 1,250,000.
"""


def submission_of(db: Database, row: dict[str, Any]) -> Submission:
    """Return the submission in a row of ``submission``, with its lines."""
    lines = rows(db, "SELECT * FROM submission_row WHERE submission = ? ORDER BY position", [row["id"]])
    scrutinised = tuple(LINE.from_row(line) for line in lines)
    return SUBMISSION.from_row(row, rows=scrutinised, id=row["id"])


def get_by_uid(db: Database, uid: str) -> Submission | None:
    """Return the save with this key, including first scores."""
    sql = "SELECT 0 AS first FROM submission WHERE uid = ? UNION ALL SELECT 1 FROM first_score WHERE uid = ?"
    first = scalar(db, sql, [uid, uid])
    if first is None:
        return None
    row = get_row(db, f"SELECT * FROM {'first_score' if first else 'submission'} WHERE uid = ?", [uid])
    assert row is not None
    return _first_score(row) if first else submission_of(db, row)


def get_submission(db: Database, annotator: int, instance: int, criterion: int) -> Submission | None:
    """Return the latest revision of a person's scrutiny of an instance by a criterion."""
    row = get_row(
        db,
        "SELECT * FROM submission WHERE annotator = ? AND instance = ? AND criterion = ?"
        " ORDER BY revision DESC LIMIT 1",
        [annotator, instance, criterion],
    )
    return submission_of(db, row) if row else None


def list_history(
    db: Database, annotator: int, instance: int, criterion: int, before: int, most: int
) -> list[Submission]:
    """Return the last ``most`` revisions below ``before`` of an evaluation, oldest first."""
    sql = (
        "SELECT * FROM submission WHERE annotator = ? AND instance = ? AND criterion = ? AND revision < ? "
        "ORDER BY revision DESC LIMIT ?"
    )
    saved = list(rows(db, sql, [annotator, instance, criterion, before, most]))
    return [submission_of(db, row) for row in reversed(saved)]


def get_first_submission(db: Database, annotator: int, instance: int, criterion: int) -> Submission | None:
    """Return the first revision; None if there is none."""
    sql = "SELECT * FROM submission WHERE annotator = ? AND instance = ? AND criterion = ? ORDER BY revision LIMIT 1"
    row = get_row(db, sql, [annotator, instance, criterion])
    return submission_of(db, row) if row else None


def get_arm(db: Database, annotator: int, instance: int) -> Arm | None:
    """Return the arm of a person's saved work on an instance; None if there is none."""
    sql = "SELECT arm FROM submission WHERE annotator = ? AND instance = ? ORDER BY id DESC LIMIT 1"
    arm = scalar(db, sql, [annotator, instance])
    return Arm(arm) if arm else None


def list_done(db: Database, annotator: int, instance: int) -> set[int]:
    """Return the criteria that a person has saved for an instance."""
    sql = "SELECT DISTINCT criterion FROM submission WHERE annotator = ? AND instance = ?"
    return {row["criterion"] for row in rows(db, sql, [annotator, instance])}


def record_submission(db: Database, submission: Submission) -> Submission:
    """Append a submission with its rows; return it with its id and time."""
    submitted_at = submission.submitted_at or now()
    submission_id = append_numbered(
        db, "submission", SUBMISSION.to_row(submission) | {"submitted_at": submitted_at}
    )
    lines = [
        {"submission": submission_id, "position": position, **LINE.to_row(line)}
        for position, line in enumerate(submission.rows)
    ]
    for block in chunks(lines, LINES_AT_ONCE):
        append_all(db, "submission_row", block)
    return replace(submission, id=submission_id, submitted_at=submitted_at)


def _first_score(row: dict[str, Any]) -> Submission:
    """Return a first score as revision 0 of its evaluation."""
    return FIRST_SCORE.from_row(row, rows=(), arm=Arm.FIRST, revision=0, id=row["id"])


def get_first_score(db: Database, annotator: int, instance: int, criterion: int) -> Submission | None:
    """Return the score that a person gave before the draft was shown, as a submission of revision 0."""
    sql = "SELECT * FROM first_score WHERE annotator = ? AND instance = ? AND criterion = ?"
    row = get_row(db, sql, [annotator, instance, criterion])
    return _first_score(row) if row else None


def record_first_score(db: Database, first: Submission) -> Submission:
    """Store the score from before the draft was shown. There is only one, and it never changes."""
    return replace(first, id=append_numbered(db, "first_score", FIRST_SCORE.to_row(first)))


def get_worked_until(db: Database, annotator: int, *further: str) -> str:
    """Return the end of the active time of a person's last timed save; empty if there is none.

    ``further`` are an extension's tables of saves, which have the columns of ``submission`` that are read here.
    """
    tables = ("submission", "first_score", *further)
    last = rows(db, " UNION ALL ".join(map(_last_timed, tables)), [annotator] * len(tables))
    ends = (read_time(row["opened_at"]) + timedelta(milliseconds=row["active_ms"]) for row in last)
    return max(map(write_time, ends), default="")


def _last_timed(table: str) -> str:
    return (
        f"SELECT * FROM (SELECT opened_at, active_ms FROM {table} WHERE annotator = ? AND active_ms IS NOT NULL"
        f" AND opened_at IS NOT NULL ORDER BY id DESC LIMIT 1) {table}_last"
    )


NEWEST_SAVE = "SELECT coalesce(max(id), 0) FROM submission"


def get_newest(db: Database) -> int:
    """Return the id of the newest save; 0 before the first."""
    return int(scalar(db, NEWEST_SAVE))
