"""One record for each submission at a crowd service, which steps and reservations point at."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m035_submission_record(db: Database) -> None:
    run_script(
        db,
        """
        -- An arrival is one submission: a person in a study, with what the service calls its own study and
        -- session; both are empty for who signs in. It is added once and never changed, so that who finished
        -- and comes again by another session has a second one. proof is how it was known that the person is
        -- who the link names: 'token', 'link', or empty for not at all.
        ALTER TABLE arrival ADD COLUMN proof TEXT NOT NULL DEFAULT '';
        CREATE UNIQUE INDEX arrival_once ON arrival(task, annotator, study, session);
        INSERT INTO arrival (task, annotator, study, session, at)
          SELECT e.task, e.annotator, '', '', min(e.at) FROM enrolment e WHERE NOT EXISTS (
            SELECT 1 FROM arrival v WHERE v.task = e.task AND v.annotator = e.annotator)
          GROUP BY e.task, e.annotator;

        -- Which submission a step and a reservation belong to; empty for work from before the study had a plan.
        ALTER TABLE enrolment ADD COLUMN arrival INTEGER REFERENCES arrival(id);
        ALTER TABLE reservation ADD COLUMN arrival INTEGER REFERENCES arrival(id);
        UPDATE enrolment SET arrival = (SELECT coalesce(max(CASE WHEN v.at <= enrolment.at THEN v.id END), min(v.id))
          FROM arrival v WHERE v.task = enrolment.task AND v.annotator = enrolment.annotator);
        UPDATE reservation SET arrival = (
          SELECT coalesce(max(CASE WHEN v.at <= reservation.given_at THEN v.id END), min(v.id))
          FROM arrival v WHERE v.task = reservation.task AND v.annotator = reservation.annotator);
        CREATE INDEX enrolment_arrival ON enrolment(arrival, id);
        CREATE INDEX reservation_arrival ON reservation(arrival);

        -- The services' ids in one spelling, as they are compared from now on.
        UPDATE account SET subject = lower(subject) WHERE kind = 'prolific' AND NOT EXISTS (
          SELECT 1 FROM account other WHERE other.kind = 'prolific' AND other.annotator <> account.annotator
            AND lower(other.subject) = lower(account.subject));
        UPDATE account SET subject = upper(subject) WHERE kind = 'mturk' AND NOT EXISTS (
          SELECT 1 FROM account other WHERE other.kind = 'mturk' AND other.annotator <> account.annotator
            AND upper(other.subject) = upper(account.subject));

        -- Why a study is not running: 'full' where it paused by itself, empty where an owner decided.
        ALTER TABLE crowd ADD COLUMN reason TEXT NOT NULL DEFAULT '';
        """,
    )
