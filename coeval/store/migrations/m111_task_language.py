"""The language of a task's annotators."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m111_task_language(db: Database) -> None:
    run_script(
        db,
        """
        -- The code of the catalogue that the annotators' screens are in, such as `ar`.
        ALTER TABLE task ADD COLUMN language TEXT NOT NULL DEFAULT 'en';
        """,
    )
