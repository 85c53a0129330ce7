"""Two outputs of one document side by side, as a judge compared them."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m086_comparison(db: Database) -> None:
    run_script(
        db,
        """
        -- Immutable. Each pair is compared in both orders: first is the output that was shown first. preference is
        -- 1 where it was preferred, 0 where the second was, and null where no answer could be read; such a pair is
        -- compared again as a further attempt.
        CREATE TABLE comparison (
          id INTEGER PRIMARY KEY,
          run INTEGER NOT NULL REFERENCES run(id),
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          first INTEGER NOT NULL REFERENCES instance(id),
          second INTEGER NOT NULL REFERENCES instance(id),
          attempt INTEGER NOT NULL,
          preference REAL CHECK (preference BETWEEN 0 AND 1),
          reason TEXT NOT NULL,
          raw TEXT NOT NULL,
          samples_json TEXT NOT NULL,
          created_at TEXT NOT NULL,
          UNIQUE (run, criterion, first, second, attempt)
        ) STRICT;

        CREATE VIEW current_comparison AS
          SELECT c.* FROM comparison c WHERE NOT EXISTS (
            SELECT 1 FROM comparison later WHERE later.run = c.run AND later.criterion = c.criterion
              AND later.first = c.first AND later.second = c.second AND later.attempt > c.attempt);
        """,
    )
