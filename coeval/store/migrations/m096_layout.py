"""One criterion at a time, or all of an instance in one sheet."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m096_layout(db: Database) -> None:
    run_script(
        db,
        """
        -- What annotators work at; `choice` leaves it to each of them.
        ALTER TABLE task ADD COLUMN layout TEXT NOT NULL DEFAULT 'choice' CHECK (layout IN ('choice', 'one', 'all'));
        """,
    )
