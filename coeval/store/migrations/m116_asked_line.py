"""Which lines the judge leaves to people, and since when they were asked for them."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m116_asked_line(db: Database) -> None:
    run_script(
        db,
        """
        -- Appended: the newest of a task holds, and one without lines ends the one before it.
        CREATE TABLE asking (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          judge_hash TEXT NOT NULL,
          asked_by TEXT NOT NULL,
          asked_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX asking_newest ON asking(task, id);

        -- What people are asked to score, and nothing else, while the asking holds.
        CREATE TABLE asked_line (
          asking INTEGER NOT NULL REFERENCES asking(id),
          instance INTEGER NOT NULL REFERENCES instance(id),
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          PRIMARY KEY (asking, instance, criterion)
        ) STRICT;
        CREATE INDEX asked_line_instance ON asked_line(instance, criterion);

        -- Lines by criteria of the set that holds: a new version ends what was asked by those it replaced.
        CREATE VIEW current_asked_line AS
          SELECT a.task, l.asking, l.instance, l.criterion FROM asking a JOIN asked_line l ON l.asking = a.id
          WHERE NOT EXISTS (SELECT 1 FROM asking later WHERE later.task = a.task AND later.id > a.id)
            AND l.criterion IN (SELECT m.criterion FROM criteria_set_member m
              JOIN criteria_set s ON s.id = m.criteria_set WHERE s.task = a.task AND NOT EXISTS (
                SELECT 1 FROM criteria_set newer WHERE newer.task = s.task AND newer.version > s.version));
        """,
    )
