"""The schema, as numbered migrations. A released one is never edited: add the next.

STRICT tables, foreign keys on, SQL of the portable subset. Facts are appended; what is current is a view.
Times are UTC text, ISO 8601 with milliseconds and Z, so that they sort as text.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database, Migrations

migrations = Migrations("coeval")


def run_script(db: Database, script: str) -> None:
    """Run statements one by one inside the caller's transaction (executescript would commit it)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.conn.execute(statement)
            statement = ""


@migrations()
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


@migrations()
def m002_criteria(db: Database) -> None:
    run_script(
        db,
        """
        -- A wording is written once: a criterion kept from one version to the next is the same row, so
        -- that its drafts and submissions stay good and only what changed is opened again.
        CREATE TABLE criterion (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          name TEXT NOT NULL,
          text TEXT NOT NULL,
          origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
          scale_min INTEGER NOT NULL,
          scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
          UNIQUE (task, text, scale_min, scale_max)
        ) STRICT;

        CREATE TABLE criteria_set (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          version INTEGER NOT NULL,
          established_at TEXT NOT NULL,
          established_by TEXT NOT NULL,
          UNIQUE (task, version)
        ) STRICT;

        CREATE TABLE criteria_set_member (
          criteria_set INTEGER NOT NULL REFERENCES criteria_set(id),
          position INTEGER NOT NULL,
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          PRIMARY KEY (criteria_set, position),
          UNIQUE (criteria_set, criterion)
        ) STRICT;

        -- A vote being held: which version of the set it is for, and which round of that version.
        CREATE TABLE ballot_round (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          version INTEGER NOT NULL,
          round INTEGER NOT NULL,
          opened_at TEXT NOT NULL,
          UNIQUE (task, version, round)
        ) STRICT;

        CREATE TABLE proposal (
          id INTEGER PRIMARY KEY,
          ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
          position INTEGER NOT NULL,
          text TEXT NOT NULL,
          origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
          support INTEGER NOT NULL,
          samples INTEGER NOT NULL,
          members_json TEXT NOT NULL,
          criterion INTEGER REFERENCES criterion(id),
          UNIQUE (ballot_round, position)
        ) STRICT;

        -- One save of one person's ballot; the highest revision is the ballot that counts.
        CREATE TABLE ballot (
          id INTEGER PRIMARY KEY,
          ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          revision INTEGER NOT NULL,
          saved_at TEXT NOT NULL,
          UNIQUE (ballot_round, annotator, revision)
        ) STRICT;

        -- proposal is null for a criterion the evaluator adds.
        CREATE TABLE vote (
          ballot INTEGER NOT NULL REFERENCES ballot(id),
          position INTEGER NOT NULL,
          proposal INTEGER REFERENCES proposal(id),
          action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
          reason TEXT NOT NULL,
          new_text TEXT NOT NULL,
          PRIMARY KEY (ballot, position)
        ) STRICT;

        CREATE VIEW current_ballot AS
          SELECT b.* FROM ballot b WHERE NOT EXISTS (
            SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
              AND later.annotator = b.annotator AND later.revision > b.revision);
        """,
    )


@migrations()
def m003_drafts(db: Database) -> None:
    run_script(
        db,
        """
        -- One pass of one judge. At most one run of a task is shown to its annotators.
        CREATE TABLE run (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          criteria_set INTEGER REFERENCES criteria_set(id),
          protocol TEXT NOT NULL,
          model TEXT NOT NULL,
          prompt_hash TEXT NOT NULL,
          params_json TEXT NOT NULL,
          label TEXT NOT NULL,
          shown INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),
          created_at TEXT NOT NULL,
          UNIQUE (task, label)
        ) STRICT;
        CREATE UNIQUE INDEX run_shown ON run(task) WHERE shown = 1;

        -- Immutable. An unscored draft that is sent again becomes a further attempt beside the first.
        CREATE TABLE draft (
          id INTEGER PRIMARY KEY,
          run INTEGER NOT NULL REFERENCES run(id),
          instance INTEGER NOT NULL REFERENCES instance(id),
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          attempt INTEGER NOT NULL,
          status TEXT NOT NULL CHECK (status IN ('ok', 'unscored')),
          score REAL,
          reason TEXT NOT NULL,
          raw TEXT NOT NULL,
          samples_json TEXT NOT NULL,
          created_at TEXT NOT NULL,
          CHECK ((status = 'ok') = (score IS NOT NULL)),
          UNIQUE (run, instance, criterion, attempt)
        ) STRICT;

        CREATE VIEW current_draft AS
          SELECT d.* FROM draft d WHERE NOT EXISTS (
            SELECT 1 FROM draft later WHERE later.run = d.run AND later.instance = d.instance
              AND later.criterion = d.criterion AND later.attempt > d.attempt);

        CREATE TABLE draft_row (
          id INTEGER PRIMARY KEY,
          draft INTEGER NOT NULL REFERENCES draft(id),
          position INTEGER NOT NULL,
          kind TEXT NOT NULL CHECK (kind IN ('conclusion', 'score', 'evidence')),
          text TEXT NOT NULL,
          UNIQUE (draft, position)
        ) STRICT;

        -- A line can quote several spans; offsets are null where the span is not in the output.
        CREATE TABLE quote (
          draft_row INTEGER NOT NULL REFERENCES draft_row(id),
          position INTEGER NOT NULL,
          text TEXT NOT NULL,
          quote_start INTEGER,
          quote_end INTEGER,
          CHECK ((quote_start IS NULL) = (quote_end IS NULL)),
          PRIMARY KEY (draft_row, position)
        ) STRICT;

        -- The ledger: cache, resume and audit in one. Only one answer per question and sample is paid for;
        -- failures are kept beside it.
        CREATE TABLE call (
          id INTEGER PRIMARY KEY,
          request_hash TEXT NOT NULL,
          sample INTEGER NOT NULL,
          model TEXT NOT NULL,
          endpoint TEXT NOT NULL,
          request TEXT NOT NULL,
          response TEXT NOT NULL,
          prompt_tokens INTEGER NOT NULL,
          completion_tokens INTEGER NOT NULL,
          cost REAL NOT NULL,
          latency_ms INTEGER NOT NULL,
          error TEXT NOT NULL,
          created_at TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX call_answered ON call(request_hash, sample) WHERE error = '';

        CREATE TABLE job (
          id INTEGER PRIMARY KEY,
          kind TEXT NOT NULL,
          task INTEGER NOT NULL REFERENCES task(id),
          state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
          params_json TEXT NOT NULL,
          total INTEGER NOT NULL,
          done INTEGER NOT NULL,
          failed INTEGER NOT NULL,
          message TEXT NOT NULL,
          created_by TEXT NOT NULL,
          created_at TEXT NOT NULL,
          updated_at TEXT NOT NULL
        ) STRICT;
        """,
    )


@migrations()
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
