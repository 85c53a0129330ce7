"""A judge is fitted on some documents and proved on others, whose labels stay sealed until then."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m105_seal(db: Database) -> None:
    run_script(
        db,
        """
        -- One for a task, made once and never changed: to split anew after a look would undo the seal.
        CREATE TABLE seal (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL UNIQUE REFERENCES task(id),
          salt TEXT NOT NULL,
          share REAL NOT NULL CHECK (share > 0 AND share < 1),
          sealed_by TEXT NOT NULL,
          sealed_at TEXT NOT NULL
        ) STRICT;

        -- What each document is for; an instance without a document stands under its own id. A document that is
        -- not here, since it was imported after the sealing, is in neither part until it is added.
        CREATE TABLE sealed_document (
          seal INTEGER NOT NULL REFERENCES seal(id),
          document TEXT NOT NULL,
          part TEXT NOT NULL CHECK (part IN ('dev', 'certificate')),
          PRIMARY KEY (seal, document)
        ) STRICT;

        -- Every judge that was fitted on the dev part; the newest is the one to certify.
        CREATE TABLE fitted_judge (
          id INTEGER PRIMARY KEY,
          seal INTEGER NOT NULL REFERENCES seal(id),
          judge_hash TEXT NOT NULL,
          judge_json TEXT NOT NULL,
          fitted_by TEXT NOT NULL,
          fitted_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX fitted_judge_newest ON fitted_judge(seal, id);

        -- A row for each time that the certificate's labels were read, written in the transaction that reads them.
        CREATE TABLE seal_opening (
          id INTEGER PRIMARY KEY,
          seal INTEGER NOT NULL REFERENCES seal(id),
          judge_hash TEXT NOT NULL,
          opened_by TEXT NOT NULL,
          opened_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX seal_opening_seal ON seal_opening(seal, id);

        -- What came of an opening. An opening without one was read all the same.
        CREATE TABLE certificate (
          seal_opening INTEGER PRIMARY KEY REFERENCES seal_opening(id),
          certificate_json TEXT NOT NULL,
          written_at TEXT NOT NULL
        ) STRICT;
        """,
    )
