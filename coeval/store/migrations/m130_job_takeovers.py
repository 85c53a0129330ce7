"""How often a job was taken over by another server."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m130_job_takeovers(db: Database) -> None:
    run_script(
        db,
        """
        -- A job goes on at another server when its own ends. One that ends every server it comes to must stop.
        ALTER TABLE job ADD COLUMN takeovers INTEGER NOT NULL DEFAULT 0;
        """,
    )
