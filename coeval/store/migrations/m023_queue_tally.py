"""How much of each queue is finished."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m023_queue_tally(db: Database) -> None:
    run_script(
        db,
        """
        -- How much of each queue is finished and flagged, kept by triggers: every screen shows it, and counting
        -- a queue of 100,000 takes longer than all the rest of a screen.
        CREATE TABLE queue_tally (
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          task INTEGER NOT NULL REFERENCES task(id),
          finished INTEGER NOT NULL,
          flagged INTEGER NOT NULL,
          PRIMARY KEY (annotator, task)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO queue_tally (annotator, task, finished, flagged)
          SELECT annotator, task, sum(state = 'finished'), sum(flagged) FROM assignment GROUP BY annotator, task;

        CREATE TRIGGER tally_added AFTER INSERT ON assignment WHEN NEW.state = 'finished' OR NEW.flagged BEGIN
          INSERT INTO queue_tally VALUES (NEW.annotator, NEW.task, NEW.state = 'finished', NEW.flagged)
            ON CONFLICT DO UPDATE SET finished = finished + excluded.finished, flagged = flagged + excluded.flagged;
        END;
        CREATE TRIGGER tally_changed AFTER UPDATE OF state, flagged ON assignment
        WHEN OLD.state <> NEW.state OR OLD.flagged <> NEW.flagged BEGIN
          INSERT INTO queue_tally VALUES (NEW.annotator, NEW.task,
              (NEW.state = 'finished') - (OLD.state = 'finished'), NEW.flagged - OLD.flagged)
            ON CONFLICT DO UPDATE SET finished = finished + excluded.finished, flagged = flagged + excluded.flagged;
        END;
        CREATE TRIGGER tally_removed AFTER DELETE ON assignment WHEN OLD.state = 'finished' OR OLD.flagged BEGIN
          UPDATE queue_tally SET finished = finished - (OLD.state = 'finished'), flagged = flagged - OLD.flagged
            WHERE annotator = OLD.annotator AND task = OLD.task;
        END;
        """,
    )
