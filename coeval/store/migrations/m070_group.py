"""The group that a person counts in."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m070_group(db: Database) -> None:
    run_script(
        db,
        """
        -- The group that an owner set; empty where it follows from how the person comes: strangers, who come by
        -- a study's link, are the crowd, and everybody else is the team.
        ALTER TABLE annotator ADD COLUMN set_group TEXT NOT NULL DEFAULT ''
          CHECK (set_group IN ('', 'team', 'expert', 'crowd'));

        CREATE VIEW annotator_group AS
        SELECT a.id AS annotator, CASE
            WHEN a.set_group <> '' THEN a.set_group
            WHEN EXISTS (SELECT 1 FROM account c WHERE c.annotator = a.id AND c.guest = 1) THEN 'crowd'
            ELSE 'team' END AS group_name
        FROM annotator a;
        """,
    )
