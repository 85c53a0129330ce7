"""Accounts and invitations."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m020_accounts(db: Database) -> None:
    run_script(
        db,
        """
        -- How a person proves who they are. subject is what the kind knows them by: the account's name, the
        -- lasting id at Hugging Face, the id at Prolific or MTurk. secret is an Argon2 hash, or empty.
        -- guest is 1 for strangers, who see nothing but the studies they joined.
        CREATE TABLE account (
          annotator INTEGER PRIMARY KEY REFERENCES annotator(id),
          kind TEXT NOT NULL CHECK (kind IN ('password', 'huggingface', 'prolific', 'mturk')),
          subject TEXT NOT NULL,
          secret TEXT NOT NULL,
          guest INTEGER NOT NULL CHECK (guest IN (0, 1)),
          created_at TEXT NOT NULL,
          UNIQUE (kind, subject)
        ) STRICT;

        -- A link that makes one account, once; with annotator, one that gives this person a new password.
        -- Only a hash of its token is kept.
        CREATE TABLE invitation (
          token_hash TEXT PRIMARY KEY,
          annotator INTEGER REFERENCES annotator(id),
          role TEXT NOT NULL CHECK (role IN ('owner', 'researcher', 'annotator')),
          created_by TEXT NOT NULL,
          created_at TEXT NOT NULL,
          expires_at TEXT NOT NULL,
          used_at TEXT,
          used_by INTEGER REFERENCES annotator(id)
        ) STRICT;

        -- Refused sign-ins of late, by a hash of name and address: what throttling counts. Pruned.
        CREATE TABLE sign_in_failure (
          id INTEGER PRIMARY KEY,
          key TEXT NOT NULL,
          failed_at TEXT NOT NULL
        ) STRICT;
        CREATE INDEX sign_in_failure_key ON sign_in_failure(key, failed_at);
        """,
    )
