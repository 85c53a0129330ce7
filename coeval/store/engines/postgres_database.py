"""A PostgreSQL connection with the methods of sqlite-utils' ``Database`` (see ``database.py``)."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8Dumper

from coeval.store.engines.database import Cursor, render_insert
from coeval.store.engines.postgres_statements import Statements, translate

MANY = 100
"""The planner's statistics are updated after a bulk insert of at least this number of rows."""

STREAMED = 5_000
"""The number of rows that the server sends at a time for a long answer."""

TARGET = re.compile(r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)", re.IGNORECASE)
"""Matches the table that a statement writes to."""

SAVED = ("submission", "submission_row", "first_score", "assignment", "mark", "planted_error")
"""The tables that a confirm writes to. Answers about other tables stay true meanwhile."""

SHORT, ANSWERS = 50, 500
"""The most rows of a kept answer, and the most answers for a set of tables."""


@lru_cache(maxsize=2_000)
def find_saved(sql: str) -> tuple[str, ...]:
    """Return the tables of ``SAVED`` that a statement may read; the names of their views contain their own.

    >>> find_saved("SELECT * FROM task WHERE slug = ?"), find_saved("SELECT * FROM current_submission")
    ((), ('submission',))
    """
    return tuple(table for table in SAVED if table in sql)


class _FlagDumper(Dumper):
    """Sends a Boolean as 0 or 1, as in the tables."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _NumberLoader(Loader):
    """Loads a sum or mean, which PostgreSQL returns as a decimal number."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "n" in text.lower() else int(text)


def adapt(adapters: AdaptersMap) -> None:
    """Make PostgreSQL accept and return values as SQLite does."""
    adapters.register_dumper(bool, _FlagDumper)
    # send all integers with one width, so that a statement is prepared only once
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_loader("numeric", _NumberLoader)


class StudyConnection(psycopg.Connection[Any]):
    """A connection with its prepared statements."""

    statements: Statements | None = None


def statements_of(raw: psycopg.Connection[Any]) -> Statements:
    """Return the statement runner of a connection; prepared statements live as long as the connection."""
    if not isinstance(raw, StudyConnection):
        return Statements(raw)
    if raw.statements is None:
        raw.statements = Statements(raw)
    return raw.statements


class Parts:
    """Nested parts of a transaction; each can be undone separately.

    A use case that calls another opens a part, but most parts only read or are the whole transaction.
    Therefore, a savepoint is set only before a change, and serves all parts that begin with this change. The
    next savepoint or the end releases it.
    """

    def __init__(self, raw: psycopg.Connection[Any], statements: Statements) -> None:
        self._raw, self._statements = raw, statements
        self._savepoints: list[str] = []
        """The savepoint of each open part, the outermost first; empty before the first change in the part."""
        self._spent = ""

    def begin(self) -> None:
        self._savepoints.append("")

    def mark(self) -> None:
        """Set a savepoint if it is needed, because a change follows."""
        if "" in self._savepoints:
            name = f"part_{self._savepoints.index('')}"
            release = f"RELEASE {self._spent}; " if self._spent else ""
            self._statements.run_simple(f"{release}SAVEPOINT {name}")
            self._savepoints = [savepoint or name for savepoint in self._savepoints]
            self._spent = ""

    def keep(self) -> None:
        name = self._savepoints.pop()
        if name and name not in self._savepoints:
            self._spent = name  # including the parts inside it

    def undo(self) -> None:
        name = self._savepoints.pop()
        if name and not self._raw.closed:
            release = "" if name in self._savepoints else f"; RELEASE {name}"
            self._statements.run_simple(f"ROLLBACK TO {name}{release}")
            self._spent = ""


class Answer:
    """The rows of a query, readable like a cursor, or the number of changed rows."""

    def __init__(self, rows: Iterable[Any], description: Any, rowcount: int) -> None:
        self.description, self.rowcount = description, rowcount
        self._rows = iter(rows)

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchmany(self, size: int, /) -> list[Any]:
        return list(islice(self._rows, size))

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


class PostgresConnection:
    """One transaction on a psycopg connection, for the SQL that both engines take."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.raw = raw
        self.statements = statements_of(raw)
        self.filled: Counter[str] = Counter()
        """The number of rows inserted in bulk, by table."""
        self._parts = Parts(raw, self.statements)
        self._streams = 0
        self._answers: defaultdict[tuple[str, ...], dict[Any, tuple[list[Any], Any]]] = defaultdict(dict)
        """The short answers so far, by what they read of ``SAVED``. Nobody else can change them: other writers wait,
        and a reader's view stays as it is."""

    def execute(self, sql: str, values: Any = (), /) -> Cursor:
        """Run a statement. A repeated query is answered from memory until a change may concern its tables.

        Confirms in one transaction repeat most queries. A confirm alone sends at most 38 statements.

        Raises:
            sqlite3.IntegrityError: it violates a constraint; both engines raise this class.
        """
        if sql.lstrip()[:6] != "SELECT":
            self._change(sql)
            return self._send(sql, values)
        answers = self._answers[find_saved(sql)]
        key = sql, tuple(values.items() if isinstance(values, dict) else values)
        if key not in answers:
            answer = self._send(sql, values)
            if answer.rowcount > SHORT or len(answers) >= ANSWERS:
                return answer
            answers[key] = answer.fetchall(), answer.description
        rows, columns = answers[key]
        return Answer(rows, columns, len(rows))

    def _send(self, sql: str, values: Any) -> Answer:
        try:
            result, columns = self.statements.run(sql, values)
        except psycopg.IntegrityError as error:
            raise sqlite3.IntegrityError(str(error)) from error
        if not result.nfields:
            return Answer((), None, result.command_tuples or 0)
        return Answer(self._load(result), columns, result.ntuples)

    def _load(self, result: PGresult) -> Iterator[Any]:
        """Yield rows, converting a portion of a long answer at a time."""
        for first in range(0, result.ntuples, STREAMED):
            yield from self.statements.load(result, first, min(first + STREAMED, result.ntuples))

    def stream(self, sql: str, values: Any = (), /) -> psycopg.ServerCursor[Any]:
        """Return a query's rows in portions; they are readable until the transaction ends."""
        self._streams += 1
        cursor = self.raw.cursor(f"rows_{self._streams}")
        cursor.itersize = STREAMED
        return cursor.execute(translate(sql), values)

    def _change(self, sql: str) -> None:
        self._parts.mark()
        target = TARGET.match(sql)
        changed = target[1].lower() if target else ""
        for tables, answers in self._answers.items():
            if changed not in SAVED or changed in tables:
                answers.clear()

    def executemany(self, sql: str, values: Iterable[Any], /) -> psycopg.Cursor[Any]:
        listed = list(values)  # making the values can ask the database
        self._change(sql)
        cursor = self.raw.cursor()
        try:
            cursor.executemany(translate(sql), listed)
        except psycopg.IntegrityError as error:
            raise sqlite3.IntegrityError(str(error)) from error
        target = TARGET.match(sql)
        if target and cursor.rowcount >= MANY:
            self.filled[target[1].lower()] += cursor.rowcount
        return cursor

    @contextmanager
    def part(self) -> Iterator[None]:
        """Run a part of the transaction that is rolled back alone if its block fails."""
        self._parts.begin()
        try:
            yield
        except BaseException:
            self._parts.undo()
            self._answers.clear()
            raise
        self._parts.keep()


class PostgresTable:
    """A table of the database."""

    def __init__(self, db: PostgresDatabase, name: str) -> None:
        self.db, self.name = db, name
        self.last_rowid: int | None = None

    def insert(self, values: dict[str, Any], /) -> PostgresTable:
        returning = " RETURNING id" if self.name in self.db.numbered else ""
        cursor = self.db.conn.execute(render_insert(self.name, values) + returning, values)
        row = cursor.fetchone() if returning else None
        self.last_rowid = row[0] if row else None
        return self

    def insert_all(self, rows: Iterable[dict[str, Any]], /) -> None:
        listed = list(rows)
        if listed:
            self.db.conn.executemany(render_insert(self.name, listed[0]), listed)

    def update(self, key: Any, values: dict[str, Any] | None = None, /) -> None:
        pairs = ", ".join(f"{name} = :{name}" for name in values or {})
        sql = f"UPDATE {self.name} SET {pairs} WHERE id = :key__"
        if pairs and not self.db.conn.execute(sql, {**(values or {}), "key__": key}).rowcount:
            raise LookupError(f"{self.name} has no row {key}")

    def rows_where(
        self, where: str | None = None, values: Any = (), /, *, order_by: str | None = None
    ) -> Iterator[dict[str, Any]]:
        sql = f"SELECT * FROM {self.name}"
        sql += f" WHERE {where}" if where else ""
        sql += f" ORDER BY {order_by}" if order_by else ""
        return self.db.query(sql, values)


class PostgresDatabase:
    """A PostgreSQL transaction; ``numbered`` has the tables whose ids the database assigns."""

    def __init__(self, raw: psycopg.Connection[Any], numbered: frozenset[str] = frozenset()) -> None:
        self.conn = PostgresConnection(raw)
        self.numbered = numbered

    def query(self, sql: str, values: Any = (), /) -> Iterator[dict[str, Any]]:
        cursor = self.conn.execute(sql, values)
        names = [column[0] for column in cursor.description or ()]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def table(self, name: str, /) -> PostgresTable:
        return PostgresTable(self, name)

    def table_names(self) -> list[str]:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
        return [name for (name,) in self.conn.execute(sql)]
