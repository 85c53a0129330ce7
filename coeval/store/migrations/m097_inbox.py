"""What those who run a study answer to flags and comments."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m097_inbox(db: Database) -> None:
    run_script(
        db,
        """
        -- What became of a flag or comment: an answer that its author sees, or closed without one. The newest row
        -- of a mark holds; a mark without a row is open, as is one that its author has changed since.
        CREATE TABLE mark_answer (
          id INTEGER PRIMARY KEY,
          mark INTEGER NOT NULL REFERENCES mark(id),
          state TEXT NOT NULL CHECK (state IN ('answered', 'closed')),
          text TEXT NOT NULL,
          answered_by TEXT NOT NULL,
          answered_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX mark_answer_newest ON mark_answer(mark, id);
        """,
    )
