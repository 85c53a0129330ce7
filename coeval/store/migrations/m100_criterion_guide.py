"""How to score by a criterion: its definition, what the scores mean, examples."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m100_criterion_guide(db: Database) -> None:
    run_script(
        db,
        """
        -- Appended: the newest of a criterion is in force, and what people read before stays on record.
        CREATE TABLE criterion_guide (
          id INTEGER PRIMARY KEY,
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          definition TEXT NOT NULL,
          anchors_json TEXT NOT NULL,
          examples TEXT NOT NULL,
          set_by TEXT NOT NULL,
          set_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX criterion_guide_criterion ON criterion_guide(criterion, id);

        CREATE VIEW current_criterion_guide AS
          SELECT g.* FROM criterion_guide g WHERE NOT EXISTS (
            SELECT 1 FROM criterion_guide later WHERE later.criterion = g.criterion AND later.id > g.id);
        """,
    )
