"""A PostgreSQL database, open: its connections and transactions.

Any number of servers may work on it at once. Writers go one after another, by a lock of the database that ends with
their transaction or their connection, as they do with SQLite: what a use case read in its transaction is still so when
it writes, and no place is given away twice. Readers see the state of one moment and wait for nobody.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from coeval.errors import BusyError, StorageError, UnreachableError
from coeval.settings import show_address
from coeval.store.engines.postgres_database import (
    PostgresDatabase,
    StudyConnection,
    adapt,
    list_numbered,
    list_views,
    statements_of,
)
from coeval.store.engines.postgres_schema import (
    APPLIED,
    ensure_schema,
    list_applied,
    list_known,
    mark_changed,
)
from coeval.store.engines.remembered import Recent, Settled, Sources

WRITERS = 7_201_506
"""The number of the lock that writers wait for."""
BUSY_SECONDS = 30
"""How long to wait for another writer, or for the server."""
RECONNECT_SECONDS = 2
"""How long the pool tries by itself: its pauses double, so that whoever asks next finds out sooner."""
READERS = 10
"""Connections of one process for reading; it has one more for writing."""

PING_SECONDS = 2
"""How long a balancer's question waits for a connection."""
CLOCK_SECONDS = 5
"""How far the clocks of a server and of the database may be apart: a lease lasts three times as long."""

BEGIN_WRITING = f"BEGIN; SELECT pg_advisory_xact_lock({WRITERS})"
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
COUNT_MIGRATIONS = f"SELECT count(*) FROM {APPLIED}"
ASK_MARK = "SELECT mark FROM settled_mark"
"""What every transaction asks first: somebody may have changed what is settled, or a newer version the tables."""
KNOWN_ROWS = "SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)"
COUNT_AGAIN = 0.1
"""The share of new rows in a table from which on its statistics are taken anew, as PostgreSQL does by itself."""

# it says every try to reconnect; what comes of them is said by whoever asked
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

ASK_OWNER = "Tell the owner of the study; the server's log has the details."


class PostgresStore:
    """One database of a PostgreSQL server: one writing connection, some for reading.

    With ``read_only`` nothing is migrated and nothing written. ``patience`` is how many seconds to wait for another
    writer, or for the server.
    """

    def __init__(self, address: str, *, read_only: bool = False, patience: float = BUSY_SECONDS) -> None:
        self.address, self.read_only, self.patience = address, read_only, patience
        self.guard: Callable[[], None] = lambda: None
        """Asked before every transaction that writes; raises a StorageError where none may begin."""
        self._numbered: frozenset[str] = frozenset()
        self._migrations = 0
        self._checked: str | None = None
        """The mark under which the tables were last found to be those of this version."""
        self._begin_writing, self._begin_reading = BEGIN_WRITING, BEGIN_READING
        self._settled: Settled | None = None
        self._filled: Counter[str] = Counter()
        self._local = threading.local()
        self._lock = threading.RLock()
        with self._translated():
            # the first connection by itself: a pool would try again for long before it says what is wrong
            with self._connect() as first:
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

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.address, autocommit=True, connect_timeout=self._connect_seconds)

    def _build_pool(self, size: int) -> ConnectionPool[psycopg.Connection[Any]]:
        return ConnectionPool(
            self.address,
            connection_class=StudyConnection,
            min_size=1,
            max_size=size,
            timeout=self.patience,
            reconnect_timeout=RECONNECT_SECONDS,
            # a transaction begins and ends by its own statements
            kwargs={"autocommit": True, "connect_timeout": self._connect_seconds},
            configure=self._configure,
            open=True,
        )

    @property
    def _connect_seconds(self) -> int:
        return max(2, round(self.patience))  # libpq takes no less

    def _check_clock(self, connection: psycopg.Connection[Any]) -> None:
        """Leases, sessions and reservations compare times that several machines wrote."""
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        apart = time.time() - (row[0] if row else 0.0)
        if abs(apart) > CLOCK_SECONDS:
            raise StorageError(
                f"The clock of this machine is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} that of "
                f"{self.shown_address}, at most {CLOCK_SECONDS} s is allowed: set both by a time server (NTP)."
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
            self._numbered, self._migrations = list_numbered(db), len(list_applied(db))
            behind = "settled_mark" not in db.table_names()  # an older database, opened to be read only
            views = list_views(db)
        if not behind:
            self._settled = Settled(Sources(views))
            self._begin_writing = f"{BEGIN_WRITING}; {ASK_MARK}"
            self._begin_reading = f"{BEGIN_READING}; {ASK_MARK}"

    @contextmanager
    def write(self, *, guarded: bool = True) -> Iterator[PostgresDatabase]:
        """A transaction that sees and changes the newest state: all of it is kept, or none.

        Inside another of the same thread it is a part of that: undone by itself, kept only with the whole.

        Raises:
            UnreachableError: the server cannot be reached; where that ends the commit itself, all may be kept.
            BusyError: others write for too long.
            StorageError: the database takes no more, or cannot hold a value.
        """
        outer: PostgresDatabase | None = getattr(self._local, "db", None)
        if outer is not None:
            with outer.conn.part():
                yield outer
            return
        if self.read_only:
            raise StorageError(f"{self.shown_address} was opened to be read only.")
        with self._translated():
            with self._lock:
                if guarded:
                    self.guard()
                with self._begin(self._writers, self._begin_writing) as db:
                    self._local.db = db
                    try:
                        yield db
                    finally:
                        self._local.db = None
            if db.conn.filled:
                self._count_rows(db.conn.filled)

    @contextmanager
    def read(self) -> Iterator[PostgresDatabase]:
        """A consistent view of the database as it stands now, or as one's own transaction has left it.

        Raises:
            StorageError: the server cannot be reached.
        """
        outer: PostgresDatabase | None = getattr(self._local, "db", None) or getattr(
            self._local, "view", None
        )
        if outer is not None:
            yield outer
            return
        with self._translated(), self._begin(self._readers, self._begin_reading) as db:
            self._local.view = db
            try:
                yield db
            finally:
                self._local.view = None

    def _count_rows(self, filled: Counter[str]) -> None:
        """Have the planner know of tables that were filled at once: by itself it looks only after a minute.

        Until then it takes a table of thousands for an empty one and reads all of it, which makes a save cost three
        times as much. What is kept is kept, whatever becomes of this.
        """
        with suppress(psycopg.Error, PoolTimeout), self._readers.connection(PING_SECONDS) as connection:
            for table, rows in filled.items():
                known = connection.execute(KNOWN_ROWS, [table]).fetchone()
                self._filled[table] += rows
                if known and self._filled[table] > COUNT_AGAIN * known[0]:
                    connection.execute(f"ANALYZE {table}")
                    self._filled[table] = 0

    @contextmanager
    def _begin(self, pool: ConnectionPool[Any], begin: str) -> Iterator[PostgresDatabase]:
        """A transaction on a connection of a pool, kept where its block ends well."""
        connection, mark = self._take(pool, begin)
        try:
            try:
                recent = self._remember(mark)
                yield PostgresDatabase(connection, self._numbered, recent)
                if recent.changed and pool is self._writers and self._settled:
                    mark_changed(connection)
                if statements_of(connection).run_simple("COMMIT").command_status != b"COMMIT":
                    # a statement failed and was passed over: the server has undone all of it without a word
                    raise psycopg.OperationalError("a statement of the transaction had failed")
            except BaseException:
                _undo(connection)
                raise
        finally:
            pool.putconn(connection)

    def _remember(self, mark: str | None) -> Recent:
        settled = self._settled
        return Recent(settled.sources, settled.under(mark)) if settled and mark is not None else Recent()

    def _take(
        self, pool: ConnectionPool[Any], begin: str, seconds: float | None = None
    ) -> tuple[Any, str | None]:
        """A connection with its transaction begun, and the mark of what is settled; broken ones are passed over."""
        for _ in range(READERS + 1):
            connection = pool.getconn(seconds)
            try:
                statements = statements_of(connection)
                began = statements.run_simple(begin)
                mark = statements.load(began, 0, 1)[0][0] if self._settled and began.ntuples else None
                if mark != self._checked and begin is self._begin_writing:
                    self._check_version(connection)
                    self._checked = mark
                return connection, mark
            except BaseException as error:
                usable = _undo(connection)
                pool.putconn(connection)
                if usable or not isinstance(error, psycopg.OperationalError):
                    raise
        raise psycopg.OperationalError("the server ends every connection")

    def _check_version(self, connection: psycopg.Connection[Any]) -> None:
        """Refuse to work with tables that a newer version has changed, which leaves another mark."""
        row = connection.execute(COUNT_MIGRATIONS).fetchone()
        if row and row[0] > self._migrations:
            raise StorageError(
                f"A newer CoEval has changed {self.shown_address} while this one was running: stop this one and start "
                "the newer one. Nothing was written.",
                "CoEval is being updated, so nothing was saved: try again in a moment.",
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of PostgreSQL as ours."""
        try:
            yield
        except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled) as error:
            raise BusyError(
                f"Others wrote to {self.shown_address} for more than {self.patience:g} seconds: try again. Nothing was "
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
            raise self._unusable(error, StorageError) from error
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise self._unusable(error, UnreachableError) from error

    def _unusable(self, error: Exception, kind: type[StorageError]) -> StorageError:
        """The connection may have ended while a commit was on its way: then nobody knows whether it arrived."""
        return kind(
            f"The database {self.shown_address} cannot be used: {_first_line(error)}. What was being written is kept "
            "whole or not at all: see which once the database answers.",
            "The server cannot use the database of the study. What was being saved is kept whole or not at all: "
            f"reload the page to see which. {ASK_OWNER}",
        )

    def ping(self) -> None:
        """Return at once where the database answers, and is what this version knows.

        Raises:
            StorageError: it does not answer, or a newer version has changed it.
        """
        with self._translated():
            connection, _ = self._take(self._readers, "SELECT 1", PING_SECONDS)
            try:
                self._check_version(connection)
            finally:
                self._readers.putconn(connection)

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        adapt(connection.adapters)
        connection.execute(f"SET lock_timeout = {round(1000 * self.patience)}")
        # a server that hangs in the middle of a save gives the others way
        connection.execute(f"SET idle_in_transaction_session_timeout = {round(2000 * self.patience)}")
        if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
            # what was acknowledged survives the end of the database's server
            connection.execute("SET synchronous_commit = on")

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


def _undo(connection: psycopg.Connection[Any]) -> bool:
    """End a transaction that is not to be kept; whether the connection is still of use."""
    try:
        statements_of(connection).run_simple("ROLLBACK")
        return True
    except psycopg.Error:
        connection.close()  # the pool makes another in its place
        return False


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
