"""Where people stand in a study, as lines that are only ever added; the last one holds."""

from __future__ import annotations

from typing import Any

from coeval.clock import now
from coeval.domain import Enrolment, Standing
from coeval.store.engines.interface import Database
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
    """Add a step to the person's newest submission."""
    step = Enrolment(task, person, state, note, actor, now())
    insert(
        db,
        "enrolment",
        task=task,
        annotator=person,
        state=state,
        note=note,
        actor=actor,
        at=step.at,
        arrival=get_newest_arrival(db, task, person),
    )
    return step


def get_newest_arrival(db: Database, task: int, person: int) -> int | None:
    """The submission that a person works at now; None for who never came by the study's page."""
    arrival: int | None = scalar(
        db, "SELECT max(id) FROM arrival WHERE task = ? AND annotator = ?", [task, person]
    )
    return arrival


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


def record_arrival(
    db: Database, task: int, person: int, study: str = "", session: str = "", proof: str = ""
) -> bool:
    """Keep what a crowd service calls its study and session; whether this submission is a new one.

    What the person holds unfinished goes over to the new submission.
    """
    if get_arrival(db, task, person, study, session) is not None:
        return False
    arrival = insert(
        db, "arrival", task=task, annotator=person, study=study, session=session, proof=proof, at=now()
    )
    db.conn.execute(
        "UPDATE reservation SET arrival = ? WHERE task = ? AND annotator = ? AND outcome = ''",
        [arrival, task, person],
    )
    return True


def get_arrival(db: Database, task: int, person: int, study: str, session: str) -> int | None:
    sql = "SELECT id FROM arrival WHERE task = ? AND annotator = ? AND study = ? AND session = ?"
    arrival: int | None = scalar(db, sql, [task, person, study, session])
    return arrival


def is_others_session(db: Database, task: int, person: int, study: str, session: str) -> bool:
    """Whether somebody else came by this session: a service gives each to one person."""
    sql = "SELECT 1 FROM arrival WHERE task = ? AND annotator <> ? AND study = ? AND session = ? LIMIT 1"
    return bool(session and scalar(db, sql, [task, person, study, session]))
