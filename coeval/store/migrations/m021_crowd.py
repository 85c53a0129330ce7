"""Crowd studies: plans, enrolments, reservations, exams."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m021_crowd(db: Database) -> None:
    run_script(
        db,
        """
        -- How a task is given out. A task without a row is open: everybody gets every instance.
        -- exam is the task whose instances are the qualification. settings_json is the rest of the owner's
        -- choices: texts, codes, pay, pass mark, attention checks.
        CREATE TABLE crowd (
          task INTEGER PRIMARY KEY REFERENCES task(id),
          state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'closed')),
          per_instance INTEGER NOT NULL CHECK (per_instance BETWEEN 1 AND 1000),
          batch INTEGER NOT NULL CHECK (batch BETWEEN 1 AND 1000),
          quota INTEGER NOT NULL CHECK (quota BETWEEN 1 AND 100000),
          exam INTEGER REFERENCES task(id),
          reserve_minutes INTEGER NOT NULL CHECK (reserve_minutes BETWEEN 1 AND 100000),
          settings_json TEXT NOT NULL
        ) STRICT;

        -- Every time an instance was given to somebody, for good: nobody is given it twice. outcome is empty
        -- while it is held. A finished one, and a held one, take one of the instance's places.
        -- passed is how a finished attention check was answered.
        CREATE TABLE reservation (
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          instance INTEGER NOT NULL REFERENCES instance(id),
          task INTEGER NOT NULL REFERENCES task(id),
          purpose TEXT NOT NULL CHECK (purpose IN ('work', 'check')),
          given_at TEXT NOT NULL,
          reserved_until TEXT NOT NULL,
          outcome TEXT NOT NULL CHECK (outcome IN ('', 'finished', 'timed_out', 'returned', 'rejected')),
          passed INTEGER CHECK (passed IN (0, 1)),
          PRIMARY KEY (annotator, instance)
        ) STRICT;
        CREATE INDEX reservation_places ON reservation(instance, outcome);
        CREATE INDEX reservation_due ON reservation(task, outcome, reserved_until);

        -- Where a person stands in a study: a line for every step, the last one holds. actor is who took it.
        CREATE TABLE enrolment (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          state TEXT NOT NULL,
          note TEXT NOT NULL,
          actor TEXT NOT NULL,
          at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX enrolment_latest ON enrolment(task, annotator, id);
        CREATE VIEW current_enrolment AS
          SELECT e.* FROM enrolment e WHERE NOT EXISTS (
            SELECT 1 FROM enrolment later WHERE later.task = e.task AND later.annotator = e.annotator
              AND later.id > e.id);

        -- One coming of a person by a crowd service's link; what the service calls its study and session.
        CREATE TABLE arrival (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          study TEXT NOT NULL,
          session TEXT NOT NULL,
          at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX arrival_annotator ON arrival(annotator, task);

        -- What a right answer is, by instance and criterion: of the exam's task it is the key of the exam,
        -- of a task that is worked on, an attention check. must_json: positions of drafted lines that have
        -- to be deleted or revised.
        CREATE TABLE answer_key (
          instance INTEGER NOT NULL REFERENCES instance(id),
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          accepted_json TEXT NOT NULL,
          must_json TEXT NOT NULL,
          explanation TEXT NOT NULL,
          PRIMARY KEY (instance, criterion)
        ) STRICT;

        -- One handing-in of the exam, graded against the keys as they stood.
        CREATE TABLE exam_attempt (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          attempt INTEGER NOT NULL,
          right_items INTEGER NOT NULL,
          items INTEGER NOT NULL,
          passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
          detail_json TEXT NOT NULL,
          at TEXT NOT NULL,
          UNIQUE (task, annotator, attempt)
        ) STRICT;

        -- Work that stays in the record and leaves the statistics: of people whose part was rejected, and
        -- the attention checks, whose answers were known before.
        CREATE VIEW uncounted AS
          SELECT r.task, r.annotator, r.instance FROM reservation r
          JOIN current_enrolment e ON e.task = r.task AND e.annotator = r.annotator
          WHERE r.purpose = 'check' OR e.state IN ('rejected', 'blocked', 'removed');
        """,
    )
