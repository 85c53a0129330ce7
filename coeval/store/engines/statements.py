"""What the modules of the store share: rows as dicts, inserts, JSON columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlite_utils import Database


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def rows(db: Database, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a query as dicts, one at a time."""
    cursor = db.conn.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def one(db: Database, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> dict[str, Any] | None:
    """The first row of a query as a dict; None where there is none."""
    cursor = db.conn.execute(sql, values)
    row = cursor.fetchone()
    if row is None:
        return None
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def scalar(db: Database, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Any:
    row = db.conn.execute(sql, values).fetchone()
    return None if row is None else row[0]


def insert(db: Database, table: str, **values: Any) -> int:
    """Insert one row and give its id."""
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    cursor = db.conn.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


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
