"""People's states in a study, as append-only steps, and their arrivals. The last step is the current state.

The module also stores requests to return and second sessions, and counts newcomers from a network.
"""

from __future__ import annotations

from typing import Any

from coeval.clock import now
from coeval.domain import Enrolment, ReturnRequest, Standing
from coeval.store.engines.database import Database, get_row, insert, rows, scalar

# People's states in a study, as append-only steps; the last one is the current state.


def _enrolment(row: dict[str, Any]) -> Enrolment:
    return Enrolment(
        row["task"], row["annotator"], Standing(row["state"]), row["note"], row["actor"], row["at"]
    )


def get_enrolment(db: Database, task: int, person: int) -> Enrolment | None:
    """Return the state of a person's newest submission."""
    row = get_row(db, "SELECT * FROM current_enrolment WHERE task = ? AND annotator = ?", [task, person])
    return _enrolment(row) if row else None


def list_steps(db: Database, task: int, person: int) -> list[Enrolment]:
    """Return every step of a person's newest submission, oldest first."""
    sql = "SELECT * FROM enrolment WHERE task = ? AND annotator = ? AND arrival = ? ORDER BY id"
    newest = get_newest_arrival(db, task, person)
    return [_enrolment(row) for row in db.query(sql, [task, person, newest])]


def record_step(
    db: Database,
    task: int,
    person: int,
    state: Standing,
    actor: str,
    note: str = "",
    *,
    arrival: int | None = None,
    asked: int | None = None,
) -> Enrolment:
    """Add a step to one of a person's submissions, by default the newest.

    ``asked`` is the number of instances that the person could get, if the step ends their work.
    """
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
        arrival=arrival or get_newest_arrival(db, task, person),
        asked=asked,
    )
    return step


def get_newest_arrival(db: Database, task: int, person: int) -> int | None:
    """Return a person's current submission; None if they never arrived through the study's page."""
    arrival: int | None = scalar(
        db, "SELECT max(id) FROM arrival WHERE task = ? AND annotator = ?", [task, person]
    )
    return arrival


def may_work(db: Database, person: int, slug: str) -> bool:
    """Return whether this task now gives the person work: a study after admission, or the study's exam."""
    allowed = scalar(
        db,
        "SELECT 1 FROM task t JOIN current_enrolment e ON e.annotator = :person JOIN crowd c ON c.task = e.task"
        " WHERE t.slug = :slug AND ((e.task = t.id AND e.state IN ('admitted', 'warned', 'finished'))"
        " OR (e.state = 'exam' AND c.exam = t.id)) LIMIT 1",
        {"person": person, "slug": slug},
    )
    return bool(allowed)


def list_studies(db: Database, person: int) -> list[str]:
    """Return the slugs of the studies that a person joined, the latest first."""
    sql = (
        "SELECT t.slug FROM current_enrolment e JOIN task t ON t.id = e.task WHERE e.annotator = ?"
        " ORDER BY e.id DESC"
    )
    return [row["slug"] for row in db.query(sql, [person])]


def record_arrival(
    db: Database, task: int, person: int, study: str = "", session: str = "", proof: str = ""
) -> bool:
    """Record a crowd service's ids of study and session; return whether this submission is new.

    The person's unfinished work moves to the new submission, and work from before the study had a plan to
    the first.
    """
    if get_arrival(db, task, person, study, session) is not None:
        return False
    arrival = insert(
        db, "arrival", task=task, annotator=person, study=study, session=session, proof=proof, at=now()
    )
    db.conn.execute(
        "UPDATE reservation SET arrival = ? WHERE task = ? AND annotator = ? AND (outcome = '' OR arrival IS NULL)",
        [arrival, task, person],
    )
    return True


def list_arrivals(db: Database, task: int, person: int) -> list[int]:
    """Return the ids of a person's submissions in a study, oldest first."""
    sql = "SELECT id FROM arrival WHERE task = ? AND annotator = ? ORDER BY id"
    return [row["id"] for row in list(rows(db, sql, [task, person]))]


def get_arrival(db: Database, task: int, person: int, study: str, session: str) -> int | None:
    sql = "SELECT id FROM arrival WHERE task = ? AND annotator = ? AND study = ? AND session = ?"
    arrival: int | None = scalar(db, sql, [task, person, study, session])
    return arrival


def is_others_session(db: Database, task: int, person: int, study: str, session: str) -> bool:
    """Return whether another person arrived with this session, which the service gives to only one person."""
    sql = "SELECT 1 FROM arrival WHERE task = ? AND annotator <> ? AND study = ? AND session = ? LIMIT 1"
    return bool(session and scalar(db, sql, [task, person, study, session]))


# Returning people and new ones: return requests, second sessions, newcomers of a network.

SELECT_REQUEST = "SELECT r.*, p.name FROM return_request r JOIN annotator p ON p.id = r.annotator"


def _request(row: dict[str, Any]) -> ReturnRequest:
    admitted = None if row["admitted"] is None else bool(row["admitted"])
    return ReturnRequest(row["id"], row["annotator"], row["name"], row["number"], row["asked_at"], admitted)


def add_request(
    db: Database, task: int, person: int, number: str, token_hash: str, *, admitted_by: str = ""
) -> int:
    """Record a request to continue as this person, or an owner's admission."""
    return insert(
        db,
        "return_request",
        task=task,
        annotator=person,
        number=number,
        token_hash=token_hash,
        asked_at=now(),
        admitted=1 if admitted_by else None,
        decided_by=admitted_by or None,
        decided_at=now() if admitted_by else None,
    )


def find_request(db: Database, task: int, person: int, token_hash: str) -> ReturnRequest | None:
    """Return the newest request of one browser for one person of a study."""
    sql = f"{SELECT_REQUEST} WHERE r.task = ? AND r.annotator = ? AND r.token_hash = ? ORDER BY r.id DESC LIMIT 1"
    row = get_row(db, sql, [task, person, token_hash])
    return _request(row) if row else None


def list_open_requests(db: Database, task: int) -> list[ReturnRequest]:
    """Return requests that no owner has decided, oldest first."""
    sql = f"{SELECT_REQUEST} WHERE r.task = ? AND r.admitted IS NULL ORDER BY r.id"
    return [_request(row) for row in list(rows(db, sql, [task]))]


def count_open_requests(db: Database, task: int, person: int) -> int:
    """Return the number of undecided requests for one person of a study."""
    sql = "SELECT count(*) FROM return_request WHERE task = ? AND annotator = ? AND admitted IS NULL"
    return int(scalar(db, sql, [task, person]))


def decide_request(db: Database, task: int, id_: int, admitted: bool, actor: str) -> bool:
    """Decide an open request; return whether there was one."""
    sql = (
        "UPDATE return_request SET admitted = ?, decided_by = ?, decided_at = ?"
        " WHERE id = ? AND task = ? AND admitted IS NULL"
    )
    return db.conn.execute(sql, [int(admitted), actor, now(), id_, task]).rowcount > 0


def use_request(db: Database, id_: int) -> None:
    """Mark an admission as used. Each admission lets in one browser once."""
    db.conn.execute("UPDATE return_request SET token_hash = '' WHERE id = ?", [id_])


def list_sessions(db: Database, task: int, person: int, study: str) -> list[str]:
    """Return a person's sessions in one study of the service."""
    sql = "SELECT session FROM arrival WHERE task = ? AND annotator = ? AND study = ? ORDER BY id"
    return [row["session"] for row in list(rows(db, sql, [task, person, study]))]


def record_repeat(db: Database, task: int, person: int, study: str, session: str) -> None:
    """Record a further session of the same study with which a person arrived."""
    db.conn.execute(
        "INSERT INTO repeated_session (task, annotator, study, session, at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (task, annotator, study, session) DO NOTHING",
        [task, person, study, session, now()],
    )


def is_known_session(db: Database, task: int, person: int, study: str, session: str) -> bool:
    """Return whether a person has already arrived with this session, either as the first session of a study
    or as a later one.
    """
    if get_arrival(db, task, person, study, session) is not None:
        return True
    sql = "SELECT 1 FROM repeated_session WHERE task = ? AND annotator = ? AND study = ? AND session = ?"
    return scalar(db, sql, [task, person, study, session]) is not None


def count_sessions(db: Database, task: int, person: int) -> int:
    """Return the number of sessions with which a person arrived, over all studies of the service."""
    sql = (
        "SELECT (SELECT count(*) FROM arrival WHERE task = :task AND annotator = :person)"
        " + (SELECT count(*) FROM repeated_session WHERE task = :task AND annotator = :person)"
    )
    return int(scalar(db, sql, {"task": task, "person": person}))


def has_unsigned_arrival(db: Database, person: int) -> bool:
    """Return whether a person ever arrived by an unsigned link."""
    sql = "SELECT 1 FROM arrival WHERE annotator = ? AND proof <> 'token' LIMIT 1"
    return scalar(db, sql, [person]) is not None


def add_newcomer(db: Database, person: int, network: str) -> None:
    insert(db, "recent_event", key=network, at=now(), annotator=person)


def prune_newcomers(db: Database, before: str) -> None:
    db.conn.execute("DELETE FROM recent_event WHERE annotator IS NOT NULL AND at <= ?", [before])


def count_idle_newcomers(db: Database, network: str, since: str) -> int:
    """Return the number of people from a network who have arrived since a given time and have saved nothing."""
    sql = (
        "SELECT count(*) FROM recent_event n WHERE n.key = ? AND n.at BETWEEN ? AND ?"
        " AND n.annotator IS NOT NULL AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.annotator = n.annotator)"
    )
    return int(scalar(db, sql, [network, since, now()]))
