"""The file on disk: open it, recognise it, and explain its errors.

A file is damaged only if SQLite says so (SQLITE_CORRUPT, SQLITE_NOTADB; https://www.sqlite.org/rescode.html).
A file that is locked, cannot be opened or cannot grow is sound, so nothing may replace it.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from coeval.errors import BusyError, DamagedError, StorageError

DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
BUSY_SECONDS = 30.0
"""Seconds to wait for another program's lock."""

NO_ROOM = 1_000_000
"""The number of free bytes below which a disk counts as full."""

ASK_OWNER = "Tell the owner of the study; the server's log has the details."
UNUSABLE = f"The server cannot use the file of the study, so nothing was saved. {ASK_OWNER}"
FULL = f"The server's disk is full, so nothing was saved. {ASK_OWNER}"
LOCKED = "Another program is using the study's file, so nothing was saved: try again in a moment."
"""The message for people on the web; the log names the file."""

Identity = tuple[int, int]


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Return a connection; ``read_only`` neither creates nor changes a file.

    The address is escaped, so folder names may contain ``#``, ``?`` and ``%``.
    """
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def can_write(path: Path) -> bool:
    """Return whether a file and its log are writable; True if the file does not exist."""
    effective = os.access in os.supports_effective_ids
    paths = (path, path.parent)
    return not path.is_file() or all(os.access(place, os.W_OK, effective_ids=effective) for place in paths)


def can_open(path: Path) -> bool:
    """Return whether SQLite can open a file as it is.

    A file with a log (WAL) in a read-only folder cannot be opened, because SQLite cannot create the index of
    the log.
    """
    if can_write(path):
        return True
    try:
        with closing(connect(path, read_only=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        )
    return True


def copy_aside(path: Path, folder: Path) -> Path:
    """Copy a read-only file with the log of its latest changes, and return the copy's path.

    Raises:
        StorageError: there is not enough space.
    """
    copy = folder / path.name
    with translated(copy):
        if can_open(path):  # another process may be writing to it
            with closing(connect(path, read_only=True)) as source, closing(connect(copy)) as target:
                source.backup(target)
        else:
            for ending in ("", "-wal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
    return copy


def is_damaged(path: Path, *, whole: bool = True) -> bool:
    """Return whether SQLite finds damage in the whole file or, without ``whole``, in its header and schema.

    Raises:
        StorageError: the file is locked or cannot be opened, so damage cannot be ruled out.
    """
    try:
        with translated(path), closing(connect(path, read_only=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return whole and connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok"
    except DamagedError:
        return True


def get_identity(path: Path) -> Identity | None:
    """Return the identity of a file (device, inode), which reveals a replacement; None if it does not exist."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and of the operating system into CoEval's.

    Raises:
        DamagedError: the file is damaged, or not a database.
        BusyError: another program locks it for too long.
        StorageError: it is full, read-only, or cannot be opened.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise explain(path, error) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _full(path) from error
        raise StorageError(
            f"{path} cannot be opened: {error.strerror}. Choose another --db.", UNUSABLE
        ) from error


def explain(path: Path, error: sqlite3.Error) -> StorageError:
    """Explain a SQLite error to an operator. The explanation depends on the error's code, not on its message."""
    # the low byte is the kind; errors of Python's own module have no code
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in DAMAGE:
        return DamagedError(
            f"{path} is not a CoEval database, or it is damaged: restore a backup or choose another --db.",
            UNUSABLE,
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyError(
            f"{path} was locked by another program for more than {BUSY_SECONDS:g} seconds: close that one, or wait "
            "until it is done, and try again. Nothing was written.",
            LOCKED,
        )
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _has_no_room(path.parent)):
        return _full(path)
    if code == sqlite3.SQLITE_READONLY:
        return StorageError(
            f"{path} is read-only: change its permissions or choose another file with --db.", UNUSABLE
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        return StorageError(
            f"{path} cannot be opened: check that its folder exists and can be written to.", UNUSABLE
        )
    return StorageError(f"{path}: {error}. Nothing was written.", UNUSABLE)


def _full(path: Path) -> StorageError:
    """Return the error for a full disk, which may be the disk with the temporary folder."""
    temporary = Path(tempfile.gettempdir())
    if _has_no_room(temporary) and not _has_no_room(path.parent):
        return StorageError(
            f"The disk that holds the temporary files in {temporary} is full: free some space there, or set TMPDIR "
            f"to another folder, and try again. Nothing was written to {path}.",
            FULL,
        )
    return StorageError(
        f"The disk that holds {path} is full: free some space and try again. Nothing was written.", FULL
    )


def _has_no_room(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < NO_ROOM
    except OSError:
        return False
