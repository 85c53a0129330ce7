"""Where a task's instances came from, where they came from a data set of the Hub."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m110_task_source(db: Database) -> None:
    run_script(
        db,
        """
        -- The part of a data set at the commit it was read at, so that others can fetch the very same rows.
        CREATE TABLE task_source (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          address TEXT NOT NULL,
          revision TEXT NOT NULL,
          imported_by TEXT NOT NULL,
          imported_at TEXT NOT NULL,
          UNIQUE (task, address, revision)
        ) STRICT;
        """,
    )
