"""The schema in PostgreSQL: what the SQLite migrations end in, made from it, and carried on by the same migrations.

A new database gets the tables, indexes, views and first rows of a new SQLite file, read from one in memory and
translated. One that is there already runs the migrations it lacks; their statements are translated one by one.
Views are made anew after that, since PostgreSQL keeps the columns that a view had when it was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

import psycopg

from coeval.clock import now
from coeval.store.engines.copying import copy_rows, put_in_order, read_model
from coeval.store.engines.light import Database as SqliteDatabase
from coeval.store.engines.postgres_database import PostgresDatabase, list_numbered
from coeval.store.migrations.registry import migrations

APPLIED = migrations.migrations_table
"""The table that says which migrations a database has had, under the name that sqlite-utils gives it."""

TALLY = """
CREATE FUNCTION tally_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  d_finished bigint := 0;
  d_flagged bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    d_finished := -CASE OLD.state WHEN 'finished' THEN 1 ELSE 0 END;
    d_flagged := -OLD.flagged;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    d_finished := d_finished + CASE NEW.state WHEN 'finished' THEN 1 ELSE 0 END;
    d_flagged := d_flagged + NEW.flagged;
  END IF;
  IF d_finished = 0 AND d_flagged = 0 THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'DELETE' THEN
    UPDATE queue_tally SET finished = finished + d_finished, flagged = flagged + d_flagged
      WHERE annotator = OLD.annotator AND task = OLD.task;
  ELSE
    INSERT INTO queue_tally VALUES (NEW.annotator, NEW.task, d_finished, d_flagged)
      ON CONFLICT (annotator, task) DO UPDATE
      SET finished = queue_tally.finished + excluded.finished, flagged = queue_tally.flagged + excluded.flagged;
  END IF;
  RETURN NULL;
END $$
"""
"""What the three triggers of SQLite do (migration m023), in PostgreSQL's language."""

TRIGGERS = {
    "tally_added": "CREATE TRIGGER tally_added AFTER INSERT ON assignment"
    " FOR EACH ROW EXECUTE FUNCTION tally_assignment()",
    "tally_changed": "CREATE TRIGGER tally_changed AFTER UPDATE OF state, flagged ON assignment"
    " FOR EACH ROW EXECUTE FUNCTION tally_assignment()",
    "tally_removed": "CREATE TRIGGER tally_removed AFTER DELETE ON assignment"
    " FOR EACH ROW EXECUTE FUNCTION tally_assignment()",
}
"""By the names that they have in SQLite: another one there, and a new database cannot be made until it stands here."""


def ensure_schema(db: PostgresDatabase) -> None:
    """Bring a database to the newest schema; the caller holds the lock of writers."""
    newest = SqliteDatabase(memory=True)
    known = migrations.pending(newest)
    migrations.apply(newest)
    if APPLIED not in db.table_names():
        create_schema(db, newest)
        return
    applied = set(list_applied(db))
    pending = [migration for migration in known if migration.name not in applied]
    if not pending:
        return
    views = read_model(newest, "view")
    _drop_views(db, views)
    for migration in pending:
        migration.fn(db)  # type: ignore[arg-type] # what migrations use of sqlite-utils, this database has
        db.table(APPLIED).insert(
            {"migration_set": migrations.name, "name": migration.name, "applied_at": now()}
        )
    _drop_views(db, views)
    for view in views.values():
        db.conn.execute(view)
    mark_changed(db.conn.raw)


def mark_changed(connection: psycopg.Connection[Any]) -> None:
    """Have every server forget what it remembers of what is set up, and look at the schema's version."""
    connection.execute("UPDATE settled_mark SET mark = %s", [uuid4().hex])


def _drop_views(db: PostgresDatabase, views: Iterable[str]) -> None:
    """A view stands in the way of changes to its tables, and is itself in the way where a migration has made it."""
    for name in reversed(list(views)):
        db.conn.execute(f"DROP VIEW IF EXISTS {name}")


def list_known() -> list[str]:
    """The migrations that this CoEval has, in their order."""
    return [migration.name for migration in migrations.pending(SqliteDatabase(memory=True))]


def list_applied(db: PostgresDatabase) -> list[str]:
    """The migrations that a database has had, in their order."""
    return [name for (name,) in db.conn.execute(f"SELECT name FROM {APPLIED} ORDER BY id")]


def create_schema(db: PostgresDatabase, model: SqliteDatabase) -> None:
    """Make the tables, indexes, views, triggers and first rows of a SQLite file in an empty database."""
    tables = read_model(model, "table")
    for name in put_in_order(tables):
        db.conn.execute(tables[name])
    for kind in ("index", "view"):
        for statement in read_model(model, kind).values():
            db.conn.execute(statement)
    db.conn.execute(TALLY)
    db.numbered = list_numbered(db)
    copy_rows(model, db, put_in_order(tables))
    for name in read_model(model, "trigger"):
        db.conn.execute(TRIGGERS[name])
