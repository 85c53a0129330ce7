"""Who of one's own team works at a task, and how many people each instance goes to."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m125_task_team(db: Database) -> None:
    run_script(
        db,
        """
        -- Appended: the newest of a task holds. Without members everybody works at it; per_instance 0 gives each
        -- of them every instance.
        CREATE TABLE task_team (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          per_instance INTEGER NOT NULL CHECK (per_instance >= 0),
          set_by TEXT NOT NULL,
          set_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX task_team_newest ON task_team(task, id);

        CREATE TABLE task_team_member (
          task_team INTEGER NOT NULL REFERENCES task_team(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          PRIMARY KEY (task_team, annotator)
        ) STRICT;

        CREATE VIEW current_task_team AS
          SELECT t.* FROM task_team t WHERE NOT EXISTS (
            SELECT 1 FROM task_team later WHERE later.task = t.task AND later.id > t.id);
        """,
    )
