"""Snapshots of the file: consistent copies, their names, the newest good one, and coming back from it.

A name holds the time and the start of the content's SHA-256: what was cut short on its way is known by it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from coeval.clock import now, utc_now
from coeval.errors import StorageError
from coeval.store import Store
from coeval.store.engines.files import connect, is_damaged, translated
from coeval.store.engines.statements import insert, rows
from coeval.store.snapshots.shelves import Shelf

NAME = re.compile(r"coeval-(\d{8}T\d{6}\d{3}Z)-([0-9a-f]{16})\.db")
KEEP_LAST = 12
KEEP_DAYS = 30


@dataclass(frozen=True, slots=True)
class Restoration:
    """A coming back: from where, from which snapshot, of when."""

    source: str
    name: str
    taken_at: str
    restored_at: str


def copy_file(store: Store, target: Path) -> str:
    """Write a consistent copy of the live file; gives its name on a shelf.

    Raises:
        StorageError: the copy is not sound, or the disk is full; the live file is untouched.
    """
    store.backup(target)
    stamp = utc_now().strftime("%Y%m%dT%H%M%S%f")[:-3] + "Z"
    return f"coeval-{stamp}-{hash_file(target)}.db"


def hash_file(path: Path) -> str:
    """The first 16 hexadecimal digits of the content's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def is_sound(path: Path) -> bool:
    """Whether a file is a whole database of ours.

    Raises:
        StorageError: the file is locked or cannot be opened, so that nobody knows.
    """
    if is_damaged(path):
        return False
    with translated(path), closing(connect(path, read_only=True)) as connection:
        return "task" in Database(connection).table_names()


def sort_names(names: Iterable[str]) -> list[str]:
    """Those that are names of snapshots, newest first."""
    return sorted((name for name in names if NAME.fullmatch(name)), reverse=True)


def time_of(name: str) -> str:
    """When a snapshot was taken, as the tables write times.

    >>> time_of("coeval-20260131T093000000Z-0123456789abcdef.db")
    '2026-01-31T09:30:00.000Z'
    """
    found = NAME.fullmatch(name)
    assert found is not None
    t = found[1]
    return f"{t[:4]}-{t[4:6]}-{t[6:8]}T{t[9:11]}:{t[11:13]}:{t[13:15]}.{t[15:18]}Z"


def choose_drops(names: Iterable[str]) -> Sequence[str]:
    """Which snapshots go: all but the newest twelve and the newest of each of the last thirty days."""
    known = sort_names(names)
    newest_of_day = {name[7:15]: name for name in reversed(known)}
    days = sorted(newest_of_day, reverse=True)[:KEEP_DAYS]
    kept = {*known[:KEEP_LAST], *(newest_of_day[day] for day in days)}
    return [name for name in known if name not in kept]


def restore_newest(path: Path, shelves: Sequence[Shelf]) -> Restoration | None:
    """Bring the newest good snapshot back, where there is no live file; None where nothing was brought.

    A live file is never replaced by a snapshot, however old it looks: it holds what was acknowledged last. A
    damaged one is put aside under another name, for a snapshot or an empty file to take its place.

    Raises:
        StorageError: no place could be asked, so that nobody knows whether there is a snapshot: starting
            with an empty file would hide the study's data behind it.
    """
    if path.exists() and (not path.stat().st_size or not is_damaged(path)):
        return None
    _put_aside(path)
    found, failures = _list_all(shelves)
    if failures and not found:
        raise StorageError(f"{' '.join(failures)} CoEval does not start with an empty file while this is so.")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    for name, shelf in sorted(found, key=lambda pair: pair[0], reverse=True):
        if _fetch(shelf, name, partial):
            os.replace(partial, path)
            return Restoration(shelf.title, name, time_of(name), now())
    partial.unlink(missing_ok=True)
    if found:
        raise StorageError(
            f"None of the {len(found)} snapshots is good: look at {', '.join(s.title for s in shelves)}."
        )
    return None


def _list_all(shelves: Sequence[Shelf]) -> tuple[list[tuple[str, Shelf]], list[str]]:
    found: list[tuple[str, Shelf]] = []
    failures = []
    for shelf in shelves:
        try:
            found += [(name, shelf) for name in sort_names(shelf.list_names())]
        except StorageError as error:
            failures.append(str(error))
    return found, failures


def _fetch(shelf: Shelf, name: str, target: Path) -> bool:
    """Whether the snapshot arrived whole and sound."""
    match = NAME.fullmatch(name)
    try:
        shelf.get(name, target)
    except StorageError:
        return False
    return match is not None and hash_file(target) == match[2] and is_sound(target)


def _put_aside(path: Path) -> None:
    """Move the file and its log away, if there are any: an old log must never be applied to another file."""
    stamp = utc_now().strftime("%Y%m%dT%H%M%SZ")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            os.replace(part, path.with_name(f"{path.name}.damaged-{stamp}{suffix}"))


def record_restoration(db: Database, one: Restoration) -> None:
    insert(
        db,
        "restoration",
        source=one.source,
        name=one.name,
        taken_at=one.taken_at,
        restored_at=one.restored_at,
    )


def list_restorations(db: Database) -> list[Restoration]:
    """Every coming back of this file, the latest first."""
    sql = "SELECT source, name, taken_at, restored_at FROM restoration ORDER BY id DESC"
    return [Restoration(**row) for row in rows(db, sql)]
