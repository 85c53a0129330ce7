"""When a study has enough, said beforehand."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m090_stopping_rule(db: Database) -> None:
    run_script(
        db,
        """
        -- Each rule that was declared for a task. The newest holds; the others stay, so that a reader can see
        -- whether the rule was changed, and how many scores there were when it was declared (scores_then).
        CREATE TABLE stopping_rule (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          measure TEXT NOT NULL CHECK (measure IN ('alpha', 'difference')),
          width REAL NOT NULL CHECK (width > 0),
          planned INTEGER NOT NULL CHECK (planned > 0),
          system_a TEXT NOT NULL,
          system_b TEXT NOT NULL,
          scores_then INTEGER NOT NULL,
          declared_by TEXT NOT NULL,
          declared_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX stopping_rule_newest ON stopping_rule(task, id);
        """,
    )
