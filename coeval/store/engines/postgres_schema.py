"""The schema in PostgreSQL, translated from the SQLite schema, and changed by the same steps.

A new database gets the tables, indexes, views and first rows of a new SQLite file in memory, translated. An
existing one runs the missing steps, translated statement by statement. Views are then recreated, because
PostgreSQL keeps a view's original columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlite_utils import Database as SqliteDatabase

from coeval.store.engines.postgres_database import PostgresDatabase
from coeval.store.engines.row_copy import copy_rows, put_in_order, read_model
from coeval.store.steps import APPLIED, STEPS, apply_step, create_database, list_applied, list_pending

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
"""The three triggers of queue_tally in PostgreSQL's language."""

TRIGGERS = {
    "tally_added": "CREATE TRIGGER tally_added AFTER INSERT ON assignment"
    " FOR EACH ROW EXECUTE FUNCTION tally_assignment()",
    "tally_changed": "CREATE TRIGGER tally_changed AFTER UPDATE OF state, flagged ON assignment"
    " FOR EACH ROW EXECUTE FUNCTION tally_assignment()",
    "tally_removed": "CREATE TRIGGER tally_removed AFTER DELETE ON assignment"
    " FOR EACH ROW EXECUTE FUNCTION tally_assignment()",
}
"""Triggers by their SQLite names. A new SQLite trigger needs an entry here before a database can be created."""


NUMBERED = re.compile(r'\bid"? INTEGER PRIMARY KEY\b')


def list_numbered() -> frozenset[str]:
    """Return the tables whose ids the database assigns, also those of extensions that it does not use yet."""
    return frozenset(
        name for name, sql in read_model(create_database(), "table").items() if NUMBERED.search(sql)
    )


def ensure_schema(db: PostgresDatabase) -> None:
    """Update a database to the newest schema; the caller holds the writers' lock."""
    if APPLIED not in db.table_names():
        create_schema(db, create_database([step.name for step in STEPS]))
        return
    pending = list_pending(db)
    if not pending:
        return
    newest = create_database([*list_applied(db), *(step.name for step in pending)])
    views = read_model(newest, "view")
    _drop_views(db, views)
    for step in pending:
        apply_step(db, step)
    _drop_views(db, views)
    for view in views.values():
        db.conn.execute(view)


def _drop_views(db: PostgresDatabase, views: Iterable[str]) -> None:
    """Drop the views, because they block changes of their tables; the steps recreate them."""
    for name in reversed(list(views)):
        db.conn.execute(f"DROP VIEW IF EXISTS {name}")


def create_schema(db: PostgresDatabase, model: SqliteDatabase) -> None:
    """Create the tables, indexes, views, triggers and first rows of a SQLite file in an empty database."""
    tables = read_model(model, "table")
    for name in put_in_order(tables):
        db.conn.execute(tables[name])
    for kind in ("index", "view"):
        for statement in read_model(model, kind).values():
            db.conn.execute(statement)
    db.conn.execute(TALLY)
    db.numbered = list_numbered()
    copy_rows(model, db, put_in_order(tables))
    for name in read_model(model, "trigger"):
        db.conn.execute(TRIGGERS[name])
