"""A study's plan, and who was given which instance: places, time-outs, and what is free.

Everything that gives or takes back runs in the caller's one writing transaction, so that no two people can be
given the same place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Arm, Plan, StudyState, Terms
from coeval.store.engines.statements import get_row, rows, scalar, to_json
from coeval.store.queries.scrutiny.planted_errors import SOURCES

HELD, FINISHED, TIMED_OUT, RETURNED, REJECTED = "", "finished", "timed_out", "returned", "rejected"
TAKEN = "('', 'finished')"


def get_plan(db: Database, task: int) -> Plan | None:
    row = get_row(db, "SELECT * FROM crowd WHERE task = ?", [task])
    if row is None:
        return None
    return Plan(
        state=StudyState(row["state"]),
        per_instance=row["per_instance"],
        batch=row["batch"],
        quota=row["quota"],
        reserve_minutes=row["reserve_minutes"],
        exam=row["exam"],
        terms=Terms(**json.loads(row["settings_json"])),
    )


def set_plan(db: Database, task: int, plan: Plan) -> None:
    """Write a task's plan anew."""
    values: dict[str, Any] = {
        "task": task,
        "state": plan.state,
        "per_instance": plan.per_instance,
        "batch": plan.batch,
        "quota": plan.quota,
        "reserve_minutes": plan.reserve_minutes,
        "exam": plan.exam,
        "settings_json": to_json(asdict(plan.terms)),
    }
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    pairs = ", ".join(f"{name} = excluded.{name}" for name in values if name != "task")
    db.conn.execute(
        f"INSERT INTO crowd ({names}) VALUES ({marks}) ON CONFLICT (task) DO UPDATE SET {pairs}", values
    )


def adopt_queues(db: Database, task: int, until: str) -> None:
    """Turn the queues of a task that was open to all into reservations; what nobody opened is let go."""
    lone = "task = :task AND NOT EXISTS (SELECT 1 FROM reservation r WHERE r.annotator = assignment.annotator"
    lone += " AND r.instance = assignment.instance)"
    values = {"task": task, "now": now(), "until": until}
    people = [row["annotator"] for row in rows(
        db, f"SELECT DISTINCT annotator FROM assignment WHERE {lone}", values)]  # fmt: skip
    db.conn.execute(f"DELETE FROM assignment WHERE {lone} AND arm IS NULL AND state = 'open'", values)
    db.conn.execute(
        "INSERT INTO reservation (annotator, instance, task, purpose, given_at, reserved_until, outcome)"
        " SELECT annotator, instance, task, 'work', :now, :until,"
        f" CASE state WHEN 'finished' THEN 'finished' ELSE '' END FROM assignment WHERE {lone}",
        values,
    )
    for annotator in people:
        _renumber(db, annotator, task)


def add_reservations(
    db: Database, annotator: int, task: int, instances: Iterable[int], purpose: str, until: str
) -> None:
    given_at = now()
    db.conn.executemany(
        "INSERT INTO reservation (annotator, instance, task, purpose, given_at, reserved_until, outcome)"
        " VALUES (?, ?, ?, ?, ?, ?, '')",
        [(annotator, instance, task, purpose, given_at, until) for instance in instances],
    )


def renew(db: Database, annotator: int, task: int, until: str) -> None:
    """Hold on to what a person has, while nobody else was given it."""
    db.conn.execute(
        "UPDATE reservation SET reserved_until = ? WHERE annotator = ? AND task = ? AND outcome = ''",
        [until, annotator, task],
    )


def note_finished(db: Database, task: int) -> None:
    """Mark as finished what is held and saved by every criterion."""
    db.conn.execute(
        "UPDATE reservation SET outcome = 'finished' WHERE task = ? AND outcome = '' AND EXISTS ("
        "SELECT 1 FROM assignment a WHERE a.annotator = reservation.annotator"
        " AND a.instance = reservation.instance AND a.state = 'finished')",
        [task],
    )


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
    _renumber(db, annotator, task)
    return max(cursor.rowcount, 0)


def _renumber(db: Database, annotator: int, task: int) -> None:
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
    sql = (
        "SELECT i.id, (SELECT count(*) FROM reservation r WHERE r.instance = i.id AND r.purpose = 'work'"
        f" AND r.outcome IN {TAKEN}) AS taken FROM instance i WHERE i.task = :task"
        " AND NOT EXISTS (SELECT 1 FROM reservation mine WHERE mine.annotator = :annotator"
        " AND mine.instance = i.id) AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
        f" AND i.id NOT IN ({SOURCES}) AND taken < :most"
    )
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


def count_checks(db: Database, annotator: int, task: int) -> tuple[int, int]:
    """How many attention checks a person answered, and how many of these wrongly."""
    row = get_row(
        db,
        "SELECT count(passed) AS answered, coalesce(sum(passed = 0), 0) AS failed FROM reservation"
        " WHERE annotator = ? AND task = ? AND purpose = 'check'",
        [annotator, task],
    )
    assert row is not None
    return row["answered"], row["failed"]


def count_work(db: Database, annotator: int, task: int) -> dict[str, int]:
    """A person's instances by outcome (``""`` is held); attention checks count as the work that they look like."""
    sql = "SELECT outcome, count(*) AS n FROM reservation WHERE annotator = ? AND task = ? GROUP BY outcome"
    return {row["outcome"]: row["n"] for row in rows(db, sql, [annotator, task])}


def is_holding(db: Database, annotator: int, task: int) -> bool:
    """Whether a person has unfinished work that is theirs for now."""
    found = scalar(
        db,
        "SELECT 1 FROM reservation r JOIN assignment a ON a.annotator = r.annotator"
        " AND a.instance = r.instance WHERE r.annotator = ? AND r.task = ? AND r.outcome = ''"
        " AND r.reserved_until > ? AND a.state = 'open' LIMIT 1",
        [annotator, task, now()],
    )
    return bool(found)


def has_open(db: Database, annotator: int, task: int) -> bool:
    sql = "SELECT 1 FROM assignment WHERE annotator = ? AND task = ? AND state = 'open' LIMIT 1"
    return bool(scalar(db, sql, [annotator, task]))


def count_arms(db: Database, column: str, value: int, task: int) -> dict[Arm, int]:
    """How often each arm was drawn, of one annotator or of one instance."""
    assert column in ("annotator", "instance")
    sql = f"SELECT arm, count(*) AS n FROM assignment WHERE {column} = ? AND task = ? AND arm IS NOT NULL GROUP BY arm"
    return {Arm(row["arm"]): row["n"] for row in rows(db, sql, [value, task])}
