"""Changed pages of SQLite's write-ahead log, read while it grows and written to a file.

The log's format is documented (https://www.sqlite.org/fileformat2.html#walformat). A read transaction is
always open, and the next begins before it ends. While a transaction is open, SQLite restarts the log at most
once, and only if everything that was in the log when the transaction began is copied into the file. All of
that has been read by then, so no frame is missed, whoever writes. Frames count once the last one of their
transaction is present and the checksums match, which is how SQLite itself reads them after a crash.

A file of changed pages is stored beside the full copies, and applied to one to get the later state.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from coeval.errors import StorageError
from coeval.store import Store
from coeval.store.engines.sqlite_file import connect, translated

HEADER, FRAME = struct.Struct(">8I"), struct.Struct(">6I")

FOLD_FRAMES = 1000
"""A log with more frames is copied into the file, so that it restarts."""

Sums = tuple[int, int]
Salts = tuple[int, int]


class LostTrackError(StorageError):
    """The log is not the one that was read before; only a full copy of the file helps."""


@dataclass(slots=True)
class Changes:
    """The pages changed since the last read transaction, and the number of pages of the file."""

    page_size: int = 0
    n_pages: int = 0
    pages: dict[int, bytes] = field(default_factory=dict)

    def add(self, later: Changes) -> None:
        if later.pages:
            self.page_size, self.n_pages = later.page_size, later.n_pages
            self.pages.update(later.pages)


class LogTail:
    """Reads the changes of one store since the last read."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._log = store.path.with_name(store.path.name + "-wal")
        self._readers = [connect(store.path, read_only=True) for _ in range(2)]
        self._folder = connect(store.path)
        self._salts: Salts | None = None
        self._frames, self._sums = 0, (0, 0)
        self._folded: tuple[Salts | None, int] = (None, 0)
        self._begin(self._readers[0])
        self.read()  # the preceding full copy contains the existing pages

    def _begin(self, reader: sqlite3.Connection) -> None:
        with translated(self.store.path):
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def read(self) -> Changes:
        """Return the changes since the last read.

        Raises:
            LostTrackError: SQLite restarted the log before all of it was read.
            StorageError: the log cannot be read.
        """
        old, new = self._readers
        self._begin(new)
        try:
            with translated(self._log):
                return self._read_log()
        finally:
            old.execute("ROLLBACK")
            self._readers = [new, old]

    def fold(self) -> Changes:
        """Copy a long log into the file, so that it restarts; return the commits until then."""
        changes, state = Changes(), (self._salts, self._frames)
        if self._frames < FOLD_FRAMES or state == self._folded:
            return changes
        with self.store.write(guarded=False):  # nobody can commit meanwhile, in any process
            changes.add(self.read())
            with translated(self.store.path):
                self._folder.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            # the transaction reads only the file, so that the next writer starts a new log
            self.read()
        self._folded = (self._salts, self._frames)
        return changes

    def close(self) -> None:
        for connection in (*self._readers, self._folder):
            connection.close()

    def _read_log(self) -> Changes:
        with self._log.open("rb") as file:  # SQLite does not lock the log itself: closing it drops no lock
            head = file.read(HEADER.size)
            if len(head) < HEADER.size:
                return Changes()
            magic, _, page_size, _, *salts, first, second = HEADER.unpack(head)
            if (salts[0], salts[1]) != self._salts:
                self._salts, self._frames, self._sums = (salts[0], salts[1]), 0, (first, second)
            elif self._frames:
                self._check_last(file, page_size)
            file.seek(HEADER.size + self._frames * (FRAME.size + page_size))
            return self._read_frames(file, page_size, big_endian=bool(magic & 1))

    def _check_last(self, file: BinaryIO, page_size: int) -> None:
        """Check that the last read frame still exists: the frames of a failed commit are overwritten."""
        file.seek(HEADER.size + (self._frames - 1) * (FRAME.size + page_size))
        if FRAME.unpack(file.read(FRAME.size))[4:] != self._sums:
            raise LostTrackError(f"{self._log} was overwritten: CoEval makes a full copy of the file.")

    def _read_frames(self, file: BinaryIO, page_size: int, *, big_endian: bool) -> Changes:
        changes, part, sums = Changes(page_size), {}, self._sums
        for n, (head, page) in enumerate(_frames(file, page_size), self._frames + 1):
            number, n_pages, *salts, first, second = FRAME.unpack(head)
            sums = add_checksum(sums, head[:8] + page, big_endian=big_endian)
            if (salts[0], salts[1]) != self._salts or sums != (first, second):
                break
            part[number] = page
            if n_pages:  # the last frame of a transaction
                changes.pages.update(part)
                changes.n_pages = n_pages
                self._frames, self._sums = n, sums
                part = {}
        return changes


def _frames(file: BinaryIO, page_size: int) -> Iterator[tuple[bytes, bytes]]:
    size = FRAME.size + page_size
    while len(block := file.read(size)) == size:
        yield block[: FRAME.size], block[FRAME.size :]


@cache
def _weights(n_words: int) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int, int]]:
    """Return the contribution of each word to the two sums, and the factors of earlier sums, modulo 2**32.

    One step of the checksum is s0 += a + s1, s1 += b + s0. This is linear, so the result is a weighted sum of
    the words.
    """
    first, second = [], []
    m00, m01, m10, m11 = 1, 0, 0, 1
    for _ in range(n_words // 2):
        first += [m01, m00 + m01]  # of b, then a: weights are computed from the last word to the first
        second += [m11, m10 + m11]
        m00, m01, m10, m11 = (
            (m00 + m01) % 2**32, (m00 + 2 * m01) % 2**32, (m10 + m11) % 2**32, (m10 + 2 * m11) % 2**32
        )  # fmt: skip
    weights = [np.array([w % 2**32 for w in reversed(each)], dtype=np.uint32) for each in (first, second)]
    return weights[0], weights[1], (m00, m01, m10, m11)


def add_checksum(sums: Sums, data: bytes, *, big_endian: bool) -> Sums:
    """Return the log's checksum of ``data``, continued from ``sums``.

    >>> add_checksum((1, 2), (5).to_bytes(4, "little") + (7).to_bytes(4, "little"), big_endian=False)
    (8, 17)
    """
    words = np.frombuffer(data, dtype=">u4" if big_endian else "<u4").astype(np.uint32)
    first, second, (m00, m01, m10, m11) = _weights(len(words))
    s0 = m00 * sums[0] + m01 * sums[1] + int((first * words).sum(dtype=np.uint32))
    s1 = m10 * sums[0] + m11 * sums[1] + int((second * words).sum(dtype=np.uint32))
    return s0 % 2**32, s1 % 2**32


@dataclass(frozen=True, slots=True)
class PagesHead:
    """The header of a file of changed pages."""

    after: int
    """The number of the snapshot to which the pages belong."""
    page_size: int
    n_pages: int
    numbers: tuple[int, ...]
    submissions: int
    """The submissions up to this id are all in the state."""


def write_pages(path: Path, changes: Changes, *, after: int, submissions: int) -> None:
    """Write a header line of JSON, and the compressed pages."""
    numbers = sorted(changes.pages)
    head = {
        "after": after, "page_size": changes.page_size, "n_pages": changes.n_pages, "numbers": numbers,
        "submissions": submissions,
    }  # fmt: skip
    body = b"".join(changes.pages[number] for number in numbers)
    path.write_bytes(zlib.compress(json.dumps(head).encode() + b"\n" + body, 1))


def read_head(path: Path) -> tuple[PagesHead, bytes]:
    """Return the header of the file, and its pages in sequence.

    Raises:
        StorageError: the file is not of this kind, or is incomplete.
    """
    try:
        first, _, body = zlib.decompress(path.read_bytes()).partition(b"\n")
        head = PagesHead(**json.loads(first))
    except (zlib.error, ValueError, TypeError) as error:
        raise StorageError(f"{path.name} cannot be read: {error}.") from error
    if len(body) != head.page_size * len(head.numbers):
        raise StorageError(f"{path.name} has {len(body)} bytes for {len(head.numbers)} pages.")
    return head, body


def lay_over(database: Path, head: PagesHead, body: bytes) -> None:
    """Apply these pages to a database that no process has open."""
    size = head.page_size
    with database.open("r+b") as file:
        for n, number in enumerate(head.numbers):
            file.seek((number - 1) * size)
            file.write(body[n * size : (n + 1) * size])
        file.truncate(head.n_pages * size)
