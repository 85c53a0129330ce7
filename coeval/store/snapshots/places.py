"""Snapshot places: the names of their files, the interface of a place, and the server that uses it.

``coeval-LINEAGE-TERM-NUMBER-TIME-HASH.db`` is a full copy, ``.pages`` has the changes since the file before
it. A lineage is one database and its later states. Each server that takes over a place begins a new term, so
files of a server that was replaced without its knowledge never rank as newer. The order does not depend on
clocks.

A place also holds the lease of its server: a file for each term, which only one server can create. The holder
changes its file regularly; if the file stays the same for long, the holder is gone. Others observe the holder
to see whether it is alive and never compare clocks; on the same machine, they check its process.
"""

from __future__ import annotations

import os
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from coeval.clock import now, utc_now
from coeval.errors import StorageError

# The names of snapshots: the type of each file, their order, and the files to delete.

NAME = re.compile(
    r"coeval-(?P<lineage>[0-9a-f]{16})-(?P<term>\d{6,15})-(?P<number>\d{10})-"
    r"(?P<time>\d{8}T\d{9}Z)-(?P<hash>[0-9a-f]{16})\.(?P<kind>db|pages)"
)

KEEP_LAST, KEEP_DAYS = 12, 30
"""The number of the newest full copies, and the days for which any but the newest is kept."""
KEEP_CHAINS = 3
"""The number of full copies, and of terms, whose changed pages are kept."""


@dataclass(frozen=True, slots=True, order=True)
class Snapshot:
    """A file in a place. Later snapshots sort higher."""

    term: int
    number: int
    """The number of checks that found changes; within a term, the same number means the same state."""
    time: str
    """The time in the file name: 20260131T093000000Z."""
    lineage: str
    hash: str
    whole: bool
    name: str

    @property
    def taken_at(self) -> str:
        """Return the time in the format of the tables."""
        t = self.time
        return f"{t[:4]}-{t[4:6]}-{t[6:8]}T{t[9:11]}:{t[11:13]}:{t[13:15]}.{t[15:18]}Z"


def render_name(lineage: str, term: int, number: int, moment: datetime, digest: str, *, whole: bool) -> str:
    time = moment.strftime("%Y%m%dT%H%M%S%f")[:-3] + "Z"
    return f"coeval-{lineage}-{term:06}-{number:010}-{time}-{digest}.{'db' if whole else 'pages'}"


def parse_name(name: str) -> Snapshot | None:
    """Return the snapshot that a file name describes; None if the file is no snapshot.

    >>> parse_name("coeval-0123456789abcdef-000001-0000000007-20260131T093000000Z-0123456789abcdef.db").taken_at
    '2026-01-31T09:30:00.000Z'
    """
    if match := NAME.fullmatch(name):
        term, number = int(match["term"]), int(match["number"])
        whole = match["kind"] == "db"
        return Snapshot(term, number, match["time"], match["lineage"], match["hash"], whole, name)
    return None


def parse_names(names: Iterable[str]) -> list[Snapshot]:
    """Return the snapshots among these files, newest first."""
    return sorted((snapshot for name in names if (snapshot := parse_name(name))), reverse=True)


def choose_drops(names: Iterable[str], moment: datetime | None = None) -> Sequence[str]:
    """Return the snapshots to delete at a moment, by default now. Each lineage is thinned separately.

    Of each lineage, the newest full copy and the pages changed since then always stay. Older files go after thirty
    days, because they contain the data of people who were removed. Until then, twelve full copies and the newest one
    of each day are kept, and, for the latest terms, the pages changed since the last few full copies.
    """
    drops: list[str] = []
    oldest = ((moment or utc_now()) - timedelta(days=KEEP_DAYS)).strftime("%Y%m%dT%H%M%S%f")[:-3] + "Z"
    by_lineage = sorted(parse_names(names), key=lambda snapshot: snapshot.lineage)
    for _, group in groupby(by_lineage, key=lambda snapshot: snapshot.lineage):
        newest_first = sorted(group, reverse=True)
        whole = [snapshot for snapshot in newest_first if snapshot.whole]
        newest_of_day = {snapshot.time[:8]: snapshot for snapshot in reversed(whole)}
        kept = {*whole[:KEEP_LAST], *newest_of_day.values()}
        since = _begin_of_chains(whole)
        for snapshot in newest_first:
            if whole and snapshot >= whole[0] and snapshot.term == whole[0].term:
                continue
            in_chain = snapshot.term in since and snapshot.number > since[snapshot.term]
            if snapshot.time < oldest or not (snapshot in kept if snapshot.whole else in_chain):
                drops.append(snapshot.name)
    return drops


def _begin_of_chains(whole: Sequence[Snapshot]) -> dict[int, int]:
    """Return the first snapshot number of each of the latest terms whose changed pages are kept."""
    terms = sorted({snapshot.term for snapshot in whole}, reverse=True)[:KEEP_CHAINS]
    return {
        term: [snapshot.number for snapshot in whole if snapshot.term == term][:KEEP_CHAINS][-1]
        for term in terms
    }


LEASE = re.compile(r"coeval-term-(\d{6,15})\.(lease|free)")
P = ParamSpec("P")
T = TypeVar("T")


class PassingError(StorageError):
    """A place does not answer properly at the moment; a retry may work."""


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a place's lease."""

    term: int
    """The term; 0 before the first server."""
    beat: str
    """A value that changes while the holder is alive."""
    free: bool
    """True if the holder has released the place."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between changes and between checks, and the silence after which a holder counts as gone."""

    ship_seconds: float
    promised_seconds: float
    look_seconds: float
    beat_seconds: float
    silent_seconds: float
    ships_are_beats: bool


class Place(Protocol):
    """A place for snapshots; ``title`` is its name in messages. Failures are StorageErrors."""

    title: str
    pace: Pace

    def open(self, *, create: bool = False) -> None:
        """Check that the place can be used; ``create`` creates it if it does not exist.

        Raises:
            StorageError: the place does not exist, and ``create`` is not set, because a missing disk looks
                like a new place.
        """

    def list_names(self) -> list[str]: ...

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]] | None) -> None:
        """Store a file, and delete those that ``choose_drops`` selects; None deletes nothing."""

    def prune(self, choose_drops: Callable[[list[str]], Sequence[str]]) -> None:
        """Delete the files that ``choose_drops`` selects."""

    def get(self, name: str, target: Path) -> None: ...

    def look(self) -> Look: ...

    def get_holder(self, term: int) -> Mapping[str, str]: ...

    def take(self, term: int, holder: Mapping[str, str]) -> bool:
        """Begin a term; return False if another server has begun it first."""

    def beat(self, term: int, holder: Mapping[str, str]) -> None: ...

    def release(self, term: int) -> None: ...


def lease_name(term: int, *, free: bool = False) -> str:
    return f"coeval-term-{term:06}.{'free' if free else 'lease'}"


def read_terms(names: Sequence[str]) -> tuple[int, bool]:
    """Return the latest term of a place, and whether it was released.

    >>> read_terms(["coeval-term-000001.lease", "coeval-term-000002.lease", "coeval-term-000002.free"])
    (2, True)
    """
    terms = [(int(match[1]), match[2] == "free") for name in names if (match := LEASE.fullmatch(name))]
    return max(terms, default=(0, True))


def patiently(patience: float, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Repeat an action after temporary failures, with growing pauses, for this number of seconds.

    Raises:
        StorageError: the failure is permanent, or lasts longer than ``patience``.
    """
    until, pause = time.monotonic() + patience, 0.5
    while True:
        try:
            return act(*args, **kwargs)
        except PassingError:
            if time.monotonic() + pause > until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 15.0)


# One server at a time uses a place: waiting for the previous server, and beginning a term.

LOOK_SECONDS = 1.0
MOST_TRIES = 20
"""The number of tries to begin a term; each fails if another server is faster."""


def describe_holder() -> dict[str, str]:
    """Return a description of this process, by which other servers recognise it."""
    return {
        "id": uuid.uuid4().hex,
        "host": socket.gethostname(),
        "pid": str(os.getpid()),
        "machine": _read_machine(),
        "begun": _read_begin(os.getpid()),
        "since": now(),
    }


def _read_machine() -> str:
    """Return an id that is equal only if process numbers are comparable: this boot, and its namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _read_begin(pid: int) -> str:
    """Return the start of a process in the kernel's ticks; empty if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_gone(holder: Mapping[str, str]) -> bool:
    """Return whether the holder, a process of this machine, is known to have ended."""
    machine, pid = holder.get("machine", ""), holder.get("pid", "")
    if not machine or machine != _read_machine() or not pid.isdigit():
        return False
    return not holder.get("begun") or _read_begin(int(pid)) != holder["begun"]


def take_places(
    places: Sequence[Place],
    holder: Mapping[str, str],
    list_snapshots: Callable[[], Sequence[Snapshot]],
    on_wait: Callable[[str], None],
    patience: float,
) -> int:
    """Begin a new term in all places after the previous server has stopped; return its number.

    Raises:
        StorageError: a place does not answer, cannot be written to, or refuses every term.
    """
    for _ in range(MOST_TRIES):
        looks = [_wait_for(place, on_wait, patience) for place in places]
        # leases may have been deleted, but the existing files were written in earlier terms
        term = (
            max([look.term for look in looks] + [snapshot.term for snapshot in list_snapshots()], default=0)
            + 1
        )
        if all(patiently(patience, place.take, term, holder) for place in places):
            return term
        on_wait(
            f"Another server has begun term {term} of the snapshots at this moment: this one tries the next."
        )
        time.sleep(LOOK_SECONDS / 10)
    raise StorageError(
        f"The snapshot places refuse term {term}, in {MOST_TRIES} tries: delete the files that begin with "
        "“coeval-term-” there, once no server uses them."
    )


def _wait_for(place: Place, on_wait: Callable[[str], None], patience: float) -> Look:
    """Wait until no other server uses the place."""
    last, since = patiently(patience, place.look), time.monotonic()
    while last.term and not last.free:
        holder = patiently(patience, place.get_holder, last.term)
        if is_gone(holder) or time.monotonic() - since > place.pace.silent_seconds:
            break
        on_wait(
            f"Another CoEval ({holder.get('host', 'unknown')}, process {holder.get('pid', '?')}) uses the "
            f"{place.title}: this one waits until it stops, and continues from its last state."
        )
        time.sleep(min(LOOK_SECONDS, place.pace.look_seconds))
        look = patiently(patience, place.look)
        if look != last:
            last, since = look, time.monotonic()
    return last
