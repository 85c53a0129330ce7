"""Runs, drafts, the ledger of calls, and jobs."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


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
