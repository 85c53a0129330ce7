"""A mark that changes whenever what is set up changes, so that servers on one database may remember it."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m113_settled_mark(db: Database) -> None:
    run_script(
        db,
        """
        -- Several servers work on one PostgreSQL database, and each remembers tasks, criteria and teams. Whoever
        -- changes one of them writes another mark here in the same transaction; a transaction that finds another
        -- mark than before asks anew. SQLite has no need of it.
        CREATE TABLE settled_mark (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          mark TEXT NOT NULL
        );
        INSERT INTO settled_mark (id, mark) VALUES (1, '');
        """,
    )
