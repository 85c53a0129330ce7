"""How likely a judge found each step of the scale, beside the score that was made from it."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m115_draft_probabilities(db: Database) -> None:
    run_script(
        db,
        """
        -- The probability of each step of the criterion's scale, where log-probabilities were asked for; else empty.
        -- How sure the judge was cannot be told from its expected score alone.
        ALTER TABLE draft ADD COLUMN probabilities_json TEXT NOT NULL DEFAULT '[]';
        """,
    )
