"""Writes for import: people's finished work, many submissions at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Submission
from coeval.store.engines.statements import chunks
from coeval.store.queries.scrutiny.submissions import SUBMISSION

SAVED = tuple(column for column in SUBMISSION.columns if column != "revision")
INSERT = f"""
INSERT INTO submission ({", ".join(SAVED)}, revision)
VALUES ({", ".join(f":{column}" for column in SAVED)}, (SELECT 1 + coalesce(max(revision), 0) FROM submission
  WHERE annotator = :annotator AND instance = :instance AND criterion = :criterion))
"""

ROW = """
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)
VALUES ((SELECT id FROM submission WHERE uid = ?), ?, ?, ?, ?, ?, ?)
"""


def get_known_uids(db: Database, uids: Iterable[str]) -> set[str]:
    """Those of the keys that a submission is stored under."""
    known: set[str] = set()
    for batch in chunks(uids):
        marks = ", ".join("?" * len(batch))
        known.update(
            uid for (uid,) in db.conn.execute(f"SELECT uid FROM submission WHERE uid IN ({marks})", batch)
        )
    return known


def record_submissions(db: Database, submissions: Sequence[Submission]) -> None:
    """Append submissions with their rows, each as the next revision of its evaluation."""
    at = now()
    db.conn.executemany(
        INSERT,
        [
            SUBMISSION.to_row(submission) | {"submitted_at": submission.submitted_at or at}
            for submission in submissions
        ],
    )
    db.conn.executemany(
        ROW,
        [
            (s.uid, position, row.draft_row, row.kind, row.action, row.reason, row.text)
            for s in submissions
            for position, row in enumerate(s.rows)
        ],
    )
