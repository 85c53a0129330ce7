"""Taking back what lets people in: invitations, and the name that says who owns a hosted study."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m031_revocation(db: Database) -> None:
    run_script(
        db,
        """
        -- creator is who made the link; without one it is from the command line. A link that was taken back, or
        -- whose creator is no owner any more, gives nothing.
        ALTER TABLE invitation ADD COLUMN creator INTEGER REFERENCES annotator(id);
        ALTER TABLE invitation ADD COLUMN revoked_at TEXT;
        UPDATE invitation SET creator = (SELECT id FROM annotator WHERE name = created_by);

        -- Names at Hugging Face change hands, their lasting ids do not: the first to sign in under the name that
        -- the settings give the owner is the owner, and whoever has the name later is not.
        CREATE TABLE named_owner (
          name TEXT PRIMARY KEY,
          subject TEXT NOT NULL,
          pinned_at TEXT NOT NULL
        ) STRICT;
        """,
    )
