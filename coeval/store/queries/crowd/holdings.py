"""What one person has of a study: work by outcome, checks, and the arms that were drawn."""

from __future__ import annotations

from coeval.clock import now
from coeval.domain import Arm
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, rows, scalar


def count_checks(db: Database, annotator: int, task: int) -> tuple[int, int]:
    """How many attention checks a person answered, and how many of these wrongly."""
    row = get_row(
        db,
        "SELECT count(passed) AS answered, count(CASE WHEN passed = 0 THEN 1 END) AS failed FROM reservation"
        " WHERE annotator = ? AND task = ? AND purpose = 'check'",
        [annotator, task],
    )
    assert row is not None
    return row["answered"], row["failed"]


NEWEST = (
    "(arrival IS NULL OR arrival = (SELECT max(v.id) FROM arrival v WHERE v.annotator = reservation.annotator"
    " AND v.task = reservation.task))"
)
"""Of the submission that a person works at now."""


def count_work(db: Database, annotator: int, task: int) -> dict[str, int]:
    """A person's instances of this submission by outcome (``""`` is held).

    Attention checks count as the work that they look like.
    """
    sql = (
        "SELECT outcome, count(*) AS n FROM reservation WHERE annotator = ? AND task = ?"
        f" AND {NEWEST} GROUP BY outcome"
    )
    return {row["outcome"]: row["n"] for row in rows(db, sql, [annotator, task])}


def is_holding(db: Database, annotator: int, task: int) -> bool:
    """Whether a person has unfinished work that is theirs for now."""
    held = scalar(
        db,
        "SELECT 1 FROM reservation r JOIN assignment a ON a.annotator = r.annotator"
        " AND a.instance = r.instance WHERE r.annotator = ? AND r.task = ? AND r.outcome = ''"
        " AND r.reserved_until > ? AND a.state = 'open' LIMIT 1",
        [annotator, task, now()],
    )
    return bool(held)


def has_open(db: Database, annotator: int, task: int) -> bool:
    sql = "SELECT 1 FROM assignment WHERE annotator = ? AND task = ? AND state = 'open' LIMIT 1"
    return bool(scalar(db, sql, [annotator, task]))


def count_arms(db: Database, column: str, value: int, task: int) -> dict[Arm, int]:
    """How often each arm was drawn for work, of one annotator or of one instance."""
    assert column in ("annotator", "instance")
    sql = (
        f"SELECT a.arm, count(*) AS n FROM assignment a WHERE a.{column} = ? AND a.task = ? AND a.arm IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = a.instance) GROUP BY a.arm"
    )
    return {Arm(row["arm"]): row["n"] for row in rows(db, sql, [value, task])}


def count_all_arms(db: Database, task: int) -> dict[Arm, int]:
    """How often each arm was drawn in a task, attention checks included."""
    sql = "SELECT arm, count(*) AS n FROM assignment WHERE task = ? AND arm IS NOT NULL GROUP BY arm"
    return {Arm(row["arm"]): row["n"] for row in rows(db, sql, [task])}


def count_room(db: Database, annotator: int, task: int, quota: int) -> int:
    """How many more instances a person may be given in this submission."""
    work = count_work(db, annotator, task)
    return quota - work.get("", 0) - work.get("finished", 0)


def count_lapsed(db: Database, annotator: int, task: int) -> int:
    """Instances of the batch a person was given last whose time ran out."""
    sql = (
        "SELECT count(*) FROM reservation WHERE annotator = :annotator AND task = :task AND outcome = 'timed_out'"
        " AND given_at = (SELECT max(r.given_at) FROM reservation r WHERE r.annotator = :annotator"
        f" AND r.task = :task) AND {NEWEST}"
    )
    return int(scalar(db, sql, {"annotator": annotator, "task": task}))


def count_saved(db: Database, annotator: int, task: int) -> int:
    """Evaluations that a person saved of what they were given in this submission."""
    sql = (
        "SELECT count(*) FROM current_submission s WHERE s.annotator = :annotator AND s.instance IN ("
        f"SELECT instance FROM reservation WHERE annotator = :annotator AND task = :task AND {NEWEST})"
    )
    return int(scalar(db, sql, {"annotator": annotator, "task": task}))
