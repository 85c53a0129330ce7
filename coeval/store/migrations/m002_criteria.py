"""Criteria, rounds of voting, and the sets they end in."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m002_criteria(db: Database) -> None:
    run_script(
        db,
        """
        -- A wording is written once: a criterion kept from one version to the next is the same row, so
        -- that its drafts and submissions stay good and only what changed is opened again.
        CREATE TABLE criterion (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          name TEXT NOT NULL,
          text TEXT NOT NULL,
          origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
          scale_min INTEGER NOT NULL,
          scale_max INTEGER NOT NULL CHECK (scale_max > scale_min),
          UNIQUE (task, text, scale_min, scale_max)
        ) STRICT;

        CREATE TABLE criteria_set (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          version INTEGER NOT NULL,
          established_at TEXT NOT NULL,
          established_by TEXT NOT NULL,
          UNIQUE (task, version)
        ) STRICT;

        CREATE TABLE criteria_set_member (
          criteria_set INTEGER NOT NULL REFERENCES criteria_set(id),
          position INTEGER NOT NULL,
          criterion INTEGER NOT NULL REFERENCES criterion(id),
          PRIMARY KEY (criteria_set, position),
          UNIQUE (criteria_set, criterion)
        ) STRICT;

        -- A vote being held: which version of the set it is for, and which round of that version.
        CREATE TABLE ballot_round (
          id INTEGER PRIMARY KEY,
          task INTEGER NOT NULL REFERENCES task(id),
          version INTEGER NOT NULL,
          round INTEGER NOT NULL,
          opened_at TEXT NOT NULL,
          UNIQUE (task, version, round)
        ) STRICT;

        CREATE TABLE proposal (
          id INTEGER PRIMARY KEY,
          ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
          position INTEGER NOT NULL,
          text TEXT NOT NULL,
          origin TEXT NOT NULL CHECK (origin IN ('llm', 'human')),
          support INTEGER NOT NULL,
          samples INTEGER NOT NULL,
          members_json TEXT NOT NULL,
          criterion INTEGER REFERENCES criterion(id),
          UNIQUE (ballot_round, position)
        ) STRICT;

        -- One save of one person's ballot; the highest revision is the ballot that counts.
        CREATE TABLE ballot (
          id INTEGER PRIMARY KEY,
          ballot_round INTEGER NOT NULL REFERENCES ballot_round(id),
          annotator INTEGER NOT NULL REFERENCES annotator(id),
          revision INTEGER NOT NULL,
          saved_at TEXT NOT NULL,
          UNIQUE (ballot_round, annotator, revision)
        ) STRICT;

        -- proposal is null for a criterion the evaluator adds.
        CREATE TABLE vote (
          ballot INTEGER NOT NULL REFERENCES ballot(id),
          position INTEGER NOT NULL,
          proposal INTEGER REFERENCES proposal(id),
          action TEXT NOT NULL CHECK (action IN ('approve', 'delete', 'revise', 'add')),
          reason TEXT NOT NULL,
          new_text TEXT NOT NULL,
          PRIMARY KEY (ballot, position)
        ) STRICT;

        CREATE VIEW current_ballot AS
          SELECT b.* FROM ballot b WHERE NOT EXISTS (
            SELECT 1 FROM ballot later WHERE later.ballot_round = b.ballot_round
              AND later.annotator = b.annotator AND later.revision > b.revision);
        """,
    )
