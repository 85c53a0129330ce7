"""What is asked of Prolific stands in the record before it leaves, so that nothing is paid twice."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m126_prolific(db: Database) -> None:
    run_script(
        db,
        """
        -- One row for each request that changes something at Prolific or costs money, written before it is sent.
        -- Never changed: what came of it is appended to prolific_step.
        CREATE TABLE prolific_request (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          kind TEXT NOT NULL,
          study TEXT NOT NULL,
          currency TEXT NOT NULL,
          note TEXT NOT NULL,
          asked_by TEXT NOT NULL,
          asked_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX prolific_request_task ON prolific_request(task, id);

        -- What a request is about; a bonus is about up to 200 submissions. Amounts are in pence or cents.
        CREATE TABLE prolific_item (
          id INTEGER PRIMARY KEY,
          request INTEGER NOT NULL REFERENCES prolific_request(id),
          key TEXT NOT NULL,
          subject TEXT NOT NULL,
          who TEXT NOT NULL,
          amount INTEGER NOT NULL CHECK (amount >= 0),
          paid_before INTEGER NOT NULL CHECK (paid_before >= 0)
        ) STRICT;
        CREATE INDEX prolific_item_request ON prolific_item(request, id);

        -- What is known of a request, appended; the newest row counts.
        CREATE TABLE prolific_step (
          id INTEGER PRIMARY KEY,
          request INTEGER NOT NULL REFERENCES prolific_request(id),
          outcome TEXT NOT NULL
            CHECK (outcome IN ('prepared', 'sent', 'unknown', 'done', 'refused', 'dropped')),
          remote TEXT NOT NULL,
          answer TEXT NOT NULL,
          actor TEXT NOT NULL,
          at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX prolific_step_request ON prolific_step(request, id);
        """,
    )
