"""Reads for statistics: one query each, giving column names and rows as SQLite has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coeval.store.engines.database import Cursor, Database, stream
from coeval.store.queries.submissions import OUTCOME, REPLACED, published

INSTANCES = """
SELECT id, external_id AS instance, document, system FROM instance WHERE task = :task ORDER BY position
"""

ARMS = {0: "assisted", 1: "blind", 2: "first", 3: "undrafted", 4: "evidence", 5: "reasons"}
PLANTED = {0: "", 1: "score", 2: "evidence"}
CAUGHT = (None, 0.0, 1.0)
WHAT_ARM = (
    f"CASE {OUTCOME} WHEN 'assisted' THEN 0 WHEN 'blind' THEN 1 WHEN 'first' THEN 2 WHEN 'evidence' THEN 4"
    " WHEN 'reasons' THEN 5 ELSE 3 END"
)

SCORES = f"""
SELECT s.annotator, s.instance, s.criterion,
  ({WHAT_ARM})
    | ((CASE s.planted WHEN 'score' THEN 1 WHEN 'evidence' THEN 2 ELSE 0 END) << 3)
    | ((CASE s.planted WHEN 'evidence' THEN CASE WHEN EXISTS (SELECT 1 FROM planted_error w
      JOIN submission_row r ON r.submission = s.id AND r.draft_row = w.draft_row AND r.action IN ('delete', 'revise')
      WHERE w.annotator = s.annotator AND w.instance = s.instance AND w.criterion = s.criterion) THEN 2 ELSE 1 END
      ELSE 0 END) << 5) AS what,
  s.score, d.score AS draft_score, s.shown_score,
  CASE s.arm WHEN 'first' THEN (SELECT f.score FROM first_score f WHERE f.annotator = s.annotator
    AND f.instance = s.instance AND f.criterion = s.criterion) END AS first_score,
  s.active_ms, s.opened_at, s.submitted_at
FROM submission s
LEFT JOIN draft d ON d.id = s.draft
WHERE +s.instance BETWEEN (SELECT min(id) FROM instance WHERE task = :task)
    AND (SELECT max(id) FROM instance WHERE task = :task)
  AND s.id NOT IN ({REPLACED})
  AND {published("s")}
  AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
ORDER BY s.id
"""
"""What current_submission holds, by ids: one pass over the table in its own order. Joins to instance and criterion
would take a fifth of its time, so rows of other tasks and criteria may be among them: who reads leaves these out. The
plus sign keeps SQLite from going by the index on instances and sorting what it finds.

``what`` is one small number for three columns, each of which would cost .15 s of 1,250,000: the arm (``ARMS``) in the
lowest three bits; in the next two whether the score shown, or a line of evidence, was wrong on purpose
(``PLANTED``); and in the next whether that line was not let stand (``CAUGHT``). ``first_score`` is the one given
before the draft was shown."""

ACTIONS = f"""
SELECT p.name AS annotator, c.text AS criterion,
  CASE (counted.what >> 4) & 7 WHEN 0 THEN 'assisted' WHEN 1 THEN 'blind' WHEN 2 THEN 'first'
    WHEN 4 THEN 'evidence' WHEN 5 THEN 'reasons' ELSE 'undrafted' END AS arm,
  CASE (counted.what >> 2) & 3 WHEN 0 THEN 'conclusion' WHEN 1 THEN 'score' ELSE 'evidence' END AS kind,
  CASE counted.what & 3 WHEN 0 THEN 'approve' WHEN 1 THEN 'delete' WHEN 2 THEN 'revise' ELSE 'add' END AS action,
  counted.n
FROM (
  SELECT (s.annotator << 32) | (m.position << 7)
      | (({WHAT_ARM}) << 4)
      | ((CASE r.kind WHEN 'conclusion' THEN 0 WHEN 'score' THEN 1 ELSE 2 END) << 2)
      | CASE r.action WHEN 'approve' THEN 0 WHEN 'delete' THEN 1 WHEN 'revise' THEN 2 ELSE 3 END AS what,
    count(*) AS n
  FROM submission_row r
  CROSS JOIN submission s
  CROSS JOIN instance i
  CROSS JOIN criteria_set_member m
  WHERE s.id = r.submission AND i.id = s.instance AND i.task = :task
    AND m.criterion = s.criterion AND m.criteria_set = :criteria_set AND s.planted IS NULL
    AND s.id NOT IN ({REPLACED})
    AND {published("s")}
    AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
  GROUP BY what
) counted
JOIN annotator p ON p.id = counted.what >> 32
JOIN criteria_set_member m ON m.criteria_set = :criteria_set AND m.position = ((counted.what >> 7) & 33554431)
JOIN criterion c ON c.id = m.criterion
ORDER BY counted.what
"""
"""What was done to the lines of drafts as the model made them: drafts that were wrong on purpose are left out.
Grouping 100,000 scrutinised drafts by one whole number takes 0.33 s, by five columns, of which three are texts, 0.57;
from the lines to their submissions, as both tables stand in the file, a million lines take 1.5 s, the other way 2."""

# "+d.criterion" keeps SQLite from the index on the criterion, by which it would read a whole study out of order
DRAFTS = """
SELECT d.run, r.shown, d.instance, d.criterion, d.score,
  CASE d.samples_json WHEN '[]' THEN NULL ELSE d.samples_json END AS samples_json
FROM current_draft d
JOIN run r ON r.id = d.run AND r.task = :task AND r.id NOT IN (SELECT run FROM archived_run)
JOIN instance i ON i.id = d.instance
JOIN criteria_set_member m ON m.criterion = +d.criterion AND m.criteria_set = :criteria_set
ORDER BY d.run, i.position, m.position
"""

QUOTES = """
SELECT r.id AS run, r.label AS run_label, c.text AS criterion, count(q.draft_row) AS n,
  count(CASE WHEN q.draft_row IS NOT NULL AND (q.quote_start IS NULL OR q.place = 'input') THEN 1 END) AS not_found,
  count(CASE WHEN q.quote_start IS NOT NULL AND q.place = 'nearly in the output' THEN 1 END) AS nearly,
  count(CASE WHEN q.quote_start IS NOT NULL AND q.place = 'input' THEN 1 END) AS in_input,
  count(DISTINCT CASE WHEN l.kind = 'evidence' THEN l.id END) AS evidence,
  count(CASE WHEN l.kind = 'evidence' AND q.draft_row IS NULL THEN 1 END) AS unquoted
FROM draft_row l
LEFT JOIN quote q ON q.draft_row = l.id
JOIN current_draft d ON d.id = l.draft
JOIN run r ON r.id = d.run AND r.task = :task AND r.id NOT IN (SELECT run FROM archived_run)
JOIN criteria_set_member m ON m.criterion = +d.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = d.criterion
GROUP BY r.id, c.id, m.position
HAVING count(q.draft_row) > 0 OR count(CASE WHEN l.kind = 'evidence' THEN 1 END) > 0
ORDER BY r.id, m.position
"""
"""The passages that drafts quote with their places, and the lines of evidence without a quotation."""

COMPARISONS = """
SELECT r.label AS run_label, c.text AS criterion, a.document, a.external_id AS first, b.external_id AS second,
  a.system AS first_system, b.system AS second_system, p.preference
FROM current_comparison p
JOIN run r ON r.id = p.run AND r.task = :task AND r.id NOT IN (SELECT run FROM archived_run)
JOIN criteria_set_member m ON m.criterion = +p.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = p.criterion
JOIN instance a ON a.id = p.first
JOIN instance b ON b.id = p.second
ORDER BY r.id, m.position, a.position, b.position
"""

REFERENCE = "reference score"
"""A column of the instances that begins with these words holds scores that people's are held against."""

WITH_REFERENCE = """
SELECT external_id AS instance, context_json FROM instance
WHERE task = :task AND lower(context_json) LIKE '%"reference score%' ORDER BY position
"""

ADJUDICATED = """
SELECT i.external_id AS instance, c.text AS criterion, j.score, 'adjudicated scores' AS source
FROM adjudication j
JOIN instance i ON i.id = j.instance
JOIN criteria_set_member m ON m.criterion = +j.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = j.criterion
WHERE i.task = :task AND j.revision = (SELECT max(later.revision) FROM adjudication later
  WHERE later.instance = j.instance AND later.criterion = j.criterion)
ORDER BY j.id
"""

QUEUES = """
SELECT a.annotator, count(*) AS instances, count(CASE WHEN a.state = 'open' THEN 1 END) AS unfinished
FROM assignment a
WHERE a.task = :task
  AND (a.annotator, a.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
GROUP BY a.annotator
"""
"""The number of instances in each person's queue, and of unfinished ones."""

BEGUN = """
SELECT s.annotator, count(*) AS n
FROM assignment a
JOIN current_submission s ON s.annotator = a.annotator AND s.instance = a.instance
JOIN criteria_set_member m ON m.criterion = s.criterion AND m.criteria_set = :criteria_set
WHERE a.task = :task AND a.state = 'open'
  AND (a.annotator, a.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
GROUP BY s.annotator
"""
"""The number of each person's saves for unfinished instances."""

VOTES = """
SELECT v.action, count(*) AS n
FROM vote v JOIN ballot b ON b.id = v.ballot JOIN ballot_round r ON r.id = b.ballot_round AND r.task = :task
WHERE r.id NOT IN (SELECT ballot_round FROM cancelled_round)
  AND NOT EXISTS (SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
  AND later.annotator = b.annotator AND later.revision > b.revision)
GROUP BY v.action
"""


BLOCK = 1_000
"""Rows per block, to be turned into columns.

Small blocks stay in the processor's cache: 1,250,000 scores take 4.3 s, instead of 6.5 with 5,000 rows.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a query: names of the columns, and a cursor over the rows, good while the read is."""

    names: Sequence[str]
    cursor: Cursor

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.cursor)

    def blocks(self) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows, some at a time."""
        while block := self.cursor.fetchmany(BLOCK):
            yield block


def read(db: Database, sql: str, **values: Any) -> Result:
    cursor = stream(db, sql, values)
    return Result([column[0] for column in cursor.description], cursor)


FINGERPRINT = """
SELECT
  (SELECT max(id) FROM submission), (SELECT max(id) FROM first_score), (SELECT max(id) FROM draft),
  (SELECT max(id) FROM comparison),
  (SELECT max(id) FROM run), (SELECT max(id) FROM run_archive), (SELECT max(id) FROM enrolment WHERE task = :task),
  (SELECT max(id) FROM criteria_set WHERE task = :task), (SELECT max(position) FROM instance WHERE task = :task),
  (SELECT id FROM run WHERE task = :task AND shown = 1), (SELECT count(finished_at) FROM import_batch)
"""

GROUPS = "SELECT group_name FROM annotator_group ORDER BY annotator"


def get_fingerprint(db: Database, task: int) -> tuple[Any, ...]:
    """Changes whenever anything that a task's statistics rest on does; costs a millisecond, not a read.

    Facts are appended, so the newest ids tell. It may change for another task's sake, never fail to change.
    """
    newest: tuple[Any, ...] = db.conn.execute(FINGERPRINT, {"task": task}).fetchone()
    return (*newest, ",".join(group for (group,) in db.conn.execute(GROUPS)))


def count_submissions(fingerprint: tuple[Any, ...]) -> int:
    """Return the largest possible number of submissions, of all tasks, in a file with this fingerprint."""
    return int(fingerprint[0] or 0)


def count_since(db: Database, task: int, fingerprint: tuple[Any, ...]) -> int:
    """Return the number of a task's submissions since this fingerprint."""
    sql = (
        "SELECT count(*) FROM submission s JOIN instance i ON i.id = s.instance"
        f" WHERE s.id > ? AND i.task = ? AND {published('s')}"
    )
    return int(db.conn.execute(sql, [count_submissions(fingerprint), task]).fetchone()[0])
