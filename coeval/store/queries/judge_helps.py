"""Inputs for judges: evaluation steps of criteria, scores of assistant evaluators, and overall ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coeval.clock import now
from coeval.store.engines.database import Database, insert, scalar


def get_steps(db: Database, criteria: Iterable[int]) -> dict[int, str]:
    """Return the current evaluation steps by criterion; criteria without steps are left out."""
    sql = "SELECT text FROM criterion_steps WHERE criterion = ? ORDER BY id DESC LIMIT 1"
    steps = {criterion: scalar(db, sql, [criterion]) for criterion in criteria}
    return {criterion: text for criterion, text in steps.items() if text}


def record_steps(db: Database, criterion: int, text: str, *, origin: str, by: str) -> None:
    """Set the text of a criterion's steps; an empty text removes them."""
    insert(
        db, "criterion_steps", criterion=criterion, text=text, origin=origin, written_by=by, written_at=now()
    )


def get_assistant_scores(db: Database, task: int, assistant: str) -> dict[str, float]:
    """Return an assistant's scores of a task's instances by external id, without missing scores."""
    sql = (
        "SELECT i.external_id, s.score FROM assistant_score s JOIN instance i ON i.id = s.instance"
        " WHERE i.task = ? AND s.assistant = ? AND s.score IS NOT NULL"
    )
    return {row["external_id"]: row["score"] for row in db.query(sql, [task, assistant])}


def record_assistant_scores(
    db: Database, task: int, assistant: str, scores: Mapping[str, float | None]
) -> None:
    """Store an assistant's scores by external id; earlier scores of the same text are kept."""
    db.conn.executemany(
        "INSERT INTO assistant_score (instance, assistant, score)"
        " SELECT id, ?, ? FROM instance WHERE task = ? AND external_id = ?"
        " ON CONFLICT (instance, assistant) DO NOTHING",
        [(assistant, score, task, instance) for instance, score in scores.items()],
    )


def record_overall(db: Database, run: int, instance: int, score: float | None, reason: str) -> None:
    """Store the model's overall rating of an instance; an earlier one is kept."""
    db.conn.execute(
        "INSERT INTO overall_rating (run, instance, score, reason, created_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (run, instance) DO NOTHING",
        [run, instance, score, reason, now()],
    )


def list_overall(db: Database, run: int) -> dict[str, float]:
    """Return a run's overall ratings by the instance's external id."""
    sql = (
        "SELECT i.external_id, o.score FROM overall_rating o JOIN instance i ON i.id = o.instance"
        " WHERE o.run = ? AND o.score IS NOT NULL ORDER BY i.position"
    )
    return {row["external_id"]: row["score"] for row in db.query(sql, [run])}
