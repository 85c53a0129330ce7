"""All rows of tables from one database into another, of either engine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from coeval.store.engines.interface import Database
from coeval.store.engines.postgres_database import PostgresDatabase

BLOCK = 2_000
"""Rows that are held at a time."""


def copy_rows(source: Database, target: Database, tables: Iterable[str]) -> dict[str, int]:
    """Copy the rows of tables into tables of the same names that hold none; gives how many, by table.

    The caller names the tables in an order in which each comes after those that it refers to.
    """
    copied = {}
    for table in tables:
        rows = source.query(f"SELECT * FROM {table}")
        copied[table] = 0
        while block := list(islice(rows, BLOCK)):
            names = list(block[0])
            marks = ", ".join("?" * len(names))
            target.conn.executemany(
                f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})",
                [list(row.values()) for row in block],
            )
            copied[table] += len(block)
    if isinstance(target, PostgresDatabase):
        _continue_ids(target)
    return copied


def _continue_ids(db: PostgresDatabase) -> None:
    """Have new rows numbered after those that came with their ids."""
    for table in db.numbered:
        db.conn.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL)"
            f" FROM {table}"
        )
