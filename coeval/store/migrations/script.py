"""Running a migration's statements."""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database


def run_script(db: Database, script: str) -> None:
    """Run statements one by one inside the caller's transaction (executescript would commit it)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.conn.execute(statement)
            statement = ""
