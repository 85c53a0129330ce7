"""Votes that were called off before they ended in a criteria set."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m123_cancelled_round(db: Database) -> None:
    run_script(
        db,
        """
        -- A round that is here ends in nothing. Its proposals and ballots stay on record.
        CREATE TABLE cancelled_round (
          ballot_round INTEGER PRIMARY KEY REFERENCES ballot_round(id),
          cancelled_by TEXT NOT NULL,
          cancelled_at TEXT NOT NULL
        ) STRICT;
        """,
    )
