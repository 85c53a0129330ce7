"""The connections and transactions of an open PostgreSQL database.

Any number of servers may use it at once. Only one writer is active at a time, as in SQLite: a lock of the
database ends with the writer's transaction or connection. So the data that a use case read is unchanged when
it writes, and no place is given away twice. Readers see the state of one moment and never wait.
"""

from __future__ import annotations

import logging
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from coeval.errors import BusyError, StorageError, UnreachableError
from coeval.settings import show_address
from coeval.store.engines.database_copy import ensure_schema, list_numbered
from coeval.store.engines.postgres_database import (
    PostgresDatabase,
    StudyConnection,
    adapt,
    statements_of,
)
from coeval.store.steps import APPLIED, list_applied, list_newer, refuse_development, select_newer

WRITERS = 7_201_506
"""The number of the advisory lock that writers wait for."""
BUSY_SECONDS = 30
"""Seconds to wait for another writer or the server."""
RECONNECT_SECONDS = 2
"""Seconds in which the pool retries by itself. Its pauses double, so a short limit finds a recovery sooner."""
TURN_SECONDS = 2.5
"""Seconds that one request to the pool waits.

The pool reconnects only for a new request: an outage of 3 seconds once cost savers 30.
"""
READERS = 10
"""The number of connections per process for reading; one more is for writing."""

PING_SECONDS = 2
"""Seconds that a balancer's check waits for a connection."""
CLOCK_SECONDS = 5
"""The largest difference between the clocks of a server and the database; a lease lasts three times as long."""

BEGIN_WRITING = f"BEGIN; SELECT pg_advisory_xact_lock({WRITERS})"
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
KNOWN_ROWS = "SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)"
COUNT_AGAIN = 0.1
"""The share of new rows in a table from which its statistics are recomputed, as in PostgreSQL."""

# the pool logs every attempt to reconnect; the caller reports the result
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

PASSING = (
    psycopg.IntegrityError,
    psycopg.DataError,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
)
"""Errors of one transaction that leave its connection usable."""

ASK_OWNER = "Tell the owner of the study; the server's log has the details."


class PostgresStore:
    """One database of a PostgreSQL server, with one connection for writing and some for reading.

    With ``read_only`` nothing is migrated or written. ``patience`` is the number of seconds to wait for
    another writer or for the server.
    """

    def __init__(self, address: str, *, read_only: bool = False, patience: float = BUSY_SECONDS) -> None:
        _check_address(address)
        self.address, self.read_only, self.patience = address, read_only, patience
        self.removed: Callable[[], None] = lambda: None
        self.guard: Callable[[], None] = lambda: None
        """Called before every write transaction; raises a StorageError to refuse it."""
        self._numbered = list_numbered()
        self._ready = False
        """True once the tables match this version."""
        self._ask_state = select_newer("count(*), current_setting('transaction_read_only')")
        """The first query of every write transaction, which detects newer tables and read-only mode."""
        self._filled: Counter[str] = Counter()
        self._refused = False
        """True if the last write transaction found the database read-only."""
        self._local = threading.local()
        self._lock = threading.RLock()
        with self._translated():
            # open the first connection directly: a pool would retry for long before it reports the error
            try:
                first = self._connect()
            except psycopg.OperationalError as error:
                raise UnreachableError(
                    f"The database {self.shown_address} cannot be used: {_first_line(error)}. Nothing was read or "
                    "written: check the address, and that the server runs and has this database.",
                    f"The server cannot use the database of the study. {ASK_OWNER}",
                ) from error
            with first:
                self._check_clock(first)
            self._writers, self._readers = self._build_pool(1), self._build_pool(READERS)
            try:
                self._open()
            except BaseException:
                self.close()
                raise

    @property
    def shown_address(self) -> str:
        return show_address(self.address)

    def _connect(self, seconds: int | None = None) -> psycopg.Connection[Any]:
        return psycopg.connect(
            self.address, autocommit=True, connect_timeout=seconds or self._connect_seconds
        )

    def _build_pool(self, size: int) -> ConnectionPool[psycopg.Connection[Any]]:
        return ConnectionPool(
            self.address,
            connection_class=StudyConnection,
            min_size=1,
            max_size=size,
            timeout=self.patience,
            reconnect_timeout=RECONNECT_SECONDS,
            # explicit statements begin and end a transaction
            kwargs={"autocommit": True, "connect_timeout": self._connect_seconds},
            configure=self._configure,
            open=True,
        )

    @property
    def _connect_seconds(self) -> int:
        return max(2, round(self.patience))  # the smallest value that libpq accepts

    def _check_clock(self, connection: psycopg.Connection[Any]) -> None:
        """Raise if this machine's clock differs too much from the database's.

        Leases and sessions compare their times.
        """
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        apart = time.time() - (row[0] if row else 0.0)
        if abs(apart) > CLOCK_SECONDS:
            raise StorageError(
                f"The clock of this machine is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} "
                f"that of {self.shown_address}, and the limit is {CLOCK_SECONDS} s: set both with a time "
                "server (NTP)."
            )

    def _open(self) -> None:
        with self.read() as db:
            tables = db.table_names()
            if APPLIED in tables:
                refuse_development(list_applied(db), self.shown_address)
                newer = list_newer(db)
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
        self._ready = True

    @contextmanager
    def write(self, *, guarded: bool = True) -> Iterator[PostgresDatabase]:
        """Open a transaction on the newest state. All its changes are kept, or none.

        A transaction inside another of the same thread is nested: it can be undone alone, but is kept only
        with the outer one.

        Raises:
            UnreachableError: the server cannot be reached; if the connection ends during the commit, all may
                be kept.
            BusyError: other writers take too long.
            StorageError: the database is out of space, or cannot store a value.
        """
        outer: PostgresDatabase | None = getattr(self._local, "db", None)
        if outer is not None:
            with outer.conn.part():
                yield outer
            return
        if self.read_only:
            raise StorageError(f"{self.shown_address} is open for reading only.")
        with self._translated():
            with self._lock:
                if guarded:
                    self.guard()
                with self._begin(self._writers, BEGIN_WRITING) as db:
                    self._local.db = db
                    try:
                        yield db
                    finally:
                        self._local.db = None
            if db.conn.filled:
                self._count_rows(db.conn.filled)

    @contextmanager
    def read(self) -> Iterator[PostgresDatabase]:
        """Open a consistent view of the current database, or of an open transaction's own state.

        Raises:
            StorageError: the server cannot be reached.
        """
        outer: PostgresDatabase | None = getattr(self._local, "db", None) or getattr(
            self._local, "view", None
        )
        if outer is not None:
            yield outer
            return
        with self._translated(), self._begin(self._readers, BEGIN_READING) as db:
            self._local.view = db
            try:
                yield db
            finally:
                self._local.view = None

    def _count_rows(self, filled: Counter[str]) -> None:
        """Update the planner's statistics of tables that were just filled; the server would take a minute.

        Until then the planner assumes that the table is empty and scans all of it, which triples the cost of
        a save. An error here does not affect the saved data.
        """
        with suppress(psycopg.Error, PoolTimeout), self._readers.connection(PING_SECONDS) as connection:
            for table, rows in filled.items():
                counted = connection.execute(KNOWN_ROWS, [table]).fetchone()
                self._filled[table] += rows
                if counted and self._filled[table] > COUNT_AGAIN * counted[0]:
                    connection.execute(f"ANALYZE {table}")
                    self._filled[table] = 0

    @contextmanager
    def _begin(self, pool: ConnectionPool[Any], begin: str) -> Iterator[PostgresDatabase]:
        """Open a transaction on a pool's connection, committed if its block succeeds."""
        connection = self._take(pool, begin)
        try:
            try:
                yield PostgresDatabase(connection, self._numbered)
                if statements_of(connection).run_simple("COMMIT").command_status != b"COMMIT":
                    # a statement failed and its error was ignored, so the server has rolled back everything
                    raise psycopg.OperationalError("a statement of the transaction had failed")
            except BaseException as error:
                if isinstance(error, psycopg.Error) and not isinstance(error, PASSING):
                    connection.close()  # the next transaction opens a new one
                else:
                    _undo(connection)
                raise
        finally:
            pool.putconn(connection)

    def _take(self, pool: ConnectionPool[Any], begin: str, seconds: float | None = None) -> Any:
        """Return a connection with a begun transaction; skip broken connections."""
        for n in range(READERS + 1):
            connection = self._wait_for(pool, self.patience if seconds is None else seconds)
            try:
                if begin is not BEGIN_WRITING or not self._ready:
                    statements_of(connection).run_simple(begin)
                else:
                    self._refused = self._is_read_only(connection, begin)
                    if self._refused and n == 0:
                        # a connection keeps its initial settings, so open a new one for the current settings
                        raise psycopg.OperationalError("the database was read-only")
                    if self._refused:
                        raise psycopg.errors.ReadOnlySqlTransaction("the database is read-only")
                return connection
            except BaseException as error:
                if self._refused:
                    connection.close()
                usable = _undo(connection)
                pool.putconn(connection)
                if usable or not isinstance(error, psycopg.OperationalError):
                    raise
        raise psycopg.OperationalError("the server ends every connection")

    @staticmethod
    def _wait_for(pool: ConnectionPool[Any], seconds: float) -> Any:
        """Return a connection of a pool, with repeated requests to it."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > TURN_SECONDS:
            with suppress(PoolTimeout):
                return pool.getconn(TURN_SECONDS)
        return pool.getconn(max(left, 0.1))

    def _is_read_only(self, connection: psycopg.Connection[Any], begin: str = "") -> bool:
        """Return whether the database is read-only; refuse to work with tables that a newer version has changed.

        ``begin`` are statements that go before, in the same message.
        """
        statements = statements_of(connection)
        state = statements.run_simple(f"{begin}; {self._ask_state}" if begin else self._ask_state)
        newer, read_only = statements.load(state, 0, 1)[0]
        if int(newer):
            raise StorageError(
                f"A newer CoEval has changed {self.shown_address} while this one was running: stop this one and start "
                "the newer one. Nothing was written.",
                "CoEval is being updated, so nothing was saved: try again in a moment.",
            )
        return bool(read_only == "on")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate PostgreSQL's errors into CoEval's."""
        try:
            yield
        except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled) as error:
            raise BusyError(
                f"Other processes have been writing to {self.shown_address} for more than "
                f"{self.patience:g} seconds: try again. Nothing was written.",
                "Others are saving just now, so nothing was saved: try again in a moment.",
            ) from error
        except psycopg.DataError as error:
            raise StorageError(
                f"PostgreSQL cannot store a value: {_first_line(error)}. Nothing was written.",
                "A text holds a character that the database cannot keep, so nothing was saved: remove it and try "
                "again.",
            ) from error
        except (psycopg.errors.DiskFull, psycopg.errors.InsufficientPrivilege) as error:
            raise self._unusable(error, StorageError) from error
        except psycopg.errors.ReadOnlySqlTransaction as error:
            raise UnreachableError(
                f"{self.shown_address} is read-only: wait until its service finishes, or make it "
                "writable. Nothing was written.",
                "The database of the study is read-only just now, so nothing was saved: try again in a moment.",
            ) from error
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise self._unusable(error, UnreachableError) from error
        except psycopg.Error as error:
            raise self._unusable(error, StorageError) from error

    def _unusable(self, error: Exception, kind: type[StorageError]) -> StorageError:
        """Return an error for a connection that may have ended during a commit, so that the outcome is unknown."""
        return kind(
            f"The database {self.shown_address} cannot be used: {_first_line(error)}. The current write is kept "
            "in full or not at all: check it once the database answers.",
            "The server cannot use the database of the study. The current save is kept in full or not at all: "
            f"reload the page to check it. {ASK_OWNER}",
        )

    def ping(self) -> None:
        """Return at once if the database answers, accepts writes, and has a schema that this version knows.

        Raises:
            StorageError: it does not answer, is read-only, or was changed by a newer version.
        """
        with self._translated():
            connection = self._take(self._readers, "SELECT 1", PING_SECONDS)
            try:
                read_only = self._is_read_only(connection)
                if read_only:
                    connection.close()
            finally:
                self._readers.putconn(connection)
            if self._refused or read_only:
                with self._connect(PING_SECONDS) as fresh:
                    if self._is_read_only(fresh):
                        raise psycopg.errors.ReadOnlySqlTransaction("the database is read-only")
                self._refused = False

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        adapt(connection.adapters)
        connection.execute(f"SET lock_timeout = {round(1000 * self.patience)}")
        # a server that hangs in the middle of a save must give way to the others
        connection.execute(f"SET idle_in_transaction_session_timeout = {round(2000 * self.patience)}")
        if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
            # acknowledged saves survive a crash of the database server
            connection.execute("SET synchronous_commit = on")

    def backup(self, target: Path) -> None:
        """Refuse, because PostgreSQL has its own tools for backups.

        Raises:
            StorageError: always; the message names these tools.
        """
        raise StorageError(
            f"{self.shown_address} is not a file: back it up with pg_dump, or copy it into a file. The command is "
            f'“python -m coeval move --from "$COEVAL_DB" --to {shlex.quote(str(target))}”.',
        )

    def close(self) -> None:
        self._writers.close()
        self._readers.close()


def _check_address(address: str) -> None:
    """Refuse an address with part of the password in other fields, which PostgreSQL's messages would show.

    Raises:
        StorageError: the address cannot be read, or its host, port or name is impossible.
    """
    with suppress(psycopg.Error):
        fields = conninfo_to_dict(address)
        named = [str(fields.get(name) or "") for name in ("host", "port", "dbname")]
        if not any("@" in text for text in named) and named[1].replace(",", "").strip("0123456789") == "":
            return
    raise StorageError(
        f"The address of the database ({show_address(address)}) cannot be read. Encode special "
        "characters of the user name and the password: / is %2F, @ is %40, % is %25, : is %3A, space is %20. Or "
        "leave the password out and set PGPASSWORD."
    )


def _undo(connection: psycopg.Connection[Any]) -> bool:
    """Roll back a transaction; return whether the connection is still usable."""
    try:
        statements_of(connection).run_simple("ROLLBACK")
        return True
    except psycopg.Error:
        connection.close()  # the pool replaces it
        return False


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
