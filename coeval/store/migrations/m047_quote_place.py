"""Where a quotation stands: word for word or nearly in the output, or in the input."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m047_quote_place(db: Database) -> None:
    run_script(
        db,
        """
        -- The text that quote_start and quote_end count in; they are null where the quotation is in neither.
        ALTER TABLE quote ADD COLUMN place TEXT NOT NULL DEFAULT 'output';
        """,
    )
