"""People, sessions, tasks and their instances."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m001_people_and_tasks(db: Database) -> None:
    run_script(
        db,
        """
        -- Somebody who signs in. Names are what a local team signs in with, so they are unique.
        CREATE TABLE annotator (
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 80),
          role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
          created_at TEXT NOT NULL
        ) STRICT;

        -- A signed-in browser. Only a hash of the cookie's token is kept: the file opens no session.
        CREATE TABLE session (
          token_hash TEXT PRIMARY KEY,
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          created_at TEXT NOT NULL,
          expires_at TEXT NOT NULL,
          revoked_at TEXT
        ) STRICT;
        CREATE INDEX session_annotator ON session(annotator);

        -- The paper's T_desc, T_ipt, T_opt. seed fixes each person's order and arm; blind_share is the
        -- share of (annotator, instance) pairs shown without the draft.
        CREATE TABLE task (
          id INTEGER PRIMARY KEY,
          slug TEXT NOT NULL UNIQUE,
          name TEXT NOT NULL,
          description TEXT NOT NULL,
          input_field TEXT NOT NULL,
          output_field TEXT NOT NULL,
          guidelines TEXT NOT NULL,
          scale_min INTEGER NOT NULL,
          scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
          origin TEXT NOT NULL,
          seed TEXT NOT NULL,
          blind_share REAL NOT NULL DEFAULT 0 CHECK (blind_share BETWEEN 0 AND 1),
          created_at TEXT NOT NULL
        ) STRICT;

        -- One (X, Y) pair. position is the order of import, dense from 1 within a task.
        CREATE TABLE instance (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          position INTEGER NOT NULL,
          external_id TEXT NOT NULL,
          document TEXT NOT NULL,
          system TEXT NOT NULL,
          input TEXT NOT NULL,
          output TEXT NOT NULL,
          reference TEXT NOT NULL,
          context_json TEXT NOT NULL,
          UNIQUE (task, external_id),
          UNIQUE (task, position)
        ) STRICT;
        """,
    )
