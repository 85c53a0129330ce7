"""Who was given which instance: places, time-outs, and what is free.

Everything that gives or takes back runs in the caller's one writing transaction, so that no two people can be
given the same place.
"""

from __future__ import annotations

from collections.abc import Iterable

from coeval.clock import now
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import rows, scalar
from coeval.store.queries.people.enrolments import get_newest_arrival
from coeval.store.queries.scrutiny.planted_errors import SOURCES

HELD, FINISHED, TIMED_OUT, RETURNED, REJECTED = "", "finished", "timed_out", "returned", "rejected"
TAKEN = "('', 'finished')"
N_TAKEN = (
    "(SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'"
    f" AND r.outcome IN {TAKEN})"
)
FREE = (
    "FROM instance i WHERE i.task = :task AND NOT EXISTS (SELECT 1 FROM reservation mine"
    " WHERE mine.annotator = :annotator AND mine.instance = i.id)"
    " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
    f" AND i.id NOT IN ({SOURCES}) AND {N_TAKEN} < :most"
)
"""The instances that ``list_free`` is about."""


def add_reservations(
    db: Database, annotator: int, task: int, instances: Iterable[int], purpose: str, until: str
) -> None:
    """Give instances to a person, for the submission they work at now."""
    given_at, arrival = now(), get_newest_arrival(db, task, annotator)
    db.conn.executemany(
        "INSERT INTO reservation (annotator, instance, task, purpose, given_at, reserved_until, outcome, arrival)"
        " VALUES (?, ?, ?, ?, ?, ?, '', ?)",
        [(annotator, instance, task, purpose, given_at, until, arrival) for instance in instances],
    )


def renew(db: Database, annotator: int, task: int, until: str) -> None:
    """Hold on to what a person has, while nobody else was given it."""
    db.conn.execute(
        "UPDATE reservation SET reserved_until = ? WHERE annotator = ? AND task = ? AND outcome = ''",
        [until, annotator, task],
    )


def note_finished(db: Database, task: int, *, annotator: int | None = None) -> int:
    """Mark as finished what is held and saved by every criterion; gives how many that were."""
    mine = "" if annotator is None else " AND annotator = :annotator"
    cursor = db.conn.execute(
        f"UPDATE reservation SET outcome = 'finished' WHERE task = :task AND outcome = ''{mine} AND EXISTS ("
        "SELECT 1 FROM assignment a WHERE a.annotator = reservation.annotator"
        " AND a.instance = reservation.instance AND a.state = 'finished')",
        {"task": task, "annotator": annotator},
    )
    return max(cursor.rowcount, 0)


def get_outcome(db: Database, annotator: int, instance: int) -> str | None:
    """What became of an instance that a person was given; None where they never were."""
    sql = "SELECT outcome FROM reservation WHERE annotator = ? AND instance = ?"
    outcome: str | None = scalar(db, sql, [annotator, instance])
    return outcome


def is_full(db: Database, task: int, per_instance: int) -> bool:
    """Whether every instance that is work was finished by as many people as it needs."""
    sql = (
        "SELECT 1 FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
        " AND (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'"
        " AND r.outcome = 'finished') < ? LIMIT 1"
    )
    return scalar(db, sql, [task, per_instance]) is None


def has_free(db: Database, annotator: int, task: int, per_instance: int) -> bool:
    """Whether ``list_free`` names anything for this person; for a stranger where ``annotator`` is 0."""
    values = {"task": task, "annotator": annotator, "most": per_instance}
    return scalar(db, f"SELECT 1 {FREE} LIMIT 1", values) is not None


def list_due(db: Database, task: int) -> dict[int, str]:
    """Who holds something beyond its time, with the time of their last save (empty where there is none)."""
    sql = (
        "SELECT DISTINCT r.annotator, coalesce((SELECT max(s.submitted_at) FROM submission s"
        " WHERE s.annotator = r.annotator), '') AS last FROM reservation r"
        " WHERE r.task = ? AND r.outcome = '' AND r.reserved_until <= ?"
    )
    return {row["annotator"]: row["last"] for row in rows(db, sql, [task, now()])}


def take_back(db: Database, annotator: int, task: int, outcome: str) -> int:
    """End all that a person holds; what they saved of it stays. Gives the number of instances."""
    key = [annotator, task]
    db.conn.execute(
        "DELETE FROM assignment WHERE annotator = ? AND task = ? AND instance IN ("
        "SELECT instance FROM reservation WHERE annotator = assignment.annotator AND outcome = '')",
        key,
    )
    cursor = db.conn.execute(
        "UPDATE reservation SET outcome = ? WHERE annotator = ? AND task = ? AND outcome = ''",
        [outcome, *key],
    )
    renumber(db, annotator, task)
    return max(cursor.rowcount, 0)


def renumber(db: Database, annotator: int, task: int) -> None:
    """Close the gaps in a person's positions; each moves down into a free number, in order."""
    sql = "SELECT position FROM assignment WHERE annotator = ? AND task = ? ORDER BY position"
    old = [row["position"] for row in rows(db, sql, [annotator, task])]
    db.conn.executemany(
        "UPDATE assignment SET position = ? WHERE annotator = ? AND task = ? AND position = ?",
        [(new, annotator, task, was) for new, was in enumerate(old, 1) if new != was],
    )


def reject_finished(db: Database, annotator: int, task: int) -> None:
    """Give the places of a person's finished work to others."""
    db.conn.execute(
        "UPDATE reservation SET outcome = 'rejected' WHERE annotator = ? AND task = ? AND outcome = 'finished'",
        [annotator, task],
    )


def list_free(db: Database, annotator: int, task: int, per_instance: int) -> list[tuple[int, int]]:
    """Instances with a free place that this person was never given: how many have it, and its id.

    Attention checks are no work: whatever has an answer key is left out. So is what a planted line of evidence was
    taken from for this person, who would know it again.
    """
    sql = f"SELECT i.id, {N_TAKEN} AS taken {FREE}"
    values = {"task": task, "annotator": annotator, "most": per_instance}
    return [(row["taken"], row["id"]) for row in rows(db, sql, values)]


def list_new_checks(db: Database, annotator: int, task: int) -> list[int]:
    """Attention checks of the task that this person was not given yet."""
    sql = (
        "SELECT DISTINCT i.id FROM instance i JOIN answer_key k ON k.instance = i.id WHERE i.task = ?"
        " AND NOT EXISTS (SELECT 1 FROM reservation r WHERE r.annotator = ? AND r.instance = i.id)"
    )
    return [row["id"] for row in rows(db, sql, [task, annotator])]


def list_ungraded_checks(db: Database, annotator: int, task: int) -> list[int]:
    sql = (
        "SELECT instance FROM reservation WHERE annotator = ? AND task = ? AND purpose = 'check'"
        " AND outcome = 'finished' AND passed IS NULL"
    )
    return [row["instance"] for row in rows(db, sql, [annotator, task])]


def grade_check(db: Database, annotator: int, instance: int, passed: bool) -> None:
    db.conn.execute(
        "UPDATE reservation SET passed = ? WHERE annotator = ? AND instance = ?",
        [int(passed), annotator, instance],
    )
