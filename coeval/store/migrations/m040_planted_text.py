"""A planted line of evidence as it was shown: it quotes what the draft's own line quoted."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m040_planted_text(db: Database) -> None:
    run_script(
        db,
        """
        -- null where the source's own words were shown, and where a score was planted
        ALTER TABLE planted_error ADD COLUMN text TEXT;
        """,
    )
