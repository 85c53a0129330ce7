"""An answer belongs to the endpoint that gave it: one model name on two servers never shares answers."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.store.migrations.script import run_script


def m046_call_endpoint(db: Database) -> None:
    run_script(
        db,
        """
        DROP INDEX call_answered;
        CREATE UNIQUE INDEX call_answered ON call(request_hash, sample, endpoint) WHERE error = '';
        """,
    )
