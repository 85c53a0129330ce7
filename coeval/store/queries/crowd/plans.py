"""A study's plan, and taking over the queues of a task that was open to all before it had one."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from coeval.clock import now
from coeval.domain import Plan, StudyState, Terms
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, rows, to_json
from coeval.store.queries.crowd.reservations import renumber


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
        reason=row["reason"],
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
        "reason": plan.reason,
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
        renumber(db, annotator, task)
