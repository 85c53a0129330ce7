"""How a judge is helped: evaluation steps, assistant evaluators, and the rating of the whole."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m010_judging(db: Database) -> None:
    run_script(
        db,
        """
        -- Auto-CoT: how to go about judging by a criterion, written by a model or a person. The newest text
        -- of a criterion is in force; a run keeps the text that it used.
        CREATE TABLE criterion_steps (
          id INTEGER PRIMARY KEY,
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          text TEXT NOT NULL,
          origin TEXT NOT NULL,
          written_by TEXT NOT NULL,
          written_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX criterion_steps_newest ON criterion_steps(criterion, id);

        -- What an assistant evaluator says of an instance, computed once, or imported. Null: it has no score.
        CREATE TABLE assistant_score (
          instance INTEGER NOT NULL REFERENCES instance(id),
          assistant TEXT NOT NULL,
          score REAL,
          PRIMARY KEY (instance, assistant)
        ) STRICT;

        -- Fusion also rates each instance as a whole: the model's own rating, not a mean of the criteria.
        CREATE TABLE overall_rating (
          run INTEGER NOT NULL REFERENCES run(id),
          instance INTEGER NOT NULL REFERENCES instance(id),
          score REAL,
          reason TEXT NOT NULL,
          created_at TEXT NOT NULL,
          PRIMARY KEY (run, instance)
        ) STRICT;
        """,
    )
