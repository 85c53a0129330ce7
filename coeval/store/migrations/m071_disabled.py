"""People who are kept from signing in."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m071_disabled(db: Database) -> None:
    run_script(
        db,
        """
        -- Each time that an owner kept a person from signing in; who has a row without enabled_at cannot.
        CREATE TABLE disabling (
          id INTEGER PRIMARY KEY,
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          disabled_at TEXT NOT NULL,
          disabled_by TEXT NOT NULL,
          enabled_at TEXT,
          enabled_by TEXT
        ) STRICT;
        CREATE UNIQUE INDEX disabling_now ON disabling(annotator) WHERE enabled_at IS NULL;
        """,
    )
