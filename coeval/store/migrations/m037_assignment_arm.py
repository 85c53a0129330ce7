"""Counting a study's arms without reading its queues."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m037_assignment_arm(db: Database) -> None:
    run_script(
        db,
        """
        -- Every draw of an arm looks at how often each was drawn in the whole study.
        CREATE INDEX assignment_arm ON assignment(task, arm) WHERE arm IS NOT NULL;
        """,
    )
