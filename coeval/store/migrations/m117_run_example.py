"""Worked examples that a run's questions show."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m117_run_example(db: Database) -> None:
    run_script(
        db,
        """
        -- Written when the run is opened and never changed. base is the run that was corrected, of which this one is
        -- the same with examples; document is where the example is from: its own questions do not show it.
        CREATE TABLE run_example (
          run INTEGER NOT NULL REFERENCES run(id),
          position INTEGER NOT NULL,
          base INTEGER NOT NULL REFERENCES run(id),
          document TEXT NOT NULL,
          example_json TEXT NOT NULL,
          PRIMARY KEY (run, position)
        ) STRICT;
        """,
    )
