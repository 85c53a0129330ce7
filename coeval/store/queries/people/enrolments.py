"""Where people stand in a study, as lines that are only ever added; the last one holds."""

from __future__ import annotations

from typing import Any

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Enrolment, Standing
from coeval.store.engines.statements import get_row, insert, scalar


def _enrolment(row: dict[str, Any]) -> Enrolment:
    return Enrolment(
        row["task"], row["annotator"], Standing(row["state"]), row["note"], row["actor"], row["at"]
    )


def get_enrolment(db: Database, task: int, person: int) -> Enrolment | None:
    sql = "SELECT * FROM enrolment WHERE task = ? AND annotator = ? ORDER BY id DESC LIMIT 1"
    row = get_row(db, sql, [task, person])
    return _enrolment(row) if row else None


def list_steps(db: Database, task: int, person: int) -> list[Enrolment]:
    """Every step, oldest first."""
    sql = "SELECT * FROM enrolment WHERE task = ? AND annotator = ? ORDER BY id"
    return [_enrolment(row) for row in db.query(sql, [task, person])]


def record_step(
    db: Database, task: int, person: int, state: Standing, actor: str, note: str = ""
) -> Enrolment:
    step = Enrolment(task, person, state, note, actor, now())
    insert(db, "enrolment", task=task, annotator=person, state=state, note=note, actor=actor, at=step.at)
    return step


def may_work(db: Database, person: int, slug: str) -> bool:
    """Whether a study gives this person work now: its own task once admitted, its exam during the exam."""
    allowed = scalar(
        db,
        "SELECT 1 FROM task t JOIN current_enrolment e ON e.annotator = :person JOIN crowd c ON c.task = e.task"
        " WHERE t.slug = :slug AND ((e.task = t.id AND e.state IN ('admitted', 'warned', 'finished'))"
        " OR (e.state = 'exam' AND c.exam = t.id)) LIMIT 1",
        {"person": person, "slug": slug},
    )
    return bool(allowed)


def list_studies(db: Database, person: int) -> list[str]:
    """Slugs of the studies a person joined, the latest first."""
    sql = (
        "SELECT t.slug FROM current_enrolment e JOIN task t ON t.id = e.task WHERE e.annotator = ?"
        " ORDER BY e.id DESC"
    )
    return [row["slug"] for row in db.query(sql, [person])]


def record_arrival(db: Database, task: int, person: int, study: str, session: str) -> None:
    """Keep what a crowd service calls its study and session; the same coming is kept once."""
    known = scalar(
        db,
        "SELECT 1 FROM arrival WHERE task = ? AND annotator = ? AND study = ? AND session = ?",
        [task, person, study, session],
    )
    if not known:
        insert(db, "arrival", task=task, annotator=person, study=study, session=session, at=now())
