"""What people and judge said of each sealed line stays beside the certificate, for judge.json."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m106_certificate_labels(db: Database) -> None:
    run_script(
        db,
        """
        -- Means of people's scores by salted hashes of the outputs, as judge.json has them: once an opening has read
        -- them, a gate may correct by them without the seal being opened again.
        ALTER TABLE certificate ADD COLUMN labels_json TEXT NOT NULL DEFAULT '[]';
        """,
    )
