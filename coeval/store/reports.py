"""Reads for statistics: one query each, giving column names and rows as SQLite has them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

INSTANCES = """
SELECT id, external_id AS instance, document, system FROM instance WHERE task = :task ORDER BY position
"""

SCORES = """
SELECT s.annotator, s.instance, s.criterion, s.arm, s.score, d.score AS draft_score,
  s.shown_score, coalesce(s.sown = 'score', 0) AS sown, coalesce(s.sown, '') AS sown_kind,
  CASE s.arm WHEN 'first' THEN (SELECT f.score FROM first_score f WHERE f.annotator = s.annotator
    AND f.instance = s.instance AND f.criterion = s.criterion) END AS first_score,
  s.bulk, s.active_ms, s.opened_at, s.submitted_at, s.revision
FROM submission s
CROSS JOIN instance i
CROSS JOIN criteria_set_member m
LEFT JOIN draft d ON d.id = s.draft
WHERE i.id = s.instance AND i.task = :task AND m.criterion = s.criterion AND m.criteria_set = :criteria_set
  AND NOT EXISTS (SELECT 1 FROM submission later WHERE later.annotator = s.annotator
    AND later.instance = s.instance AND later.criterion = s.criterion AND later.revision > s.revision)
  AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
ORDER BY s.id
"""
"""What current_submission holds, by ids: one pass over the table in its own order takes half the time of a
join that fetches the names, and 100,000 scores are waited for. ``sown`` says whether the score shown was
wrong on purpose; ``sown_kind`` also names a line of evidence that was."""

ACTIONS = """
SELECT p.name AS annotator, c.text AS criterion, s.arm, r.kind, r.action, count(*) AS n
FROM current_submission s
JOIN instance i ON i.id = s.instance AND i.task = :task
JOIN criteria_set_member m ON m.criterion = s.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = s.criterion
JOIN annotator p ON p.id = s.annotator
JOIN submission_row r ON r.submission = s.id
WHERE s.sown IS NULL
  AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
GROUP BY s.annotator, m.position, s.arm, r.kind, r.action
"""
"""What was done to the lines of drafts as the model made them: drafts that were wrong on purpose are left out."""

DRAFTS = """
SELECT r.id AS run, r.label AS run_label, r.shown, i.external_id AS instance, c.text AS criterion,
  d.score, d.samples_json
FROM current_draft d
JOIN run r ON r.id = d.run AND r.task = :task
JOIN instance i ON i.id = d.instance
JOIN criteria_set_member m ON m.criterion = d.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = d.criterion
ORDER BY r.id, i.position, m.position
"""

QUOTES = """
SELECT r.label AS run_label, count(*) AS n, sum(q.quote_start IS NULL) AS not_found
FROM quote q JOIN draft_row l ON l.id = q.draft_row JOIN current_draft d ON d.id = l.draft
JOIN run r ON r.id = d.run AND r.task = :task GROUP BY r.id ORDER BY r.id
"""


VOTES = """
SELECT v.action, count(*) AS n
FROM vote v JOIN ballot b ON b.id = v.ballot JOIN ballot_round r ON r.id = b.ballot_round AND r.task = :task
WHERE NOT EXISTS (SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
  AND later.annotator = b.annotator AND later.revision > b.revision)
GROUP BY v.action
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a query: names of the columns, and a cursor over the rows, good while the read is."""

    columns: Sequence[str]
    cursor: sqlite3.Cursor

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.cursor)


def read(db: Database, sql: str, **values: Any) -> Result:
    cursor = db.conn.execute(sql, values)
    return Result([column[0] for column in cursor.description], cursor)


FINGERPRINT = """
SELECT
  (SELECT max(id) FROM submission), (SELECT max(id) FROM first_score), (SELECT max(id) FROM draft),
  (SELECT max(id) FROM run), (SELECT max(id) FROM enrolment WHERE task = :task),
  (SELECT max(id) FROM criteria_set WHERE task = :task), (SELECT max(position) FROM instance WHERE task = :task),
  (SELECT id FROM run WHERE task = :task AND shown = 1),
  (SELECT group_concat(role) FROM (SELECT role FROM annotator ORDER BY id))
"""


def get_fingerprint(db: Database, task: int) -> tuple[Any, ...]:
    """Changes whenever anything that a task's statistics rest on does; costs a millisecond, not a read.

    Facts are appended, so the newest ids tell. It may change for another task's sake, never fail to change.
    """
    found: tuple[Any, ...] = db.conn.execute(FINGERPRINT, {"task": task}).fetchone()
    return found
