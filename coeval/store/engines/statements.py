"""What a save is made of: rows as dicts, single inserts, and what sqlite-utils has no word for.

sqlite-utils does the rest: ``db.query`` reads, ``db.table(...)`` inserts and updates, and ``Migrations`` carries the
schema on. A confirm and the screen after it are 45 reads and five inserts, and here it was too slow: 12 µs a read for
7, since each has a savepoint of its own, and 170 µs an insert for 4, since each looks the table's columns up. Measured
in a save of 0.72 ms of processor time, reads through it add 0.11 ms and inserts 0.50: of 324 saves a second
(``python -m tests.benchmarks saves``; the goal is 300) they would leave 270. What a confirm does not do goes through
sqlite-utils.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from coeval.store.engines.interface import Cursor, Database, Values
from coeval.store.engines.light import Database as SqliteDatabase


def rows(db: Database, sql: str, values: Values = ()) -> Iterator[dict[str, Any]]:
    """The rows of a query as dicts, one at a time."""
    cursor = db.conn.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def get_row(db: Database, sql: str, values: Values = ()) -> dict[str, Any] | None:
    """The first row of a query as a dict; None where there is none."""
    return next(rows(db, sql, values), None)


def stream(db: Database, sql: str, values: Values = ()) -> Cursor:
    """The rows of a query that may be many: PostgreSQL sends them some at a time, as SQLite always does."""
    run = getattr(db.conn, "stream", db.conn.execute)
    cursor: Cursor = run(sql, values)
    return cursor


def scalar(db: Database, sql: str, values: Values = ()) -> Any:
    """The first value of the first row; None where there is none."""
    row = db.conn.execute(sql, values).fetchone()
    return None if row is None else row[0]


def append(db: Database, table: str, values: Mapping[str, Any]) -> None:
    """Insert one row, in as few microseconds as a save can spare."""
    db.conn.execute(_insertion(table, values), dict(values))


def append_all(db: Database, table: str, values: Sequence[Mapping[str, Any]]) -> None:
    """Insert a few rows of the same columns by one statement, since each goes to PostgreSQL and back."""
    if values:
        marks = ", ".join(f"({', '.join('?' * len(row))})" for row in values)
        given = [value for row in values for value in row.values()]
        db.conn.execute(f"INSERT INTO {table} ({', '.join(values[0])}) VALUES {marks}", given)


def append_numbered(db: Database, table: str, values: Mapping[str, Any]) -> int:
    """Insert one row into a table with ids and give its id, as quickly."""
    row = db.conn.execute(f"{_insertion(table, values)} RETURNING id", dict(values)).fetchone()
    return int(row[0])


def _insertion(table: str, values: Mapping[str, Any]) -> str:
    marks = ", ".join(f":{name}" for name in values)
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"


def insert(db: Database, table: str, **values: Any) -> int:
    """Insert one row and give its id; 0 where the table has none."""
    return int(db.table(table).insert(values).last_rowid or 0)


def upsert(db: Database, table: str, key: str, values: Mapping[str, Any]) -> None:
    """Insert a row, or write the one of the same ``key`` anew.

    Not sqlite-utils': that makes a table first, to see whether it can, and where it cannot, as on a full disk, falls
    back on INSERT OR IGNORE, which drops a row that breaks a rule without a word.
    """
    pairs = ", ".join(f"{name} = excluded.{name}" for name in values if name != key)
    db.conn.execute(f"{_insertion(table, values)} ON CONFLICT ({key}) DO UPDATE SET {pairs}", dict(values))


def get_columns(db: Database, table: str) -> set[str]:
    """The names of a table's columns."""
    return {column[0] for column in db.conn.execute(f"SELECT * FROM {table} LIMIT 0").description}


def overwrite_deleted(db: Database) -> None:
    """Have what this transaction deletes written over in the file; PostgreSQL does so in its own time (VACUUM)."""
    if isinstance(db, SqliteDatabase):
        db.conn.execute("PRAGMA secure_delete=ON")


def continue_ids(db: Database, table: str) -> None:
    """Have PostgreSQL number new rows after those that came with their ids, as SQLite does by itself."""
    if table in getattr(db, "numbered", ()):
        db.conn.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL)"
            f" FROM {table}"
        )


_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def to_json(value: Any) -> str:
    return _JSON.encode(value)


def chunks(items: Iterable[Any], size: int = 500) -> Iterator[list[Any]]:
    """Lists of at most ``size``: SQLite takes a limited number of parameters in one statement."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
