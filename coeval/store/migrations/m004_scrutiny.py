"""Assignments and what people saved."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m004_scrutiny(db: Database) -> None:
    run_script(
        db,
        """
        -- A person's queue: their own order of the instances, the arm of each, and whether it is finished
        -- (every criterion of the current set saved). The one table here that is updated in place: it can
        -- be made again from the submissions.
        CREATE TABLE assignment (
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          task INTEGER NOT NULL REFERENCES task(id),
          position INTEGER NOT NULL,
          instance INTEGER NOT NULL REFERENCES instance(id),
          arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind')),
          state TEXT NOT NULL CHECK (state IN ('open', 'finished')),
          flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)),
          PRIMARY KEY (annotator, task, position),
          UNIQUE (annotator, instance)
        ) STRICT;
        CREATE INDEX assignment_state ON assignment(annotator, task, state, position);
        CREATE INDEX assignment_flagged ON assignment(annotator, task, position) WHERE flagged = 1;

        -- draft is the one shown, or, in the blind arm, the one withheld. uid is the browser's key for one
        -- confirm, so that a save sent twice is kept once.
        CREATE TABLE submission (
          id INTEGER PRIMARY KEY,
          uid TEXT NOT NULL UNIQUE,
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          instance INTEGER NOT NULL REFERENCES instance(id),
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          revision INTEGER NOT NULL,
          draft INTEGER REFERENCES draft(id),
          arm TEXT NOT NULL CHECK (arm IN ('assisted', 'blind')),
          score REAL,
          bulk INTEGER NOT NULL DEFAULT 0 CHECK (bulk IN (0, 1)),
          opened_at TEXT,
          submitted_at TEXT NOT NULL,
          active_ms INTEGER,
          UNIQUE (annotator, instance, criterion, revision)
        ) STRICT;
        CREATE INDEX submission_instance ON submission(instance, criterion);
        CREATE INDEX submission_annotator ON submission(annotator);

        CREATE TABLE submission_row (
          submission INTEGER NOT NULL REFERENCES submission(id),
          position INTEGER NOT NULL,
          draft_row INTEGER REFERENCES draft_row(id),
          kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
          action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
          reason TEXT NOT NULL,
          text TEXT NOT NULL,
          PRIMARY KEY (submission, position)
        ) STRICT;

        CREATE VIEW current_submission AS
          SELECT s.* FROM submission s WHERE NOT EXISTS (
            SELECT 1 FROM submission later WHERE later.annotator = s.annotator
              AND later.instance = s.instance AND later.criterion = s.criterion
              AND later.revision > s.revision);

        -- What a person says of an instance as a whole; the latest row is what holds.
        CREATE TABLE mark (
          id INTEGER PRIMARY KEY,
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          instance INTEGER NOT NULL REFERENCES instance(id),
          flagged INTEGER NOT NULL CHECK (flagged IN (0, 1)),
          skipped INTEGER NOT NULL CHECK (skipped IN (0, 1)),
          comment TEXT NOT NULL,
          marked_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX mark_latest ON mark(annotator, instance, id);
        """,
    )
