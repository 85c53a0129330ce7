"""Tasks and their instances: their sources, image hosts, and archived state."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from coeval.clock import now
from coeval.domain import Column, ColumnRole, Instance, Scale, Task, TaskSource
from coeval.folded_text import compose
from coeval.rules.arms import Design
from coeval.store.engines.database import (
    Database,
    Record,
    chunks,
    get_row,
    insert,
    rows,
    scalar,
    to_json,
)


def list_archived_ids(db: Database) -> frozenset[int]:
    """Return the ids of archived tasks."""
    return frozenset(row["task"] for row in db.query("SELECT task FROM archived_task"))


def record_archive(db: Database, task: int, by: str, *, archived: bool) -> None:
    """Archive or restore a task."""
    record_change(db, task, by, aside=int(archived))


def record_change(db: Database, task: int, by: str, **values: int | str) -> None:
    """Append a change of a task; ``values`` are the columns of ``task_change`` that it is about."""
    insert(db, "task_change", task=task, changed_by=by, changed_at=now(), **values)


ADD_SOURCE = """
INSERT INTO task_source (task, address, revision, imported_by, imported_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (task, address, revision) DO NOTHING
"""


def add_source(db: Database, task: int, address: str, revision: str, by: str) -> None:
    """Record the source of instances; the same revision is recorded once."""
    db.conn.execute(ADD_SOURCE, [task, address, revision, by, now()])


def list_sources(db: Database, task: int) -> list[TaskSource]:
    """Return the sources of a task, oldest first."""
    sql = "SELECT address, revision, imported_by, imported_at FROM task_source WHERE task = ? ORDER BY id"
    return [TaskSource(**row) for row in rows(db, sql, [task])]


IMAGE_HOSTS = "image_hosts"


def list_image_hosts(db: Database) -> list[str]:
    """Return the current image hosts; empty if there are none."""
    sql = "SELECT value FROM server_setting WHERE name = ? ORDER BY id DESC LIMIT 1"
    return str(scalar(db, sql, [IMAGE_HOSTS]) or "").split()


def record_image_hosts(db: Database, hosts: list[str], by: str) -> None:
    """Set the image hosts; earlier lists stay on record."""
    insert(db, "server_setting", name=IMAGE_HOSTS, value="\n".join(hosts), set_by=by, set_at=now())


REVISION = """
SELECT (SELECT max(id) FROM ballot_round WHERE task = :task), (SELECT max(id) FROM task_change WHERE task = :task),
  (SELECT max(b.id) FROM ballot b JOIN ballot_round r ON r.id = b.ballot_round WHERE r.task = :task),
  (SELECT max(id) FROM criteria_set WHERE task = :task),
  (SELECT max(id) FROM mark), (SELECT max(id) FROM mark_answer), (SELECT max(id) FROM task_team WHERE task = :task),
  (SELECT max(position) FROM instance WHERE task = :task), (SELECT id FROM run WHERE task = :task AND shown = 1),
  (SELECT max(id) FROM run WHERE task = :task), (SELECT max(updated_at) FROM job WHERE task = :task)
"""


def get_revision(db: Database, task: int) -> str:
    """Quickly return a text that changes with the state of a study that its pages show.

    Scores are left out, because a page would follow every save of every person.
    """
    (*parts,) = db.conn.execute(REVISION, {"task": task}).fetchone()
    return " ".join(str(part) for part in (task, *parts))


# Tasks and their instances.


TASK = Record(Task, elsewhere=("scale", "columns", "id"))


def _task(db: Database, row: dict[str, Any]) -> Task:
    columns = {column.name: column.role for column in list_columns(db, row["id"])}
    scale = Scale(row["scale_min"], row["scale_max"])
    return TASK.from_row(row, scale=scale, columns=columns, id=row["id"])


INSTANCE = Record(Instance, elsewhere=("context", "id", "position"))


def instance_of(row: dict[str, Any]) -> Instance:
    context = json.loads(row["context_json"])
    return INSTANCE.from_row(row, context=context, id=row["id"], position=row["position"])


ALL = 2**62
"""A limit larger than any number of rows."""

UNSEEN = "import "
"""The prefix of the short names of hidden tasks for unfinished imports. Users' short names have no spaces."""


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
    """Return the code of a task's language; empty if the task does not exist."""
    return str(scalar(db, "SELECT language FROM task WHERE slug = ?", [slug]) or "")


def list_languages(db: Database) -> list[str]:
    """Return the codes of the languages of all active tasks."""
    away = list_archived_ids(db)
    seen = rows(db, "SELECT id, language FROM task WHERE slug NOT LIKE ?", [f"{UNSEEN}%"])
    return [row["language"] for row in seen if row["id"] not in away]


def add_task(db: Database, task: Task) -> Task:
    return replace(
        task, id=insert(db, "task", seed=secrets.token_hex(16), created_at=now(), **_columns(task))
    )


def update_task(db: Database, task: Task) -> None:
    """Update the task's texts and scale; slug, origin and seed never change."""
    kept = ("slug", "origin")
    changes = {name: value for name, value in _columns(task).items() if name not in kept}
    db.table("task").update(task.id, changes)


def _columns(task: Task) -> dict[str, Any]:
    return {**TASK.to_row(task), "scale_min": task.scale.low, "scale_max": task.scale.high}


def list_columns(db: Database, task: int) -> list[Column]:
    """Return the columns of the instances' context with their current roles, in the order of appearance."""
    sql = "SELECT name, role, set_by FROM column_role WHERE task = ? ORDER BY id"
    first: dict[str, Column] = {}
    for row in rows(db, sql, [task]):
        first[row["name"]] = Column(row["name"], ColumnRole(row["role"]), row["set_by"])
    return list(first.values())


def record_columns(db: Database, task: int, columns: Iterable[Column]) -> None:
    """Set roles of columns; earlier roles stay on record."""
    at = now()
    db.conn.executemany(
        "INSERT INTO column_role (task, name, role, set_by, set_at) VALUES (?, ?, ?, ?, ?)",
        [(task, column.name, column.role.value, column.set_by, at) for column in columns],
    )


def get_seed(db: Database, task: int) -> str:
    """Return the secret seed from which a task's orders, arms and planted errors are drawn."""
    return str(scalar(db, "SELECT seed FROM task WHERE id = ?", [task]))


DESIGN = Record(Design)
"""Maps a study's design to columns of ``task``. To add a field, add a column of its name."""


def get_design(db: Database, task: int) -> Design:
    """Return the design by which a task shows its drafts."""
    row = get_row(db, "SELECT * FROM task WHERE id = ?", [task])
    assert row is not None
    return DESIGN.from_row(row)


def set_design(db: Database, task: int, design: Design, by: str) -> None:
    """Set a task's design, and record its author."""
    db.table("task").update(task, asdict(design))
    record_change(db, task, by, design_json=to_json(asdict(design)))


def get_tools(db: Database, task: int) -> frozenset[str]:
    """Return the ids of the tools that an owner turned on for a task."""
    return frozenset(str(scalar(db, "SELECT tools FROM task WHERE id = ?", [task])).split())


def set_tools(db: Database, task: int, tools: Iterable[str]) -> None:
    db.table("task").update(task, {"tools": " ".join(sorted(tools))})


def get_last_design_change(db: Database, task: int) -> tuple[str, str] | None:
    """Return the time and author of the last design change; None if there was none."""
    row = get_row(
        db,
        "SELECT changed_at, changed_by FROM task_change WHERE task = ? AND design_json IS NOT NULL"
        " ORDER BY id DESC LIMIT 1",
        [task],
    )
    return (row["changed_at"], row["changed_by"]) if row else None


def count_opened(db: Database, task: int) -> int:
    """Return the number of opened (annotator, instance) pairs of a task."""
    return int(scalar(db, "SELECT count(*) FROM assignment WHERE task = ? AND arm IS NOT NULL", [task]))


def count_instances(db: Database, task: int) -> int:
    """Return the number of instances of a task, which is its last position, because positions have no gaps."""
    return int(scalar(db, "SELECT coalesce(max(position), 0) FROM instance WHERE task = ?", [task]))


def has_submissions(db: Database, task: int) -> bool:
    """Return whether anybody has saved a score for the task."""
    sql = "SELECT 1 FROM submission s JOIN instance i ON i.id = s.instance WHERE i.task = ? LIMIT 1"
    return get_row(db, sql, [task]) is not None


def is_in_progress(db: Database, task: int) -> bool:
    """Return whether somebody who has judged some instances of the task has others left."""
    sql = (
        "SELECT 1 FROM annotator p WHERE"
        " EXISTS (SELECT 1 FROM assignment a WHERE a.annotator = p.id AND a.task = :task AND a.state = 'finished')"
        " AND EXISTS (SELECT 1 FROM assignment a WHERE a.annotator = p.id AND a.task = :task AND a.state = 'open')"
        " LIMIT 1"
    )
    return get_row(db, sql, {"task": task}) is not None


def get_last_instance(db: Database, task: int) -> tuple[int, int]:
    """Return the id and position of a task's last instance; zeros if it has none."""
    row = get_row(
        db, "SELECT id, position FROM instance WHERE task = ? ORDER BY position DESC LIMIT 1", [task]
    )
    return (row["id"], row["position"]) if row else (0, 0)


def list_systems(db: Database, task: int) -> list[str]:
    """Return the systems of a task's outputs, each once, sorted."""
    sql = "SELECT DISTINCT system FROM instance WHERE task = ? AND system <> '' ORDER BY system"
    return [row["system"] for row in rows(db, sql, [task])]


def get_instance(db: Database, instance: int) -> Instance | None:
    row = get_row(db, "SELECT * FROM instance WHERE id = ?", [instance])
    return instance_of(row) if row else None


def list_instances(db: Database, task: int, *, limit: int = ALL) -> Iterator[Instance]:
    sql = "SELECT * FROM instance WHERE task = ? ORDER BY position LIMIT ?"
    return (instance_of(row) for row in rows(db, sql, [task, limit]))


def get_instances_by_external_id(db: Database, task: int, ids: Iterable[str]) -> dict[str, Instance]:
    """Return the instances of a task with these external ids, by external id."""
    by_id: dict[str, Instance] = {}
    for batch in chunks(ids):
        marks = ", ".join("?" * len(batch))
        sql = f"SELECT * FROM instance WHERE task = ? AND external_id IN ({marks})"
        by_id |= {row["external_id"]: instance_of(row) for row in rows(db, sql, [task, *batch])}
    return by_id


def find_instance(db: Database, task: int, external_id: str) -> Instance | None:
    """Return the instance with this external id, in any Unicode form."""
    stored = get_instances_by_external_id(db, task, [compose(external_id)])
    return next(iter(stored.values()), None)


def get_instance_ids(db: Database, task: int, ids: Iterable[str]) -> dict[str, int]:
    """Return the ids of a task's instances by external id. Instances that do not exist are left out."""
    by_name: dict[str, int] = {}
    for batch in chunks(ids):
        marks = ", ".join("?" * len(batch))
        sql = f"SELECT external_id, id FROM instance WHERE task = ? AND external_id IN ({marks})"
        by_name.update(db.conn.execute(sql, [task, *batch]))
    return by_name


def add_instances(db: Database, task: int, instances: Iterable[Instance]) -> int:
    """Append instances to a task in their order, and return their number."""
    first = count_instances(db, task)
    db.table("instance").insert_all(
        INSTANCE.to_row(instance)
        | {"task": task, "position": position, "context_json": to_json(dict(instance.context))}
        for position, instance in enumerate(instances, first + 1)
    )
    return count_instances(db, task) - first
