"""Reads for statistics: one query each, giving column names and rows as SQLite has them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

CROWD = "CASE p.role WHEN 'annotator' THEN 'crowd' ELSE 'researchers' END"

INSTANCES = """
SELECT external_id AS instance, document, system FROM instance WHERE task = :task ORDER BY position
"""

SCORES = f"""
SELECT p.name AS annotator, {CROWD} AS "group", i.external_id AS instance, c.text AS criterion, s.arm,
  s.score, d.score AS draft_score,
  CASE s.arm WHEN 'assisted' THEN d.score END AS shown_score,
  s.bulk, s.active_ms, s.opened_at, s.submitted_at, s.revision
FROM current_submission s
JOIN instance i ON i.id = s.instance AND i.task = :task
JOIN criteria_set_member m ON m.criterion = s.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = s.criterion
JOIN annotator p ON p.id = s.annotator
LEFT JOIN draft d ON d.id = s.draft
ORDER BY s.annotator, i.position, m.position
"""

ACTIONS = """
SELECT p.name AS annotator, c.text AS criterion, s.arm, r.kind, r.action, count(*) AS n
FROM current_submission s
JOIN instance i ON i.id = s.instance AND i.task = :task
JOIN criteria_set_member m ON m.criterion = s.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = s.criterion
JOIN annotator p ON p.id = s.annotator
JOIN submission_row r ON r.submission = s.id
GROUP BY s.annotator, m.position, s.arm, r.kind, r.action
"""

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
