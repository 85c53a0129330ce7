"""The connections and transactions of an open SQLite file."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database

from coeval.errors import StorageError, UnreachableError
from coeval.store.engines.sqlite_file import (
    ASK_OWNER,
    Identity,
    can_open,
    can_write,
    connect,
    copy_aside,
    get_identity,
    translated,
)
from coeval.store.steps import (
    APPLIED,
    apply_steps,
    list_applied,
    list_newer,
    list_pending,
    refuse_development,
)

log = logging.getLogger(__name__)

LOG_BYTES = 64_000_000
"""The size to which a log is cut once it starts again; a long reader or an import can make it much larger."""

OUTERMOST = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
NESTED = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))
"""The statements that begin, keep and roll back a nested transaction."""


class Store:
    """One SQLite file: one writing connection behind a lock, and one reading connection per thread.

    WAL lets readers continue during a write; ``synchronous=FULL`` makes a commit survive a power cut. With
    ``read_only``, the file must exist, and is neither migrated nor written to. With ``aside``, for readers, a
    read-only file is copied to a temporary folder and the copy is migrated.
    """

    def __init__(self, path: Path | str, *, read_only: bool = False, aside: bool = False) -> None:
        self.path, self.read_only = Path(path), read_only
        self.shown_address = str(self.path)
        self._aside: tempfile.TemporaryDirectory[str] | None = None
        if (read_only and not can_open(self.path)) or (aside and not can_write(self.path)):
            self._aside = tempfile.TemporaryDirectory(prefix="coeval-read-")
            self.path = copy_aside(self.path, Path(self._aside.name))
        self._log = self.path.with_name(self.path.name + "-wal")
        self._lock = threading.RLock()
        self._closed = False
        self._local = threading.local()
        with translated(self.path):
            self._open()
        self._opened = self._get_identity()
        self.removed: Callable[[], None] = lambda: None
        self.guard: Callable[[], None] = lambda: None
        """Called before every write transaction; raises a StorageError to refuse it."""

    @property
    def address(self) -> str:
        return str(self.path.absolute())

    def _open(self) -> None:
        if self.path.is_file() and self.path.stat().st_size:
            with closing(connect(self.path, read_only=True)) as connection:
                self._refuse_foreign(Database(connection))
        elif self.read_only:
            raise StorageError(f"There is no file {self.path}: name an existing file with --db.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = self._connect()
        if not self.read_only and list_pending(self._writer):
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        """Run all missing steps, or none; other starting processes wait."""
        self._writer.conn.execute("BEGIN IMMEDIATE")
        with self._writer.conn:
            if not self._aside:
                self._keep_earlier()
            apply_steps(self._writer)

    def _keep_earlier(self) -> None:
        """Copy a file of an earlier version before a migration; that version cannot open a newer file."""
        pending = list_pending(self._writer)
        if not pending or not self._writer.table_names():
            return
        copy = self.path.with_name(f"{self.path.name}.before-{pending[0].name}")
        if not copy.exists():
            self.backup(copy)
            log.warning(
                "%s was written by an earlier CoEval and is now updated. To go back, stop CoEval and replace it "
                "by %s, a copy of the earlier file. coeval/CHANGELOG.md lists the changes.",
                self.path,
                copy,
            )

    def _connect(self) -> Database:
        connection = connect(self.path, read_only=self.read_only)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(f"PRAGMA journal_size_limit={LOG_BYTES}")
        connection.execute("PRAGMA foreign_keys=ON")
        return Database(connection)

    def _refuse_foreign(self, db: Database) -> None:
        """Refuse files of other programs, and of newer versions of CoEval."""
        tables = db.table_names()
        if (tables or self.read_only) and APPLIED not in tables:
            raise StorageError(
                f"{self.path} is the database of another program: choose another file with --db."
            )
        refuse_development(list_applied(db), str(self.path))
        newer = list_newer(db)
        if newer:
            raise StorageError(
                f"{self.path} was written by a newer CoEval (it has {newer[-1]}). Update CoEval, or choose another "
                f"file with --db. The newer CoEval also left a copy beside it: {self.path.name}.before-…"
            )

    def _get_identity(self) -> tuple[Identity | None, Identity | None]:
        return get_identity(self.path), None if self.read_only else get_identity(self._log)

    def check_place(self) -> None:
        """Refuse to work on a file that no longer has its name, because nobody would find the data again.

        Raises:
            StorageError: the file, or the log of its latest changes, was moved, deleted or replaced since it
                was opened; or the store is closed (``UnreachableError``).
        """
        if self._closed:
            raise UnreachableError(
                f"{self.path} is closed, because CoEval is stopping: nothing more is saved. Start it again."
            )
        # a log that was missing at first, as on some file systems, proves nothing
        if any(old not in (None, new) for old, new in zip(self._opened, self._get_identity(), strict=True)):
            raise StorageError(
                f"{self.path} was moved, deleted or replaced while CoEval was running: CoEval saves "
                "nothing more. Restore the file with the one beside it that ends in -wal, or restart "
                "CoEval to use the file that is there now.",
                f"The file of the study was moved, deleted or replaced: nothing more is saved. {ASK_OWNER}",
            )

    @contextmanager
    def write(self, *, guarded: bool = True) -> Iterator[Database]:
        """Open a transaction on the newest state. All its changes are kept, or none.

        A transaction inside another of the same thread is nested: it can be undone alone, but is kept only
        with the outer one.

        Raises:
            BusyError: another program locks the file for too long; nothing was written.
            StorageError: the file is full, read-only, or no longer in its place; nothing was written.
        """
        with self._lock, translated(self.path):
            inside = not self._closed and self._writer.conn.in_transaction
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
                # a full disk has already ended the transaction
                if self._writer.conn.in_transaction:
                    for statement in undo:
                        self._writer.conn.execute(statement)
                raise
            finally:
                self._local.writing = inside
            if not inside:
                # a commit to a file without a name is lost, so it must not be acknowledged
                self.check_place()

    @contextmanager
    def read(self) -> Iterator[Database]:
        """Open a consistent view of the current file, or of an open transaction's own state.

        Raises:
            StorageError: the file cannot be read, or is no longer in its place.
        """
        if getattr(self._local, "writing", False):
            yield self._writer
            return
        db = getattr(self._local, "db", None)
        if db is not None and db.conn.in_transaction:
            yield db  # part of an open read transaction
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
        """Return at once if the file can be read.

        Raises:
            StorageError: it cannot be read.
        """
        with self.read():
            pass

    def backup(self, target: Path) -> None:
        """Write a consistent copy of the file while others continue to read and write.

        The copy gets its name only when it is complete. The file is checked for damage once a day, not here.

        Raises:
            StorageError: the copy cannot be written; no file with its name remains.
        """
        partial = target.with_name(target.name + ".part")
        try:
            with translated(target):
                self._copy(partial)
                _sync(partial)
                os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    def _copy(self, target: Path) -> None:
        target.unlink(missing_ok=True)
        with closing(connect(target)) as copy:
            with translated(self.path), closing(connect(self.path, read_only=True)) as source:
                source.backup(copy)
            # one file without a log
            copy.execute("PRAGMA journal_mode=DELETE")

    def close(self) -> None:
        """Close the file after the transaction under way; later ones of other threads are refused.

        A worker may outlive the server that stops, and SQLite ends the process if the file is closed while a
        thread uses it.
        """
        with self._lock:
            self._closed = True
            self._writer.conn.close()
        if getattr(self._local, "db", None) is not None:
            self._local.db.conn.close()
            self._local.db = None
        if self._aside:
            self._aside.cleanup()


def _sync(path: Path) -> None:
    """Flush the file to disk, so that its name never refers to pages that a power cut removes."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
