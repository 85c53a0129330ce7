"""Tasks that are put away, and taken out again."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m060_task_archive(db: Database) -> None:
    run_script(
        db,
        """
        -- Each time a task was put away (archived = 1) or taken out again (0). The newest line holds; nothing of
        -- the task itself is touched, so that its record stays whole.
        CREATE TABLE task_archive (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
          changed_by TEXT NOT NULL,
          changed_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX task_archive_newest ON task_archive(task, id);
        """,
    )
