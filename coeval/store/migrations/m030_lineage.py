"""Which line of files this one belongs to, so that no other can take its place; and what a restoration cost."""

from __future__ import annotations

import secrets

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m030_lineage(db: Database) -> None:
    run_script(
        db,
        """
        -- One row. id is this file's and that of every copy of it; a file that was begun anew has another. term
        -- is the latest in which it was served from a place of snapshots. sign_in is the kind of sign-in that
        -- its sessions were opened by.
        CREATE TABLE lineage (
          id TEXT NOT NULL UNIQUE,
          term INTEGER NOT NULL,
          sign_in TEXT NOT NULL
        ) STRICT;

        -- passed_over: newer snapshots that were damaged, one a line. newest_at: when the newest of them was
        -- taken. put_aside: the file that stood in the place before and is kept beside it.
        ALTER TABLE restoration ADD COLUMN passed_over TEXT NOT NULL DEFAULT '';
        ALTER TABLE restoration ADD COLUMN newest_at TEXT NOT NULL DEFAULT '';
        ALTER TABLE restoration ADD COLUMN put_aside TEXT NOT NULL DEFAULT '';
        """,
    )
    db.conn.execute("INSERT INTO lineage (id, term, sign_in) VALUES (?, 0, '')", [secrets.token_hex(8)])
