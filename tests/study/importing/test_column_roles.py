"""Roles of columns are kept with the task: at an import, and for a file of an earlier version."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from sqlite_utils import Database

from coeval.domain import Column, ColumnRole, Instance, Person, Study, Task
from coeval.store import Store
from coeval.store.migrations.registry import migrations
from coeval.store.queries import tasks
from coeval.study.access import Context
from coeval.study.importing.importing import import_study

TASK = Task("demo", "Demo", columns={"gold": ColumnRole.HUMAN_SCORE})
GIVEN = Instance("a", "in", "out", context={"topic": "bees", "gold": "4", "score": "3"})
LATER = Instance("b", "in", "out", context={"topic": "ants", "year": "1994"})


def roles(context: Context) -> dict[str, ColumnRole]:
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
    assert task is not None
    return dict(task.columns)


def test_an_import_gives_every_column_a_role_and_keeps_what_was_chosen(
    context: Context, owner: Person
) -> None:
    import_study(context, owner, Study(TASK, (GIVEN,), ()))
    first = {
        "topic": ColumnRole.SHOWN,
        "gold": ColumnRole.HUMAN_SCORE,
        "score": ColumnRole.HIDDEN,
    }
    assert roles(context) == first
    with context.store.write() as db:
        task = tasks.get_task(db, "demo")
        assert task is not None
        tasks.record_columns(db, task.id, [Column("topic", ColumnRole.PEOPLE, owner.name)])
    import_study(context, owner, Study(replace(TASK, columns={}), (LATER,), ()))
    assert roles(context) == first | {"topic": ColumnRole.PEOPLE, "year": ColumnRole.SHOWN}


def test_columns_of_an_earlier_file_get_roles_by_the_same_rule(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    db = Database(path)
    migrations.apply(db, stop_before="m045_column_role")
    db.conn.execute(
        "INSERT INTO task (id, slug, name, description, input_field, output_field, guidelines, scale_min, "
        "scale_max, origin, seed, created_at) VALUES (1, 'demo', 'D', '', 'I', 'O', '', 1, 5, '', 's', '')"
    )
    db.conn.execute(
        "INSERT INTO instance (task, position, external_id, document, system, input, output, reference, "
        "context_json) VALUES (1, 1, 'a', '', '', 'in', 'out', '', ?)",
        [json.dumps({"topic": "bees", "fluency": "4"})],
    )
    db.conn.commit()
    db.close()
    store = Store(path)
    with store.read() as read:
        listed = tasks.list_columns(read, 1)
    store.close()
    assert listed == [Column("topic", ColumnRole.SHOWN), Column("fluency", ColumnRole.HIDDEN)]
