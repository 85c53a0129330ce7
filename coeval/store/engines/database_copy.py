"""Copy the schema and the rows of one database to another, of any engine, and verify the copy.

A new PostgreSQL database gets the tables, indexes, views and first rows of a new SQLite file in memory,
translated. An existing one runs the missing steps, translated statement by statement. Its views are then
recreated, because PostgreSQL keeps a view's original columns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlite_utils import Database as SqliteDatabase

from coeval.store.engines.database import Database, continue_ids, stream
from coeval.store.steps import APPLIED, STEPS, apply_step, create_database, list_applied, list_pending

if TYPE_CHECKING:
    from coeval.store.engines.postgres_database import PostgresDatabase

BLOCK = 2_000
"""The number of rows in memory at a time."""

REFERENCE = re.compile(r'\bREFERENCES "?(\w+)')


@dataclass(frozen=True, slots=True)
class Content:
    """The number of rows of a table, and the sum of their hashes, in any order."""

    rows: int
    checksum: int


def copy_rows(source: Database, target: Database, tables: Iterable[str]) -> dict[str, Content]:
    """Replace the target's rows by the source's; return the content read, by table.

    The caller names the tables in an order in which each comes after those that it refers to.
    """
    ordered = list(tables)
    for table in reversed(ordered):
        target.conn.execute(f"DELETE FROM {table}")
    return {table: _copy_table(source, target, table) for table in ordered}


def _copy_table(source: Database, target: Database, table: str) -> Content:
    names, rows = _read(source, table)
    insertion = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    total, checksum = 0, 0
    while block := list(islice(rows, BLOCK)):
        target.conn.executemany(insertion, block)
        total, checksum = total + len(block), checksum + sum(map(_hash, block))
    continue_ids(target, table)
    return Content(total, checksum)


def measure(db: Database, table: str) -> Content:
    """Return the content of a table."""
    total, checksum = 0, 0
    for row in _read(db, table)[1]:
        total, checksum = total + 1, checksum + _hash(row)
    return Content(total, checksum)


def _read(db: Database, table: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return the columns of a table and its rows. Columns are sorted, because engines order them differently."""
    description = db.conn.execute(f"SELECT * FROM {table} LIMIT 0").description
    names = sorted(column[0] for column in description)
    return names, iter(stream(db, f"SELECT {', '.join(names)} FROM {table}"))


def _hash(row: tuple[Any, ...]) -> int:
    return int.from_bytes(
        hashlib.blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    )


def list_tables(db: Database) -> list[str]:
    """Return the tables of an up-to-date database, each after the tables that it refers to."""
    return put_in_order(read_model(create_database(list_applied(db)), "table"))


def put_in_order(tables: dict[str, str]) -> list[str]:
    """Return the names of tables. Each comes after the tables to which its statement refers."""
    refers = {name: set(REFERENCE.findall(sql)) - {name} for name, sql in tables.items()}
    return list(TopologicalSorter(refers).static_order())


def read_model(model: SqliteDatabase, kind: str) -> dict[str, str]:
    """Return the CREATE statements of all objects of a kind, by name, in the order of creation."""
    sql = "SELECT name, sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY rowid"
    return dict(model.conn.execute(sql, [kind]))


# The schema in PostgreSQL.

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
