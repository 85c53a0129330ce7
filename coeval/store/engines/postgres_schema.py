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
    """Create the tables, indexes, views and first rows of a SQLite file in an empty database."""
    tables = read_model(model, "table")
    for name in put_in_order(tables):
        db.conn.execute(tables[name])
    for kind in ("index", "view"):
        for statement in read_model(model, kind).values():
            db.conn.execute(statement)
    db.numbered = list_numbered()
    copy_rows(model, db, put_in_order(tables))
