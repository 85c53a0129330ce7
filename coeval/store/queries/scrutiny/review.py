"""What owners review: who saved what, where people differ, what was decided, what was suggested."""

from __future__ import annotations

from bisect import insort
from typing import Any

from coeval.clock import now
from coeval.domain import Adjudication, Change, Dispute, Submission, Suggestion
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, scalar
from coeval.store.queries.scrutiny.submissions import OUTCOME, REPLACED, published, submission_of
from coeval.store.queries.tasks import instance_of


def list_changes(
    db: Database, task: int, *, person: str = "", instance: str = "", limit: int = 50
) -> list[Change]:
    """The latest saves, newest first; of one person or of one instance (external id) where named.

    Read from the newest back (CROSS JOIN keeps SQLite to that order), so that the time does not grow with the task.
    """
    ids = {}
    if person:
        ids["annotator"] = scalar(db, "SELECT id FROM annotator WHERE name = ?", [person])
    if instance:
        sql = "SELECT id FROM instance WHERE task = ? AND external_id = ?"
        ids["instance"] = scalar(db, sql, [task, instance])
    only = "".join(f" AND s.{column} = :{column}" for column in ids)
    changes = db.query(
        f"SELECT s.id, s.submitted_at, p.name, i.external_id, c.text, s.revision, {OUTCOME} AS arm, s.score,"
        " (SELECT e.score FROM submission e WHERE e.annotator = s.annotator AND e.instance = s.instance"
        " AND e.criterion = s.criterion AND e.revision = s.revision - 1) AS before,"
        " (SELECT count(*) FROM submission_row r WHERE r.submission = s.id AND r.action <> 'approve') AS n_changed"
        " FROM submission s CROSS JOIN instance i CROSS JOIN criterion c CROSS JOIN annotator p"
        " WHERE i.id = s.instance AND i.task = :task AND c.id = s.criterion AND p.id = s.annotator"
        f"{only} AND {published('s')} ORDER BY s.id DESC LIMIT :limit",
        {"task": task, "limit": limit, **ids},
    )
    return [Change(*row.values()) for row in changes]


def list_saved(db: Database, instance: int, criterion: int) -> list[tuple[str, Submission]]:
    """Everybody's saves of one evaluation with their names, every revision, person by person."""
    saves = db.query(
        "SELECT s.*, p.name FROM submission s JOIN annotator p ON p.id = s.annotator"
        f" WHERE s.instance = ? AND s.criterion = ? AND {published('s')} ORDER BY p.id, s.revision",
        [instance, criterion],
    )
    return [(row["name"], submission_of(db, row)) for row in list(saves)]


def list_disputes(db: Database, task: int, criteria_set: int, *, limit: int = 50) -> list[Dispute]:
    """Where the latest scores of two people or more differ, the widest apart first.

    How far apart all the scores of an evaluation are, superseded and uncounted ones with them, is quickly read and
    never less than how far those are that count: candidates are looked at in that order, until no further one can
    come before those found.
    """
    disputes: list[tuple[Place, Dispute]] = []
    for instance, criterion, spread, *place in db.conn.execute(
        CANDIDATES, {"task": task, "criteria_set": criteria_set}
    ):
        if len(disputes) >= limit and disputes[limit - 1][0] < (-spread, *place):
            break
        row = get_row(db, DISPUTE, {"task": task, "instance": instance, "criterion": criterion})
        if row is not None and row["low"] < row["high"]:
            dispute = Dispute(*row.values())
            insort(disputes, ((dispute.low - dispute.high, *place), dispute), key=lambda pair: pair[0])
    return [dispute for _, dispute in disputes[:limit]]


Place = tuple[float, ...]
"""By what disputes are put in order: how far apart, then the place of the instance, then that of the criterion."""

CANDIDATES = """
SELECT g.instance, g.criterion, g.spread, i.position, m.position FROM (
  SELECT s.instance, s.criterion, max(s.score) - min(s.score) AS spread FROM submission s
  GROUP BY s.instance, s.criterion HAVING max(s.score) > min(s.score)
) g
JOIN instance i ON i.id = g.instance AND i.task = :task
JOIN criteria_set_member m ON m.criterion = g.criterion AND m.criteria_set = :criteria_set
ORDER BY g.spread DESC, i.position, m.position
"""

DISPUTE = """
SELECT i.id, i.external_id, c.id AS criterion, c.text, count(*) AS n, min(s.score) AS low, max(s.score) AS high,
  (SELECT a.score FROM adjudication a WHERE a.instance = i.id AND a.criterion = c.id
    ORDER BY a.revision DESC LIMIT 1) AS decided
FROM current_submission s
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
WHERE s.instance = :instance AND s.criterion = :criterion AND NOT EXISTS (
  SELECT 1 FROM uncounted u WHERE u.task = :task AND u.annotator = s.annotator AND u.instance = s.instance)
GROUP BY i.id, i.external_id, c.id, c.text
"""


SAVES = f"""
SELECT s.annotator, s.active_ms, s.bulk + 2 * CASE
    WHEN EXISTS (SELECT 1 FROM submission_row r WHERE r.submission = s.id AND r.action <> 'approve') THEN 0 ELSE 1 END
  + 4 * CASE s.planted
    WHEN 'score' THEN CASE WHEN s.score <> s.shown_score THEN 2 WHEN s.score IS NULL THEN 0 ELSE 1 END
    WHEN 'evidence' THEN CASE WHEN EXISTS (
      SELECT 1 FROM planted_error w JOIN submission_row r ON r.submission = s.id AND r.draft_row = w.draft_row
      WHERE w.annotator = s.annotator AND w.instance = s.instance AND w.criterion = s.criterion
        AND r.action IN ('delete', 'revise')) THEN 2 ELSE 1 END
    ELSE 0 END AS what
FROM submission s
CROSS JOIN instance i
WHERE i.id = s.instance AND i.task = :task AND s.draft IS NOT NULL AND s.arm <> 'blind'
  AND s.id NOT IN ({REPLACED})
  AND {published("s")}
ORDER BY s.id
"""
"""Everybody's latest saves of evaluations that showed a draft, in the order of saving.

``what`` is one small number for three columns: 1 where the rest was approved at once, 2 where every line was kept, and
4 or 8 where something was planted, 8 where it was caught.
"""


def get_adjudication(db: Database, instance: int, criterion: int) -> Adjudication | None:
    """What holds of what was decided."""
    row = get_row(
        db,
        "SELECT a.*, p.name FROM adjudication a JOIN annotator p ON p.id = a.decided_by"
        " WHERE a.instance = ? AND a.criterion = ? ORDER BY a.revision DESC LIMIT 1",
        [instance, criterion],
    )
    return _adjudication(row) if row else None


def _adjudication(row: dict[str, Any]) -> Adjudication:
    return Adjudication(
        instance=row["instance"],
        criterion=row["criterion"],
        score=row["score"],
        note=row["note"],
        decided_by=row["name"],
        decided_at=row["decided_at"],
        revision=row["revision"],
    )


def record_adjudication(db: Database, decided: Adjudication, by: int) -> None:
    """Append a decision; it stands beside the annotators' scores."""
    insert(
        db,
        "adjudication",
        instance=decided.instance,
        criterion=decided.criterion,
        revision=decided.revision,
        score=decided.score,
        note=decided.note,
        decided_by=by,
        decided_at=now(),
    )


def add_suggestion(db: Database, task: int, person: int, instance: int, text: str) -> None:
    """Keep a suggested criterion; the same words of the same person at the same instance are kept once."""
    known = scalar(
        db,
        "SELECT 1 FROM suggestion WHERE task = ? AND annotator = ? AND instance = ? AND text = ?",
        [task, person, instance, text],
    )
    if not known:
        insert(
            db, "suggestion", task=task, annotator=person, instance=instance, text=text, suggested_at=now()
        )


def list_suggestions(db: Database, task: int) -> list[Suggestion]:
    """Everything that was suggested, oldest first."""
    suggestions = db.query(
        "SELECT i.*, g.text AS suggested, p.name, g.suggested_at, g.id AS suggestion FROM suggestion g"
        " JOIN annotator p ON p.id = g.annotator JOIN instance i ON i.id = g.instance"
        " WHERE g.task = ? ORDER BY g.id",
        [task],
    )
    return [
        Suggestion(row["suggested"], row["name"], instance_of(row), row["suggested_at"], row["suggestion"])
        for row in suggestions
    ]
