"""Runs that are put away, and taken out again."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m124_run_archive(db: Database) -> None:
    run_script(
        db,
        """
        -- Each time a run was put away (archived = 1) or taken out again (0); the newest line holds. Its drafts,
        -- and what people did with them, are not touched.
        CREATE TABLE run_archive (
          id INTEGER PRIMARY KEY,
          run INTEGER NOT NULL REFERENCES run(id),
          archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
          changed_by TEXT NOT NULL,
          changed_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX run_archive_newest ON run_archive(run, id);

        CREATE VIEW archived_run AS
          SELECT a.run FROM run_archive a WHERE a.archived = 1 AND NOT EXISTS (
            SELECT 1 FROM run_archive later WHERE later.run = a.run AND later.id > a.id);
        """,
    )
