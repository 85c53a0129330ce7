"""Changed pages as a file: written beside the whole copies, and laid over one to get the later state."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path

from coeval.errors import StorageError
from coeval.store.snapshots.log_tail import Changes


@dataclass(frozen=True, slots=True)
class PagesHead:
    """What a file of changed pages says of itself."""

    after: int
    """The number of the snapshot that it is to be laid over."""
    page_size: int
    n_pages: int
    numbers: tuple[int, ...]
    submissions: int
    """The highest id of a submission that the state holds at least."""


def write_pages(path: Path, changes: Changes, *, after: int, submissions: int) -> None:
    """Write a line of JSON, and the pages, compressed."""
    numbers = sorted(changes.pages)
    head = {
        "after": after, "page_size": changes.page_size, "n_pages": changes.n_pages, "numbers": numbers,
        "submissions": submissions,
    }  # fmt: skip
    body = b"".join(changes.pages[number] for number in numbers)
    path.write_bytes(zlib.compress(json.dumps(head).encode() + b"\n" + body, 1))


def read_head(path: Path) -> tuple[PagesHead, bytes]:
    """What the file says of itself, and its pages one after the other.

    Raises:
        StorageError: it is not such a file, or a part of it is missing.
    """
    try:
        first, _, body = zlib.decompress(path.read_bytes()).partition(b"\n")
        head = PagesHead(**json.loads(first))
    except (zlib.error, ValueError, TypeError) as error:
        raise StorageError(f"{path.name} cannot be read: {error}.") from error
    if len(body) != head.page_size * len(head.numbers):
        raise StorageError(f"{path.name} holds {len(body)} bytes of {len(head.numbers)} pages.")
    return head, body


def lay_over(database: Path, head: PagesHead, body: bytes) -> None:
    """Bring a database that nobody has open to the state of these pages."""
    size = head.page_size
    with database.open("r+b") as file:
        for n, number in enumerate(head.numbers):
            file.seek((number - 1) * size)
            file.write(body[n * size : (n + 1) * size])
        file.truncate(head.n_pages * size)
