"""Column roles: who may see what of an instance beyond its input and output."""

from __future__ import annotations

import json

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Scale
from coeval.rules.columns.column_roles import guess_column
from coeval.store.migrations.script import run_script

LOOKED_AT = 500
"""Instances of a task whose values the rule looks at."""


def m045_column_role(db: Database) -> None:
    run_script(
        db,
        """
        -- The role of a column of the instances' context. Rows are appended and the newest is in force; nobody
        -- has set a role where set_by is empty: the rule gave it. A column without a role is shown to nobody.
        CREATE TABLE column_role (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          name TEXT NOT NULL,
          role TEXT NOT NULL,
          set_by TEXT NOT NULL,
          set_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX column_role_newest ON column_role(task, name, id);
        """,
    )
    for task, low, high in db.conn.execute("SELECT id, scale_min, scale_max FROM task").fetchall():
        for name, values in _values(db, task).items():
            column = guess_column(name, values, Scale(low, high))
            db.conn.execute(
                "INSERT INTO column_role (task, name, role, set_by, set_at) VALUES (?, ?, ?, '', ?)",
                [task, name, column.role.value, now()],
            )


def _values(db: Database, task: int) -> dict[str, list[str]]:
    """Values of every column of a task's contexts: all names, and the values of its first instances."""
    values: dict[str, list[str]] = {}
    sql = "SELECT context_json FROM instance WHERE task = ? AND context_json <> '{}' ORDER BY position"
    for (context,) in db.conn.execute(sql, [task]):
        for name, value in json.loads(context).items():
            given = values.setdefault(name, [])
            if len(given) < LOOKED_AT:
                given.append(value)
    return values
