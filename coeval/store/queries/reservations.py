"""Reservations of instances: places, time-outs, free places, and one person's instances of a study.

Everything that reserves or releases places runs in the caller's one write transaction, so that no two people
get the same place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from coeval.clock import now
from coeval.domain import Arm
from coeval.store.engines.database import Database, get_row, rows, scalar
from coeval.store.queries.enrolments import get_newest_arrival

FINISHED, TIMED_OUT, RETURNED, REJECTED = "finished", "timed_out", "returned", "rejected"
TAKEN = "('', 'finished')"
N_TAKEN = (
    "(SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'"
    f" AND r.outcome IN {TAKEN})"
)
FREE = (
    "FROM instance i WHERE i.task = :task AND NOT EXISTS (SELECT 1 FROM reservation mine"
    " WHERE mine.annotator = :annotator AND mine.instance = i.id)"
    " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
    f" AND {N_TAKEN} < :most"
)
"""The conditions for ``list_free``."""


def add_reservations(
    db: Database, annotator: int, task: int, instances: Iterable[int], purpose: str, until: str
) -> None:
    """Reserve instances for the current submission of a person."""
    given_at, arrival = now(), get_newest_arrival(db, task, annotator)
    db.conn.executemany(
        "INSERT INTO reservation (annotator, instance, task, purpose, given_at, reserved_until, outcome, arrival)"
        " VALUES (?, ?, ?, ?, ?, ?, '', ?)",
        [(annotator, instance, task, purpose, given_at, until, arrival) for instance in instances],
    )


def renew(db: Database, annotator: int, task: int, until: str) -> None:
    """Extend a person's reservations if nobody else got the instances."""
    db.conn.execute(
        "UPDATE reservation SET reserved_until = ? WHERE annotator = ? AND task = ? AND outcome = ''",
        [until, annotator, task],
    )


def shorten(db: Database, task: int, until: str) -> None:
    """Make all reservations end at this time at the latest. After a clock was set back, some would last too long."""
    db.conn.execute(
        "UPDATE reservation SET reserved_until = :until WHERE task = :task AND outcome = ''"
        " AND reserved_until > :until",
        {"task": task, "until": until},
    )


def note_finished(db: Database, task: int, *, annotator: int | None = None) -> int:
    """Mark fully saved instances as finished; return their number."""
    mine = "" if annotator is None else " AND annotator = :annotator"
    cursor = db.conn.execute(
        f"UPDATE reservation SET outcome = 'finished' WHERE task = :task AND outcome = ''{mine} AND EXISTS ("
        "SELECT 1 FROM assignment a WHERE a.annotator = reservation.annotator"
        " AND a.instance = reservation.instance AND a.state = 'finished')",
        {"task": task, "annotator": annotator},
    )
    return max(cursor.rowcount, 0)


def get_outcome(db: Database, annotator: int, instance: int) -> str | None:
    """Return the outcome of an instance for a person; None if they never had the instance."""
    sql = "SELECT outcome FROM reservation WHERE annotator = ? AND instance = ?"
    outcome: str | None = scalar(db, sql, [annotator, instance])
    return outcome


def is_full(db: Database, task: int, per_instance: int) -> bool:
    """Return whether enough people have finished every instance for work."""
    sql = (
        "SELECT 1 FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
        " AND (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'"
        " AND r.outcome = 'finished') < ? LIMIT 1"
    )
    return scalar(db, sql, [task, per_instance]) is None


def has_free(db: Database, annotator: int, task: int, per_instance: int) -> bool:
    """Return whether ``list_free`` has an instance for this person. For a new person, ``annotator`` is 0."""
    values = {"task": task, "annotator": annotator, "most": per_instance}
    return scalar(db, f"SELECT 1 {FREE} LIMIT 1", values) is not None


def list_due(db: Database, task: int) -> dict[int, str]:
    """Return the people with expired instances, and the times of their last saves (empty if there is none)."""
    sql = (
        "SELECT DISTINCT r.annotator, coalesce((SELECT max(s.submitted_at) FROM submission s"
        " WHERE s.annotator = r.annotator), '') AS last FROM reservation r"
        " WHERE r.task = ? AND r.outcome = '' AND r.reserved_until <= ?"
    )
    return {row["annotator"]: row["last"] for row in rows(db, sql, [task, now()])}


def take_back(db: Database, annotator: int, task: int, outcome: str) -> int:
    """Take back all of a person's instances, but keep their saves; return the number of instances."""
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
    """Close the gaps in a person's positions by moving each one down to the next free number, in order."""
    sql = "SELECT position FROM assignment WHERE annotator = ? AND task = ? ORDER BY position"
    old = [row["position"] for row in rows(db, sql, [annotator, task])]
    db.conn.executemany(
        "UPDATE assignment SET position = ? WHERE annotator = ? AND task = ? AND position = ?",
        [(new, annotator, task, was) for new, was in enumerate(old, 1) if new != was],
    )


def reject_finished(db: Database, arrival: int) -> None:
    """Release the places of the finished work of one submission."""
    db.conn.execute(
        "UPDATE reservation SET outcome = 'rejected' WHERE arrival = ? AND outcome = 'finished'", [arrival]
    )


def list_free(db: Database, annotator: int, task: int, per_instance: int) -> list[tuple[int, int]]:
    """Return the instances that have a free place and that this person never had, each with its number of
    people and its id.

    Instances with an answer key are attention checks, and are left out.
    """
    sql = f"SELECT i.id, {N_TAKEN} AS taken {FREE}"
    values = {"task": task, "annotator": annotator, "most": per_instance}
    return [(row["taken"], row["id"]) for row in rows(db, sql, values)]


def list_new_checks(db: Database, annotator: int, task: int) -> list[int]:
    """Return the task's attention checks that this person has not had."""
    sql = (
        "SELECT DISTINCT i.id FROM instance i JOIN answer_key k ON k.instance = i.id WHERE i.task = ?"
        " AND NOT EXISTS (SELECT 1 FROM reservation r WHERE r.annotator = ? AND r.instance = i.id)"
    )
    return [row["id"] for row in rows(db, sql, [task, annotator])]


OF_NEWEST_ARRIVAL = (
    "(arrival IS NULL OR arrival = (SELECT max(v.id) FROM arrival v WHERE v.annotator = reservation.annotator"
    " AND v.task = reservation.task))"
)
"""The condition for a person's current submission."""


def list_ungraded_checks(db: Database, annotator: int, task: int) -> list[int]:
    """Return the finished attention checks of this submission that have no grade."""
    sql = (
        "SELECT instance FROM reservation WHERE annotator = ? AND task = ? AND purpose = 'check'"
        f" AND outcome = 'finished' AND passed IS NULL AND {OF_NEWEST_ARRIVAL}"
    )
    return [row["instance"] for row in rows(db, sql, [annotator, task])]


def grade_check(db: Database, annotator: int, instance: int, passed: bool) -> None:
    db.conn.execute(
        "UPDATE reservation SET passed = ? WHERE annotator = ? AND instance = ?",
        [int(passed), annotator, instance],
    )


# One person's part of a study: work by outcome, checks, and drawn arms.


def count_checks(db: Database, annotator: int, task: int) -> tuple[int, int]:
    """Return the attention checks that a person answered in this submission, and the wrong answers."""
    row = get_row(
        db,
        "SELECT count(passed) AS answered, count(CASE WHEN passed = 0 THEN 1 END) AS failed FROM reservation"
        f" WHERE annotator = ? AND task = ? AND purpose = 'check' AND {OF_NEWEST_ARRIVAL}",
        [annotator, task],
    )
    assert row is not None
    return row["answered"], row["failed"]


def count_work(db: Database, annotator: int, task: int) -> dict[str, int]:
    """Return a person's instances of this submission by outcome (``""`` for held ones).

    Attention checks count as the work that they resemble.
    """
    sql = (
        "SELECT outcome, count(*) AS n FROM reservation WHERE annotator = ? AND task = ?"
        f" AND {OF_NEWEST_ARRIVAL} GROUP BY outcome"
    )
    return {row["outcome"]: row["n"] for row in rows(db, sql, [annotator, task])}


def is_holding(db: Database, annotator: int, task: int) -> bool:
    """Return whether a person currently has unfinished work."""
    held = scalar(
        db,
        "SELECT 1 FROM reservation r JOIN assignment a ON a.annotator = r.annotator"
        " AND a.instance = r.instance WHERE r.annotator = ? AND r.task = ? AND r.outcome = ''"
        " AND r.reserved_until > ? AND a.state = 'open' LIMIT 1",
        [annotator, task, now()],
    )
    return bool(held)


def has_open_work(db: Database, annotator: int, task: int) -> bool:
    sql = "SELECT 1 FROM assignment WHERE annotator = ? AND task = ? AND state = 'open' LIMIT 1"
    return bool(scalar(db, sql, [annotator, task]))


DRAWN = (
    "FROM assignment a LEFT JOIN reservation r ON r.annotator = a.annotator AND r.instance = a.instance"
    f" WHERE a.task = :task AND a.arm IS NOT NULL AND coalesce(r.outcome, '') IN {TAKEN}"
)
"""The draws of an arm that count: late, returned and rejected work does not, because others do it again."""


def count_arms(db: Database, annotator: int, task: int) -> Counter[Arm]:
    """Return the number of times that each arm was drawn for a person, including attention checks."""
    sql = f"SELECT a.arm, count(*) AS n {DRAWN} AND a.annotator = :annotator GROUP BY a.arm"
    return Counter(
        {Arm(row["arm"]): row["n"] for row in rows(db, sql, {"task": task, "annotator": annotator})}
    )


def list_arms(db: Database, instance: int, task: int) -> list[Arm]:
    """Return the arms in which people opened an instance, in order of opening."""
    sql = f"SELECT a.arm {DRAWN} AND a.instance = :instance ORDER BY a.opened_at, a.annotator"
    return [Arm(row["arm"]) for row in rows(db, sql, {"task": task, "instance": instance})]


def count_all_arms(db: Database, task: int) -> tuple[Counter[Arm], Counter[Arm]]:
    """Return the number of times that each arm was drawn in a task: for work, and for attention checks."""
    sql = f"SELECT a.arm, coalesce(r.purpose, 'work') AS purpose, count(*) AS n {DRAWN} GROUP BY 1, 2"
    counts: dict[str, Counter[Arm]] = {"work": Counter(), "check": Counter()}
    for row in rows(db, sql, {"task": task}):
        counts[row["purpose"]][Arm(row["arm"])] = row["n"]
    return counts["work"], counts["check"]


def count_room(db: Database, annotator: int, task: int, quota: int) -> int:
    """Return how many more instances a person may get in this submission."""
    work = count_work(db, annotator, task)
    return quota - work.get("", 0) - work.get("finished", 0)


def has_saved(db: Database, annotator: int) -> bool:
    """Return whether a person has already saved something, in a study or in its exam."""
    return scalar(db, "SELECT 1 FROM submission WHERE annotator = ? LIMIT 1", [annotator]) is not None
