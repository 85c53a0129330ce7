"""One SQLite file, open: its connections and transactions."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from coeval.errors import StorageError
from coeval.store.engines.files import (
    ASK_OWNER,
    UNUSABLE,
    Identity,
    connect,
    get_identity,
    is_damaged,
    translated,
)
from coeval.store.engines.light import Database
from coeval.store.migrations.registry import migrations

OUTERMOST = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
NESTED = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))
"""How a transaction begins, is kept, and is undone."""


class Store:
    """One SQLite file: one writing connection behind a lock, one reading connection a thread.

    WAL lets readers go on while somebody writes; ``synchronous=FULL`` makes a commit survive a power cut.
    With ``read_only`` the file must be there and is left as it is: nothing is migrated, nothing written.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self.path, self.read_only = Path(path), read_only
        self._log = self.path.with_name(self.path.name + "-wal")
        self._lock = threading.RLock()
        self._local = threading.local()
        with translated(self.path):
            self._open()
        self._opened = self._get_identity()
        self.guard: Callable[[], None] = lambda: None
        """Asked before every transaction that writes; raises a StorageError where none may begin."""

    @property
    def address(self) -> str:
        return str(self.path.absolute())

    @property
    def shown_address(self) -> str:
        return str(self.path)

    def _open(self) -> None:
        if self.path.is_file() and self.path.stat().st_size:
            with closing(connect(self.path, read_only=True)) as connection:
                self._refuse_foreign(Database(connection))
        elif self.read_only:
            raise StorageError(f"There is no file {self.path}: name an existing one with --db.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = self._connect()
        if not self.read_only:
            migrations.apply(self._writer)

    def _connect(self) -> Database:
        connection = connect(self.path, read_only=self.read_only)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return Database(connection)

    def _refuse_foreign(self, db: Database) -> None:
        """Leave the files of other programs, and of newer versions of this one, as they are."""
        tables = db.table_names()
        if (tables or self.read_only) and migrations.migrations_table not in tables:
            raise StorageError(
                f"{self.path} is a database of another program: choose another file with --db."
            )
        known = {m.name for m in migrations.pending(Database(memory=True))}
        newer = [m.name for m in migrations.applied(db) if m.name not in known]
        if newer:
            raise StorageError(
                f"{self.path} was written by a newer CoEval (it has {newer[-1]}): update CoEval, or choose "
                "another file with --db."
            )

    def _get_identity(self) -> tuple[Identity | None, Identity | None]:
        return get_identity(self.path), None if self.read_only else get_identity(self._log)

    def check_place(self) -> None:
        """Refuse to work on a file that nobody will find again.

        Raises:
            StorageError: the file, or the log of its latest changes, was moved, deleted or replaced since it was
                opened.
        """
        # a log that was not there at first, as where a file system has none, tells nothing
        if any(old not in (None, new) for old, new in zip(self._opened, self._get_identity(), strict=True)):
            raise StorageError(
                f"{self.path} was moved, deleted or replaced while CoEval was running: nothing more is saved. Put "
                "the file back with the one beside it that ends in -wal, or restart CoEval to work on what is "
                "there now.",
                f"The file of the study was moved, deleted or replaced: nothing more is saved. {ASK_OWNER}",
            )

    @contextmanager
    def write(self, *, guarded: bool = True) -> Iterator[Database]:
        """A transaction that sees and changes the newest state: all of it is kept, or none.

        Inside another of the same thread it is a part of that: undone by itself, kept only with the whole.

        Raises:
            BusyError: another program holds the file for too long; nothing was written.
            StorageError: the file is full or read-only, or no longer in its place; nothing was written.
        """
        with self._lock, translated(self.path):
            inside = self._writer.conn.in_transaction
            begin, keep, undo = NESTED if inside else OUTERMOST
            if not inside:
                self.check_place()
                if guarded:
                    self.guard()
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
            if not inside:
                # a commit into a file that lost its name is no save: it must not be acknowledged
                self.check_place()

    @contextmanager
    def read(self) -> Iterator[Database]:
        """A consistent view of the file as it stands now, or as one's own transaction has left it.

        Raises:
            StorageError: the file cannot be read, or it is no longer in its place.
        """
        if getattr(self._local, "writing", False):
            yield self._writer
            return
        db = getattr(self._local, "db", None)
        if db is not None and db.conn.in_transaction:
            yield db  # a part of a longer reading
            return
        with translated(self.path):
            self.check_place()
            if db is None:
                db = self._local.db = self._connect()
            db.conn.execute("BEGIN")
            try:
                yield db
            finally:
                db.conn.execute("ROLLBACK")

    def ping(self) -> None:
        """Return at once where the file can be read.

        Raises:
            StorageError: it cannot.
        """
        with self.read():
            pass

    def backup(self, target: Path) -> None:
        """Write a consistent copy of the file, while others go on reading and writing.

        The copy appears under its name once it is whole and found sound.

        Raises:
            StorageError: the copy cannot be written, or it is damaged; nothing stands under its name.
        """
        partial = target.with_name(target.name + ".part")
        try:
            with translated(target):
                self._copy(partial)
                if is_damaged(partial):
                    raise StorageError(
                        f"The copy of {self.path} is damaged, so it was not kept: run “python -m coeval check” and "
                        "look at the disk.",
                        UNUSABLE,
                    )
                _sync(partial)
                os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    def _copy(self, target: Path) -> None:
        target.unlink(missing_ok=True)
        with closing(connect(target)) as copy:
            with translated(self.path), closing(connect(self.path, read_only=True)) as source:
                source.backup(copy)
            # one file, that needs no log beside it
            copy.execute("PRAGMA journal_mode=DELETE")

    def close(self) -> None:
        self._writer.conn.close()
        if getattr(self._local, "db", None) is not None:
            self._local.db.conn.close()
            self._local.db = None


def _sync(path: Path) -> None:
    """Wait until the disk has the file: a name must not come to stand for pages that a power cut takes."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
