"""Tasks and their instances."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from coeval.domain import Instance, Scale, Task
from coeval.store.common import chunks, insert, now, one, rows, scalar, to_json


def _task(row: dict[str, Any]) -> Task:
    return Task(
        slug=row["slug"],
        name=row["name"],
        description=row["description"],
        input_field=row["input_field"],
        output_field=row["output_field"],
        guidelines=row["guidelines"],
        scale=Scale(row["scale_min"], row["scale_max"]),
        origin=row["origin"],
        id=row["id"],
    )


def instance_of(row: dict[str, Any]) -> Instance:
    return Instance(
        external_id=row["external_id"],
        input=row["input"],
        output=row["output"],
        document=row["document"],
        system=row["system"],
        reference=row["reference"],
        context=json.loads(row["context_json"]),
        id=row["id"],
    )


def list_tasks(db: Database) -> list[Task]:
    return [_task(row) for row in rows(db, "SELECT * FROM task ORDER BY id")]


def get_task(db: Database, slug: str) -> Task | None:
    row = one(db, "SELECT * FROM task WHERE slug = ?", [slug])
    return _task(row) if row else None


def get_task_by_id(db: Database, task: int) -> Task | None:
    row = one(db, "SELECT * FROM task WHERE id = ?", [task])
    return _task(row) if row else None


def add_task(db: Database, task: Task) -> Task:
    values = _columns(task)
    task_id = insert(
        db, "task", slug=task.slug, origin=task.origin, seed=secrets.token_hex(16), created_at=now(), **values
    )
    return replace(task, id=task_id)


def update_task(db: Database, task: Task) -> None:
    """Write the task's texts and scale anew; slug, origin and seed never change."""
    values = _columns(task)
    pairs = ", ".join(f"{name} = :{name}" for name in values)
    db.conn.execute(f"UPDATE task SET {pairs} WHERE id = :id", values | {"id": task.id})


def _columns(task: Task) -> dict[str, Any]:
    return {
        "name": task.name,
        "description": task.description,
        "input_field": task.input_field,
        "output_field": task.output_field,
        "guidelines": task.guidelines,
        "scale_min": task.scale.low,
        "scale_max": task.scale.high,
    }


def get_design(db: Database, task: int) -> tuple[str, float]:
    """The seed of a task's orders and arms, and the share of assignments that are blind."""
    row = one(db, "SELECT seed, blind_share FROM task WHERE id = ?", [task])
    assert row is not None
    return row["seed"], row["blind_share"]


def count_instances(db: Database, task: int) -> int:
    return int(scalar(db, "SELECT count(*) FROM instance WHERE task = ?", [task]))


def get_instance(db: Database, instance: int) -> Instance | None:
    row = one(db, "SELECT * FROM instance WHERE id = ?", [instance])
    return instance_of(row) if row else None


def list_instances(db: Database, task: int, *, limit: int = -1, offset: int = 0) -> Iterator[Instance]:
    sql = "SELECT * FROM instance WHERE task = ? ORDER BY position LIMIT ? OFFSET ?"
    return (instance_of(row) for row in rows(db, sql, [task, limit, offset]))


def get_instances_by_external_id(db: Database, task: int, ids: Iterable[str]) -> dict[str, Instance]:
    """The instances of a task that have one of these external ids, by that id."""
    found: dict[str, Instance] = {}
    for batch in chunks(ids):
        marks = ", ".join("?" * len(batch))
        sql = f"SELECT * FROM instance WHERE task = ? AND external_id IN ({marks})"
        found |= {row["external_id"]: instance_of(row) for row in rows(db, sql, [task, *batch])}
    return found


def add_instances(db: Database, task: int, instances: Iterable[Instance]) -> int:
    """Append instances to a task, in their order, and give how many there were."""
    first = scalar(db, "SELECT coalesce(max(position), 0) FROM instance WHERE task = ?", [task])
    values = (
        (task, first + i, one_.external_id, one_.document, one_.system, one_.input, one_.output,
         one_.reference, to_json(dict(one_.context)))
        for i, one_ in enumerate(instances, 1)
    )  # fmt: skip
    cursor = db.conn.executemany(
        "INSERT INTO instance (task, position, external_id, document, system, input, output, reference,"
        " context_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        values,
    )
    return max(cursor.rowcount, 0)
