"""Sharper wordings of criteria that the model made of people's corrections, and what the owner made of them."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m118_wording(db: Database) -> None:
    run_script(
        db,
        """
        CREATE TABLE wording (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          text TEXT NOT NULL,
          anchors_json TEXT NOT NULL,
          why TEXT NOT NULL,
          model TEXT NOT NULL,
          proposed_by TEXT NOT NULL,
          proposed_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX wording_task ON wording(task, id);

        -- One that has none is still to be taken or left.
        CREATE TABLE wording_decision (
          wording INTEGER PRIMARY KEY REFERENCES wording(id),
          taken INTEGER NOT NULL CHECK (taken IN (0, 1)),
          decided_by TEXT NOT NULL,
          decided_at TEXT NOT NULL
        ) STRICT;
        """,
    )
