"""Hosts that images may come from."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m112_image_host(db: Database) -> None:
    run_script(
        db,
        """
        -- The owners' list of hosts that pages may show images from, of every task of this server. Each change is
        -- the whole list anew, one name a line: the newest is in force.
        CREATE TABLE image_host (
          id INTEGER PRIMARY KEY,
          hosts TEXT NOT NULL,
          set_by TEXT NOT NULL,
          set_at TEXT NOT NULL
        ) STRICT;
        """,
    )
