"""What a free-text judge is asked about a criterion."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m085_criterion_question(db: Database) -> None:
    run_script(
        db,
        """
        -- Empty where the usual question is asked: how well the output meets the criterion.
        ALTER TABLE criterion ADD COLUMN question TEXT NOT NULL DEFAULT '';
        """,
    )
