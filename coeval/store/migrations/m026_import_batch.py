"""Imports that are written bit by bit and seen at once."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m026_import_batch(db: Database) -> None:
    run_script(
        db,
        """
        -- An import of a file into the task of that slug. While finished_at is null it is on its way: its instances
        -- and runs stand under a task that no list shows (staging), its submissions are not counted, and whatever it
        -- wrote goes if it does not end well. It is written in short transactions, so that people can save meanwhile.
        CREATE TABLE import_batch (
          id INTEGER PRIMARY KEY,
          slug TEXT NOT NULL,
          staging INTEGER REFERENCES task(id),
          imported_by TEXT NOT NULL,
          started_at TEXT NOT NULL,
          finished_at TEXT
        ) STRICT;
        CREATE INDEX import_batch_pending ON import_batch(id) WHERE finished_at IS NULL;

        -- Whom an import brought: they go with it if it does not end well.
        CREATE TABLE import_batch_person (
          import_batch INTEGER NOT NULL REFERENCES import_batch(id),
          person INTEGER NOT NULL,
          PRIMARY KEY (import_batch, person)
        ) STRICT;

        ALTER TABLE submission ADD COLUMN import_batch INTEGER REFERENCES import_batch(id);
        CREATE INDEX submission_import ON submission(import_batch) WHERE import_batch IS NOT NULL;

        DROP VIEW current_submission;
        CREATE VIEW current_submission AS
          SELECT s.* FROM submission s WHERE (s.import_batch IS NULL
              OR s.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL))
            AND NOT EXISTS (
            SELECT 1 FROM submission later WHERE later.annotator = s.annotator
              AND later.instance = s.instance AND later.criterion = s.criterion
              AND later.revision > s.revision AND (later.import_batch IS NULL
              OR later.import_batch NOT IN (SELECT id FROM import_batch WHERE finished_at IS NULL)));
        """,
    )
