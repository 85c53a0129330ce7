"""The data sets that a task's instances were read from."""

from __future__ import annotations

from coeval.clock import now
from coeval.domain import TaskSource
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import rows

ADD = """
INSERT INTO task_source (task, address, revision, imported_by, imported_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (task, address, revision) DO NOTHING
"""


def add_source(db: Database, task: int, address: str, revision: str, by: str) -> None:
    """Note where instances came from; a second import of the same commit is not noted again."""
    db.conn.execute(ADD, [task, address, revision, by, now()])


def list_sources(db: Database, task: int) -> list[TaskSource]:
    """The sources of a task, the first import first."""
    sql = "SELECT address, revision, imported_by, imported_at FROM task_source WHERE task = ? ORDER BY id"
    return [TaskSource(**row) for row in rows(db, sql, [task])]
