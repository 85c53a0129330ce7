"""The database file: the only importer of sqlite_utils and the only home of SQL.

A use case opens one transaction and calls the functions of the modules here, which take the open
``Database`` and give domain objects::

    with store.write() as db:
        tasks.add_task(db, task)
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coeval.errors import StorageError
from coeval.store.engines.light import Database
from coeval.store.migrations.registry import migrations

__all__ = ["Database", "Store"]

BUSY_SECONDS = 30.0
OUTERMOST = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
NESTED = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))
"""How a transaction begins, is kept, and is undone."""


class Store:
    """One SQLite file: one writing connection behind a lock, one reading connection a thread.

    WAL lets readers go on while somebody writes; ``synchronous=FULL`` makes a commit survive a power cut.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        self._local = threading.local()
        with self._translated():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._connect()
            self._migrate()

    def _connect(self) -> Database:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        return Database(connection)

    def _migrate(self) -> None:
        known = {m.name for m in migrations.pending(Database(memory=True))}
        newer = [m.name for m in migrations.applied(self._writer) if m.name not in known]
        if newer:
            raise StorageError(
                f"{self.path} was written by a newer CoEval (it has {newer[-1]}): update CoEval, or choose "
                "another file with --db."
            )
        with self._lock:
            migrations.apply(self._writer)

    @contextmanager
    def write(self) -> Iterator[Database]:
        """A transaction that sees and changes the newest state: all of it is kept, or none.

        Inside another of the same thread it is a part of that: undone by itself, kept only with the whole.

        Raises:
            StorageError: the file is locked, full or read-only; nothing was written.
        """
        with self._lock, self._translated():
            inside = self._writer.conn.in_transaction
            begin, keep, undo = NESTED if inside else OUTERMOST
            self._writer.conn.execute(begin)
            self._local.writing = True
            try:
                yield self._writer
                self._writer.conn.execute(keep)
            except BaseException:
                # a full disk has ended the transaction already
                if self._writer.conn.in_transaction:
                    for statement in undo:
                        self._writer.conn.execute(statement)
                raise
            finally:
                self._local.writing = inside

    @contextmanager
    def read(self) -> Iterator[Database]:
        """A consistent view of the file as it stands now, or as one's own transaction has left it."""
        if getattr(self._local, "writing", False):
            yield self._writer
            return
        db = getattr(self._local, "db", None)
        with self._translated():
            if db is None:
                db = self._local.db = self._connect()
            db.conn.execute("BEGIN")
            try:
                yield db
            finally:
                db.conn.execute("ROLLBACK")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            raise StorageError(_explain(self.path, error)) from error
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be opened: {error.strerror}. Choose another --db."
            ) from error

    def backup(self, target: Path) -> None:
        """Write a consistent copy of the file, while others go on reading and writing."""
        with self._translated():
            source, copy = sqlite3.connect(self.path), sqlite3.connect(target)
            try:
                source.backup(copy)
            finally:
                source.close()
                copy.close()

    def close(self) -> None:
        self._writer.conn.close()
        if getattr(self._local, "db", None) is not None:
            self._local.db.conn.close()
            self._local.db = None


def _explain(path: Path, error: sqlite3.DatabaseError) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"{path} is locked by another program: close it and try again. Nothing was written."
    if "full" in text:
        return f"The disk that holds {path} is full: free some space and try again. Nothing was written."
    if "readonly" in text or "read-only" in text:
        return f"{path} is read-only: change its permissions or choose another file with --db."
    if "not a database" in text or "malformed" in text:
        return f"{path} is not a CoEval database, or it is damaged: restore a backup or choose another --db."
    if "unable to open" in text:
        return f"{path} cannot be opened: check that its folder exists and can be written to."
    return f"{path}: {text}. Nothing was written."
