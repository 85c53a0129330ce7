"""One word for an error put into a draft on purpose: planted error."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m024_planted_error(db: Database) -> None:
    run_script(
        db,
        """
        ALTER TABLE sown RENAME TO planted_error;
        ALTER TABLE planted_error RENAME COLUMN sown_at TO planted_at;
        ALTER TABLE task RENAME COLUMN sown_share TO planted_share;
        ALTER TABLE submission RENAME COLUMN sown TO planted;
        """,
    )
