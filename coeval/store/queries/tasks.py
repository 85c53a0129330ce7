"""Tasks and their instances."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from coeval.clock import now
from coeval.domain import Column, ColumnRole, Instance, Scale, Task
from coeval.rules.arms import Design, Display, Layout
from coeval.store.engines.interface import Database
from coeval.store.engines.mapper import Record
from coeval.store.engines.statements import chunks, get_row, insert, rows, scalar, to_json
from coeval.store.queries.archive import list_archived_ids


def _task(db: Database, row: dict[str, Any]) -> Task:
    return Task(
        slug=row["slug"],
        name=row["name"],
        description=row["description"],
        input_field=row["input_field"],
        output_field=row["output_field"],
        guidelines=row["guidelines"],
        scale=Scale(row["scale_min"], row["scale_max"]),
        origin=row["origin"],
        language=row["language"],
        columns={column.name: column.role for column in list_columns(db, row["id"])},
        id=row["id"],
    )


INSTANCE = Record(Instance, elsewhere=("context", "id"))


def instance_of(row: dict[str, Any]) -> Instance:
    return INSTANCE.from_row(row, context=json.loads(row["context_json"]), id=row["id"])


ALL = 2**62
"""A limit above every number of rows."""

UNSEEN = "import "
"""How the short names of tasks begin that an import on its way stands under. No name that people give has a space."""


def list_tasks(db: Database) -> list[Task]:
    seen = db.table("task").rows_where("slug NOT LIKE ?", [f"{UNSEEN}%"], order_by="id")
    return [_task(db, row) for row in list(seen)]


def get_task(db: Database, slug: str) -> Task | None:
    if slug.startswith(UNSEEN):
        return None
    row = get_row(db, "SELECT * FROM task WHERE slug = ?", [slug])
    return _task(db, row) if row else None


def get_task_by_id(db: Database, task: int) -> Task | None:
    row = get_row(db, "SELECT * FROM task WHERE id = ?", [task])
    return _task(db, row) if row else None


def get_language(db: Database, slug: str) -> str:
    """The code of a task's language; empty where there is no such task."""
    return str(scalar(db, "SELECT language FROM task WHERE slug = ?", [slug]) or "")


def list_languages(db: Database) -> list[str]:
    """The codes of the languages of all tasks that are not archived."""
    away = list_archived_ids(db)
    seen = rows(db, "SELECT id, language FROM task WHERE slug NOT LIKE ?", [f"{UNSEEN}%"])
    return [row["language"] for row in seen if row["id"] not in away]


def add_task(db: Database, task: Task) -> Task:
    task_id = insert(
        db,
        "task",
        slug=task.slug,
        origin=task.origin,
        seed=secrets.token_hex(16),
        created_at=now(),
        **_columns(task),
    )
    return replace(task, id=task_id)


def update_task(db: Database, task: Task) -> None:
    """Write the task's texts and scale anew; slug, origin and seed never change."""
    db.table("task").update(task.id, _columns(task))


def _columns(task: Task) -> dict[str, Any]:
    return {
        "name": task.name,
        "description": task.description,
        "input_field": task.input_field,
        "output_field": task.output_field,
        "guidelines": task.guidelines,
        "scale_min": task.scale.low,
        "scale_max": task.scale.high,
        "language": task.language,
    }


def list_columns(db: Database, task: int) -> list[Column]:
    """The columns of the instances' context with the roles in force, in the order in which they came."""
    sql = "SELECT name, role, set_by FROM column_role WHERE task = ? ORDER BY id"
    first: dict[str, Column] = {}
    for row in rows(db, sql, [task]):
        first[row["name"]] = Column(row["name"], ColumnRole(row["role"]), row["set_by"])
    return list(first.values())


def record_columns(db: Database, task: int, columns: Iterable[Column]) -> None:
    """Put roles of columns in force; what they were before stays on record."""
    at = now()
    db.conn.executemany(
        "INSERT INTO column_role (task, name, role, set_by, set_at) VALUES (?, ?, ?, ?, ?)",
        [(task, column.name, column.role.value, column.set_by, at) for column in columns],
    )


def get_seed(db: Database, task: int) -> str:
    """The secret that a task's orders, arms and drafts with a planted error are drawn with."""
    return str(scalar(db, "SELECT seed FROM task WHERE id = ?", [task]))


def get_design(db: Database, task: int) -> Design:
    """How a task shows its drafts."""
    row = get_row(db, "SELECT * FROM task WHERE id = ?", [task])
    assert row is not None
    return Design(
        blind_share=row["blind_share"],
        first_share=row["first_share"],
        planted_share=row["planted_share"],
        idle_seconds=row["idle_seconds"],
        display=Display(row["display"]),
        hide_systems=bool(row["hide_systems"]),
        wait_for_drafts=bool(row["wait_for_drafts"]),
        layout=Layout(row["layout"]),
    )


def set_design(db: Database, task: int, design: Design, by: str) -> None:
    """Write a task's design anew, and note who did."""
    db.table("task").update(task, asdict(design))
    insert(
        db, "design_change", task=task, design_json=to_json(asdict(design)), changed_by=by, changed_at=now()
    )


def get_last_design_change(db: Database, task: int) -> tuple[str, str] | None:
    """When and by whom the design was last set; None where it is as it was at first."""
    row = get_row(
        db,
        "SELECT changed_at, changed_by FROM design_change WHERE task = ? ORDER BY id DESC LIMIT 1",
        [task],
    )
    return (row["changed_at"], row["changed_by"]) if row else None


def count_opened(db: Database, task: int) -> int:
    """(annotator, instance) pairs of a task that somebody has opened."""
    return int(scalar(db, "SELECT count(*) FROM assignment WHERE task = ? AND arm IS NOT NULL", [task]))


def count_instances(db: Database, task: int) -> int:
    """How many instances a task has: its last position, since they are numbered without gaps."""
    return int(scalar(db, "SELECT coalesce(max(position), 0) FROM instance WHERE task = ?", [task]))


def get_position(db: Database, instance: int) -> int:
    """The place of an instance in its task, from 1."""
    return int(scalar(db, "SELECT position FROM instance WHERE id = ?", [instance]))


def get_instance(db: Database, instance: int) -> Instance | None:
    row = get_row(db, "SELECT * FROM instance WHERE id = ?", [instance])
    return instance_of(row) if row else None


def list_instances(db: Database, task: int, *, limit: int = ALL, offset: int = 0) -> Iterator[Instance]:
    sql = "SELECT * FROM instance WHERE task = ? ORDER BY position LIMIT ? OFFSET ?"
    return (instance_of(row) for row in rows(db, sql, [task, limit, offset]))


def list_ids_at(db: Database, task: int, positions: Iterable[int]) -> list[int]:
    """The ids of the instances at these positions, counted from 1."""
    return [
        row["id"]
        for batch in chunks(positions)
        for row in rows(
            db,
            f"SELECT id FROM instance WHERE task = ? AND position IN ({', '.join('?' * len(batch))})",
            [task, *batch],
        )
    ]


def get_instances_by_external_id(db: Database, task: int, ids: Iterable[str]) -> dict[str, Instance]:
    """The instances of a task that have one of these external ids, by that id."""
    by_id: dict[str, Instance] = {}
    for batch in chunks(ids):
        marks = ", ".join("?" * len(batch))
        sql = f"SELECT * FROM instance WHERE task = ? AND external_id IN ({marks})"
        by_id |= {row["external_id"]: instance_of(row) for row in rows(db, sql, [task, *batch])}
    return by_id


def get_instance_ids(db: Database, task: int, ids: Iterable[str]) -> dict[str, int]:
    """The ids of a task's instances by their external ids; those it lacks are left out."""
    by_name: dict[str, int] = {}
    for batch in chunks(ids):
        marks = ", ".join("?" * len(batch))
        sql = f"SELECT external_id, id FROM instance WHERE task = ? AND external_id IN ({marks})"
        by_name.update(db.conn.execute(sql, [task, *batch]))
    return by_name


def add_instances(db: Database, task: int, instances: Iterable[Instance]) -> int:
    """Append instances to a task, in their order, and give how many there were."""
    first = count_instances(db, task)
    db.table("instance").insert_all(
        INSTANCE.to_row(instance)
        | {"task": task, "position": position, "context_json": to_json(dict(instance.context))}
        for position, instance in enumerate(instances, first + 1)
    )
    return count_instances(db, task) - first
