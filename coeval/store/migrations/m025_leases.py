"""Work that one worker at a time may do."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m025_leases(db: Database) -> None:
    run_script(
        db,
        """
        -- Who is at work on something that one worker at a time may do, such as the drafts of a run. Its holder
        -- renews it every few seconds and removes it at the end; one that was not renewed belongs to nobody.
        CREATE TABLE lease (
          name TEXT PRIMARY KEY,
          holder TEXT NOT NULL,
          job INTEGER REFERENCES job(id),
          renewed_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX lease_job ON lease(job);
        """,
    )
