"""When the file came back from a snapshot."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m022_restoration(db: Database) -> None:
    run_script(
        db,
        """
        -- Each time this file came back from a snapshot: what was saved between taken_at and the end of the
        -- file before it is gone, and the record has to say so.
        CREATE TABLE restoration (
          id INTEGER PRIMARY KEY,
          source TEXT NOT NULL,
          name TEXT NOT NULL,
          taken_at TEXT NOT NULL,
          restored_at TEXT NOT NULL
        ) STRICT;
        """,
    )
