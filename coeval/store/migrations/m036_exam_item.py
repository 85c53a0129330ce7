"""Which items of an exam somebody was given, try by try."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m036_exam_item(db: Database) -> None:
    run_script(
        db,
        """
        -- The instances of one try at a study's exam, drawn when the try begins: those a person saw least often.
        CREATE TABLE exam_item (
          task INTEGER NOT NULL REFERENCES task(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          attempt INTEGER NOT NULL,
          instance INTEGER NOT NULL REFERENCES instance(id),
          PRIMARY KEY (task, annotator, attempt, instance)
        ) STRICT;
        CREATE INDEX exam_item_annotator ON exam_item(annotator, instance);
        """,
    )
