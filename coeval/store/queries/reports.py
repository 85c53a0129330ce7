"""Queries for statistics. Each returns column names and rows as SQLite stores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coeval.domain import Action, RowKind
from coeval.store.engines.database import Cursor, Database, stream
from coeval.store.queries.submissions import OUTCOME, REPLACED, published

INSTANCES = """
SELECT id, external_id AS instance, document, system FROM instance WHERE task = :task ORDER BY position
"""

SCORES = f"""
SELECT s.annotator, s.instance, s.criterion, {OUTCOME} AS arm, coalesce(s.planted, '') AS planted_error,
  s.score, d.score AS draft_score, s.shown_score,
  CASE s.arm WHEN 'first' THEN (SELECT f.score FROM first_score f WHERE f.annotator = s.annotator
    AND f.instance = s.instance AND f.criterion = s.criterion) END AS first_score,
  s.active_ms, s.opened_at, s.submitted_at, s.id
FROM submission s
LEFT JOIN draft d ON d.id = s.draft
WHERE +s.instance BETWEEN (SELECT min(id) FROM instance WHERE task = :task)
    AND (SELECT max(id) FROM instance WHERE task = :task)
  AND s.id NOT IN ({REPLACED})
  AND {published("s")}
  AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
ORDER BY s.id
"""
"""The rows of current_submission, by ids, in one pass over the table in its own order.

Joins to instance and criterion would take a fifth of the time of the query, so callers must leave out rows of
other tasks and criteria. The plus sign keeps SQLite from using the index on instances and sorting the result.

``planted_error`` describes the planted error. ``first_score`` is the score before the draft was shown.
"""

KINDS, ACTIONS = (tuple(sorted(map(str, names))) for names in (RowKind, Action))
"""The kinds of lines in a submission, and the actions on them, in alphabetical order."""


def _place(column: str, names: Sequence[str]) -> str:
    cases = " ".join(f"WHEN '{name}' THEN {place}" for place, name in enumerate(names))
    return f"CASE {column} {cases} END"


LINES = f"""
SELECT ({len(KINDS)} * r.submission + {_place("r.kind", KINDS)}) * {len(ACTIONS)} + {_place("r.action", ACTIONS)}
  AS line
FROM submission_row r WHERE r.submission BETWEEN :first AND :last
"""
"""The lines of some submissions, each as one number that codes submission, kind and action.

Counting by person and criterion with GROUP BY takes five times as long.
"""

# "+d.criterion" keeps SQLite from using the index on the criterion, which would read a whole study out of
# order
DRAFTS = """
SELECT d.run, r.shown, d.instance, d.criterion, d.score, d.rung = 'asked again' AS again,
  CASE d.samples_json WHEN '[]' THEN NULL ELSE d.samples_json END AS samples_json,
  CASE d.probabilities_json WHEN '[]' THEN NULL ELSE d.probabilities_json END AS probabilities_json
FROM current_draft d
JOIN run r ON r.id = d.run AND r.task = :task
JOIN instance i ON i.id = d.instance
JOIN criteria_set_member m ON m.criterion = +d.criterion AND m.criteria_set = :criteria_set
ORDER BY d.run, i.position, m.position
"""

COMPARISONS = """
SELECT r.label AS run_label, c.text AS criterion, a.document, a.external_id AS first, b.external_id AS second,
  a.system AS first_system, b.system AS second_system, p.preference
FROM current_comparison p
JOIN run r ON r.id = p.run AND r.task = :task
JOIN criteria_set_member m ON m.criterion = +p.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = p.criterion
JOIN instance a ON a.id = p.first
JOIN instance b ON b.id = p.second
ORDER BY r.id, m.position, a.position, b.position
"""

REFERENCE = "reference score"
"""The beginning of the name of an instance column with reference scores."""

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

ASSIGNED = "SELECT DISTINCT annotator FROM assignment WHERE task = :task"
"""The people with a queue of the task, for whom CoEval draws the arms."""

VOTES = """
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM ballot_round later WHERE later.task = r.task AND later.version = r.version
    AND later.round > r.round AND later.opened_at <> '' AND later.id NOT IN (SELECT ballot_round FROM cancelled_round))
    THEN r.version END AS version, b.annotator, g.group_name, v.proposal, v.action
FROM ballot_round r
JOIN current_ballot b ON b.ballot_round = r.id
JOIN vote v ON v.ballot = b.id
JOIN annotator_group g ON g.annotator = b.annotator
WHERE r.task = :task AND r.id NOT IN (SELECT ballot_round FROM cancelled_round)
ORDER BY b.id, v.position
"""
"""The votes on proposed criteria, with the version that they decided; none for a round that another one replaced."""


BLOCK = 1_000
"""The number of rows that are converted to columns at a time.

Small blocks stay in the processor's cache: 1,250,000 scores take 4.3 s, compared with 6.5 s for blocks of
5,000 rows.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a query: column names, and a cursor over the rows, valid during the read."""

    names: Sequence[str]
    cursor: Cursor

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.cursor)

    def blocks(self) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows in blocks."""
        while block := self.cursor.fetchmany(BLOCK):
            yield block


def read(db: Database, sql: str, **values: Any) -> Result:
    cursor = stream(db, sql, values)
    return Result([column[0] for column in cursor.description], cursor)


FINGERPRINT = """
SELECT
  (SELECT max(id) FROM submission), (SELECT max(id) FROM first_score), (SELECT max(id) FROM draft),
  (SELECT max(id) FROM comparison), (SELECT max(id) FROM adjudication),
  (SELECT max(id) FROM run), (SELECT max(id) FROM task_change WHERE ballot_round IS NOT NULL),
  (SELECT max(id) FROM enrolment WHERE task = :task),
  (SELECT max(id) FROM criteria_set WHERE task = :task), (SELECT max(id) FROM ballot),
  (SELECT max(position) FROM instance WHERE task = :task),
  (SELECT id FROM run WHERE task = :task AND shown = 1), (SELECT count(finished_at) FROM import_batch)
"""

GROUPS = "SELECT group_name FROM annotator_group ORDER BY annotator"


def get_fingerprint(db: Database, task: int) -> tuple[Any, ...]:
    """Quickly return a value that changes with any data behind a task's statistics.

    Facts are only appended, so the newest ids suffice. It may also change with other tasks, but never fails
    to change.
    """
    newest: tuple[Any, ...] = db.conn.execute(FINGERPRINT, {"task": task}).fetchone()
    return (*newest, ",".join(group for (group,) in db.conn.execute(GROUPS)))


def count_submissions(fingerprint: tuple[Any, ...]) -> int:
    """Return an upper bound on the number of submissions, of all tasks, in a file with this fingerprint."""
    return int(fingerprint[0] or 0)


def count_since(db: Database, task: int, fingerprint: tuple[Any, ...]) -> int:
    """Return the number of a task's submissions since this fingerprint."""
    sql = (
        "SELECT count(*) FROM submission s JOIN instance i ON i.id = s.instance"
        f" WHERE s.id > ? AND i.task = ? AND {published('s')}"
    )
    return int(db.conn.execute(sql, [count_submissions(fingerprint), task]).fetchone()[0])
