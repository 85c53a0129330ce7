"""The interface of a database engine for queries: rows as dicts, single inserts, dataclasses as rows.

SQLite uses sqlite-utils' own ``Database``; PostgreSQL has a class with the same methods (``postgres.py``).
Queries are written once: ``?`` or ``:name`` for values, ON CONFLICT, RETURNING, and nothing that only one
engine supports.

This module has functions that sqlite-utils lacks, or that are too slow there for a save. Everything else uses
sqlite-utils: ``db.query`` reads, ``db.table(...)`` inserts and updates, and ``Migrations`` migrates the
schema. A confirm and the next screen take 45 reads and five inserts. A read in sqlite-utils takes 12 µs
instead of 7, because each has its own savepoint, and an insert 170 µs instead of 4, because each looks up the
table's columns. In a save of 0.72 ms of processor time, they would add 0.11 ms for reads and 0.50 ms for
inserts, and leave 270 of 324 saves a second (``python -m tests.benchmarks saves``; the goal is 300).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, get_type_hints

from sqlite_utils import Database as SqliteDatabase

from coeval.errors import BusyError, UnreachableError

# The interface of an engine: the part of sqlite-utils' ``Database`` that queries use, and transactions.

Values = Sequence[Any] | Mapping[str, Any]
"""The values for the ``?`` or the ``:name`` of a statement."""


class Cursor(Protocol):
    """The result of a statement: rows as tuples, and the number of changed rows."""

    @property
    def description(self) -> Any: ...
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchmany(self, size: int, /) -> list[Any]: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection inside a transaction."""

    def execute(self, sql: str, values: Any = ..., /) -> Cursor: ...
    def executemany(self, sql: str, values: Iterable[Any], /) -> Any: ...


class Table(Protocol):
    """A table of the database."""

    @property
    def last_rowid(self) -> Any: ...
    def insert(self, values: dict[str, Any], /) -> Table: ...
    def insert_all(self, rows: Iterable[dict[str, Any]], /) -> Any: ...
    def update(self, key: Any, values: dict[str, Any] | None = ..., /) -> Any: ...
    def rows_where(
        self, where: str | None = ..., values: Any = ..., /, *, order_by: str | None = ...
    ) -> Iterator[dict[str, Any]]: ...


class Database(Protocol):
    """The methods that queries use within a transaction."""

    @property
    def conn(self) -> Connection: ...
    def query(self, sql: str, values: Any = ..., /) -> Iterator[dict[str, Any]]: ...
    def table(self, name: str, /) -> Table: ...
    def table_names(self) -> list[str]: ...


class Storage(Protocol):
    """An open database."""

    read_only: bool
    guard: Callable[[], None]
    removed: Callable[[], None]
    """Called after a person's data was removed, so that copies are renewed."""

    @property
    def address(self) -> str:
        """Return the address for ``open_store``: a path, or an address with its password."""

    @property
    def shown_address(self) -> str:
        """Return the address without user and password, for people and logs."""

    def write(self, *, guarded: bool = True) -> AbstractContextManager[Database]:
        """Open a transaction on the newest state. All its changes are kept, or none.

        Only one writer is active at a time, over all processes and machines. A transaction inside another of
        the same thread is nested: it can be undone alone, but is kept only with the outer one.
        """

    def read(self) -> AbstractContextManager[Database]:
        """Open a consistent view of the current data, or of an open transaction's own state.

        A view inside another of the same thread is part of it, and sees the same moment.
        """

    def ping(self) -> None:
        """Return at once if this version of CoEval can use the database.

        Raises:
            StorageError: it cannot be reached now, or a newer version has changed it.
        """

    def backup(self, target: Path) -> None:
        """Write a consistent copy into one file."""

    def close(self) -> None: ...


def rows(db: Database, sql: str, values: Values = ()) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as dicts, one at a time."""
    cursor = db.conn.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def get_row(db: Database, sql: str, values: Values = ()) -> dict[str, Any] | None:
    """Return the first row of a query as a dict; None if there is none."""
    return next(rows(db, sql, values), None)


def stream(db: Database, sql: str, values: Values = ()) -> Cursor:
    """Return the rows of a large query: PostgreSQL sends them in portions, as SQLite always does."""
    run = getattr(db.conn, "stream", db.conn.execute)
    cursor: Cursor = run(sql, values)
    return cursor


def scalar(db: Database, sql: str, values: Values = ()) -> Any:
    """Return the first value in the first row, or None if there is no row."""
    row = db.conn.execute(sql, values).fetchone()
    return None if row is None else row[0]


def append(db: Database, table: str, values: Mapping[str, Any]) -> None:
    """Insert one row as fast as possible."""
    db.conn.execute(render_insert(table, values), dict(values))


def append_all(db: Database, table: str, values: Sequence[Mapping[str, Any]]) -> None:
    """Insert a few rows with the same columns in one statement, to save round trips to PostgreSQL."""
    if values:
        marks = ", ".join(f"({', '.join('?' * len(row))})" for row in values)
        cells = [value for row in values for value in row.values()]
        db.conn.execute(f"INSERT INTO {table} ({', '.join(values[0])}) VALUES {marks}", cells)


def append_numbered(db: Database, table: str, values: Mapping[str, Any]) -> int:
    """Insert one row into a table with ids as fast as possible, and return its id."""
    row = db.conn.execute(f"{render_insert(table, values)} RETURNING id", dict(values)).fetchone()
    return int(row[0])


def render_insert(table: str, names: Iterable[str]) -> str:
    """Return the statement that inserts a row with these columns, as named parameters."""
    names = list(names)
    marks = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"


def insert(db: Database, table: str, **values: Any) -> int:
    """Insert one row and return its id; 0 if the table has no ids."""
    return int(db.table(table).insert(values).last_rowid or 0)


def upsert(db: Database, table: str, key: str, values: Mapping[str, Any]) -> None:
    """Insert a row, or overwrite the row with the same ``key``.

    The method of sqlite-utils first tries to create a table. If that fails, for example on a full disk, it
    falls back on INSERT OR IGNORE, which silently drops a row that breaks a constraint.
    """
    pairs = ", ".join(f"{name} = excluded.{name}" for name in values if name != key)
    db.conn.execute(f"{render_insert(table, values)} ON CONFLICT ({key}) DO UPDATE SET {pairs}", dict(values))


def get_columns(db: Database, table: str) -> set[str]:
    """Return the names of a table's columns."""
    return {column[0] for column in db.conn.execute(f"SELECT * FROM {table} LIMIT 0").description}


def overwrite_deleted(db: Database) -> None:
    """Make SQLite overwrite data that this transaction deletes; PostgreSQL does so later (VACUUM)."""
    if isinstance(db, SqliteDatabase):
        db.conn.execute("PRAGMA secure_delete=ON")


def continue_ids(db: Database, table: str) -> None:
    """Make PostgreSQL number new rows after rows with given ids, as SQLite always does."""
    if table in getattr(db, "numbered", ()):
        db.conn.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL)"
            f" FROM {table}"
        )


_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def to_json(value: Any) -> str:
    return _JSON.encode(value)


def chunks(items: Iterable[Any], size: int = 500) -> Iterator[list[Any]]:
    """Yield lists of at most ``size``, because SQLite limits the parameters of a statement."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def join_ids(ids: Iterable[int]) -> str:
    """Return ids for ``IN (...)``, because SQLite limits the parameters of a statement; NULL if there are none."""
    return ", ".join(str(int(number)) for number in ids) or "NULL"


Stored = TypeVar("Stored")


class Record(Generic[Stored]):
    """The mapping between objects of a dataclass and rows of a table.

    Every field is stored in the column with its name, except fields in ``renamed`` (field to column), and
    fields in ``elsewhere``, which other tables or the database itself store. Enumerations and booleans are
    restored from their values. A text field in ``may_be_null`` is stored as null if it is empty.
    """

    def __init__(
        self,
        kind: type[Stored],
        *,
        renamed: Mapping[str, str] | None = None,
        elsewhere: Collection[str] = (),
        may_be_null: Collection[str] = (),
    ) -> None:
        self.kind = kind
        self._nullable = frozenset(may_be_null)
        names = [field.name for field in fields(kind) if field.name not in elsewhere]  # type: ignore[arg-type]
        self._columns = {name: (renamed or {}).get(name, name) for name in names}
        self.columns = tuple(self._columns.values())
        self._read = attrgetter(*names)
        hints = get_type_hints(kind)
        self._makers = {name: maker for name in names if (maker := _maker(hints[name])) is not None}

    def to_row(self, stored: Stored) -> dict[str, Any]:
        """Return an object's values by column."""
        values = dict(zip(self.columns, self._read(stored), strict=True))
        for name in self._nullable:
            values[self._columns[name]] = values[self._columns[name]] or None
        return values

    def from_row(self, row: Mapping[str, Any], **further: Any) -> Stored:
        """Return the object of a row; ``further`` has its fields from other tables."""
        values = {name: row[column] for name, column in self._columns.items()}
        for name, make in self._makers.items():
            values[name] = make(values[name])
        for name in self._nullable:
            values[name] = values[name] or ""
        return self.kind(**values, **further)


def _maker(hint: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a column's value to a field's value; None if no conversion is needed."""
    if hint is bool or (isinstance(hint, type) and issubclass(hint, StrEnum)):
        return hint
    return None


T = TypeVar("T")

OUTAGE_SECONDS = 60.0
"""The longest outage of a server for which callers wait; PostgreSQL restarts in a few seconds."""
OUTAGE_PAUSE_SECONDS = 0.5


def outlast(work: Callable[[], T]) -> T:
    """Return the result of ``work``, repeated while the server is away or busy; it must be safe to run twice.

    Raises:
        UnreachableError, BusyError: the outage lasts longer than ``OUTAGE_SECONDS``.
    """
    until = time.monotonic() + OUTAGE_SECONDS
    while True:
        try:
            return work()
        except (UnreachableError, BusyError):
            if time.monotonic() > until:
                raise
            time.sleep(OUTAGE_PAUSE_SECONDS)
