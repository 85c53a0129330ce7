"""Waiting for drafts, and the people of an instance found without reading the queues."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m095_waiting(db: Database) -> None:
    run_script(
        db,
        """
        -- Whether what is to be shown with its draft is held back until there is one.
        ALTER TABLE task ADD COLUMN wait_for_drafts INTEGER NOT NULL DEFAULT 0 CHECK (wait_for_drafts IN (0, 1));

        -- Every draw of an arm looks at who has opened the same instance before.
        CREATE INDEX assignment_instance ON assignment(instance) WHERE arm IS NOT NULL;
        """,
    )
