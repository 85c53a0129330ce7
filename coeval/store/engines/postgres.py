"""A PostgreSQL database, open: its connections and transactions.

Any number of servers may work on it at once. Writers go one after another, by a lock of the database that ends with
their transaction or their connection, as they do with SQLite: what a use case read in its transaction is still so when
it writes, and no place is given away twice. Readers see the state of one moment and wait for nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from coeval.errors import StorageError
from coeval.settings import show_address
from coeval.store.engines.postgres_database import PostgresDatabase, adapt, list_numbered
from coeval.store.engines.postgres_schema import APPLIED, ensure_schema, list_applied, list_known

WRITERS = 7_201_506
"""The number of the lock that writers wait for."""
BUSY_SECONDS = 30
"""How long to wait for another writer, or for the server."""
RECONNECT_SECONDS = 2
"""How long the pool tries by itself: its pauses double, so that whoever asks next finds out sooner."""
READERS = 10
"""Connections of one process for reading; it has one more for writing."""

BEGIN_WRITING = f"BEGIN; SELECT pg_advisory_xact_lock({WRITERS})"
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

ASK_OWNER = "Tell the owner of the study; the server's log has the details."


class PostgresStore:
    """One database of a PostgreSQL server: one writing connection, some for reading.

    With ``read_only`` nothing is migrated and nothing written.
    """

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self.address, self.read_only = address, read_only
        self.guard: Callable[[], None] = lambda: None
        """Asked before every transaction that writes; raises a StorageError where none may begin."""
        self._numbered: frozenset[str] = frozenset()
        self._local = threading.local()
        self._lock = threading.RLock()
        with self._translated():
            # the first connection by itself: a pool would try again for long before it says what is wrong
            self._connect().close()
            self._writers, self._readers = self._build_pool(1), self._build_pool(READERS)
            try:
                self._open()
            except BaseException:
                self.close()
                raise

    @property
    def shown_address(self) -> str:
        return show_address(self.address)

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.address, autocommit=True, connect_timeout=BUSY_SECONDS)

    def _build_pool(self, size: int) -> ConnectionPool[psycopg.Connection[Any]]:
        return ConnectionPool(
            self.address,
            min_size=1,
            max_size=size,
            timeout=BUSY_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            # a transaction begins and ends by its own statements
            kwargs={"autocommit": True, "connect_timeout": BUSY_SECONDS},
            configure=_configure,
            open=True,
        )

    def _open(self) -> None:
        with self.read() as db:
            tables = db.table_names()
            if APPLIED in tables:
                newer = [name for name in list_applied(db) if name not in list_known()]
                if newer:
                    raise StorageError(
                        f"{self.shown_address} was written by a newer CoEval (it has {newer[-1]}): update CoEval, or "
                        "choose another database with --db."
                    )
            elif tables or self.read_only:
                raise StorageError(
                    f"{self.shown_address} holds no CoEval study"
                    + (f" but tables of another program ({tables[0]})" if tables else "")
                    + ": choose another database with --db."
                )
        if not self.read_only:
            with self.write(guarded=False) as db:
                ensure_schema(db)
        with self.read() as db:
            self._numbered = list_numbered(db)

    @contextmanager
    def write(self, *, guarded: bool = True) -> Iterator[PostgresDatabase]:
        """A transaction that sees and changes the newest state: all of it is kept, or none.

        Inside another of the same thread it is a part of that: undone by itself, kept only with the whole.

        Raises:
            StorageError: the server cannot be reached (where that ends the commit itself, all may be kept), or
                others write for too long.
        """
        outer: PostgresDatabase | None = getattr(self._local, "db", None)
        if outer is not None:
            with outer.conn.raw.transaction():
                yield outer
            return
        if self.read_only:
            raise StorageError(f"{self.shown_address} was opened to be read only.")
        with self._lock, self._translated():
            if guarded:
                self.guard()
            with self._begin(self._writers, BEGIN_WRITING) as db:
                self._local.db = db
                try:
                    yield db
                finally:
                    self._local.db = None

    @contextmanager
    def read(self) -> Iterator[PostgresDatabase]:
        """A consistent view of the database as it stands now, or as one's own transaction has left it.

        Raises:
            StorageError: the server cannot be reached.
        """
        outer: PostgresDatabase | None = getattr(self._local, "db", None)
        if outer is not None:
            yield outer
            return
        with self._translated(), self._begin(self._readers, BEGIN_READING) as db:
            yield db

    @contextmanager
    def _begin(self, pool: ConnectionPool[Any], begin: str) -> Iterator[PostgresDatabase]:
        """A transaction on a connection of a pool, kept where its block ends well."""
        connection = self._take(pool, begin)
        try:
            try:
                yield PostgresDatabase(connection, self._numbered)
                connection.execute("COMMIT")
            except BaseException:
                if not connection.closed:
                    connection.execute("ROLLBACK")
                raise
        finally:
            pool.putconn(connection)

    def _take(self, pool: ConnectionPool[Any], begin: str) -> Any:
        """A connection with its transaction begun; those that broke while they lay idle are passed over."""
        for _ in range(READERS + 1):
            connection = pool.getconn()
            try:
                connection.execute(begin)
                return connection
            except BaseException as error:
                broken = connection.broken
                if not broken:
                    connection.execute("ROLLBACK")
                pool.putconn(connection)
                if not (broken and isinstance(error, psycopg.OperationalError)):
                    raise
        raise psycopg.OperationalError("the server ends every connection")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of PostgreSQL as ours."""
        try:
            yield
        except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled) as error:
            raise StorageError(
                f"Others wrote to {self.shown_address} for more than {BUSY_SECONDS} seconds: try again. Nothing was "
                "written.",
                "Others are saving just now, so nothing was saved: try again in a moment.",
            ) from error
        except psycopg.DataError as error:
            raise StorageError(
                f"PostgreSQL cannot hold a value: {_first_line(error)}. Nothing was written.",
                "A text holds a character that the database cannot keep, so nothing was saved: remove it and try "
                "again.",
            ) from error
        except (psycopg.errors.DiskFull, psycopg.errors.InsufficientPrivilege) as error:
            raise self._unusable(error) from error
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StorageError:
        """The connection may have ended while a commit was on its way: then nobody knows whether it arrived."""
        return StorageError(
            f"The database {self.shown_address} cannot be used: {_first_line(error)}. What was being written is kept "
            "whole or not at all: see which once the database answers.",
            "The server cannot use the database of the study. What was being saved is kept whole or not at all: "
            f"reload the page to see which. {ASK_OWNER}",
        )

    def backup(self, target: Path) -> None:
        """PostgreSQL has tools of its own for this.

        Raises:
            StorageError: always; it names them.
        """
        raise StorageError(
            f"{self.shown_address} is not a file: back it up with pg_dump, or write it into a file with “python -m "
            f"coeval move --to {target}”.",
        )

    def close(self) -> None:
        self._writers.close()
        self._readers.close()


def _configure(connection: psycopg.Connection[Any]) -> None:
    adapt(connection.adapters)
    connection.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
    # a server that hangs in the middle of a save gives the others way
    connection.execute(f"SET idle_in_transaction_session_timeout = '{2 * BUSY_SECONDS}s'")
    if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
        # what was acknowledged survives the end of the database's server
        connection.execute("SET synchronous_commit = on")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
