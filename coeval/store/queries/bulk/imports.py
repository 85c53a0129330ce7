"""Writes for import: people's finished work, many submissions at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Submission
from coeval.store.engines.statements import chunks

SUBMISSION = """
INSERT INTO submission (uid, annotator, instance, criterion, draft, arm, score, shown_score, opened_at,
  submitted_at, revision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT 1 + coalesce(max(revision), 0) FROM submission
  WHERE annotator = ? AND instance = ? AND criterion = ?))
"""

ROW = """
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)
VALUES ((SELECT id FROM submission WHERE uid = ?), ?, ?, ?, ?, ?, ?)
"""


def get_known_uids(db: Database, uids: Iterable[str]) -> set[str]:
    """Those of the keys that a submission is stored under."""
    found: set[str] = set()
    for batch in chunks(uids):
        marks = ", ".join("?" * len(batch))
        found.update(
            uid for (uid,) in db.conn.execute(f"SELECT uid FROM submission WHERE uid IN ({marks})", batch)
        )
    return found


def record_submissions(db: Database, submissions: Sequence[Submission]) -> None:
    """Append submissions with their rows, each as the next revision of its evaluation."""
    at = now()
    db.conn.executemany(
        SUBMISSION,
        [
            (s.uid, s.person, s.instance, s.criterion, s.draft, s.arm, s.score, s.shown_score,
             s.opened_at or None, s.submitted_at or at, s.person, s.instance, s.criterion)
            for s in submissions
        ],
    )  # fmt: skip
    db.conn.executemany(
        ROW,
        [
            (s.uid, position, row.draft_row, row.kind, row.action, row.reason, row.text)
            for s in submissions
            for position, row in enumerate(s.rows)
        ],
    )
