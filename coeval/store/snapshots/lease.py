"""One server at a time serves from a place: waiting for the one before, and beginning a term.

Whether a holder is alive is judged by what it does while one looks on, never by comparing clocks; on the same
machine, by its process.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from coeval.clock import now
from coeval.store.snapshots.names import Snapshot
from coeval.store.snapshots.places import Look, Place, patiently

LOOK_SECONDS = 1.0


def describe_holder() -> dict[str, str]:
    """This process, for others to know it by."""
    return {
        "id": uuid.uuid4().hex,
        "host": socket.gethostname(),
        "pid": str(os.getpid()),
        "machine": _read_machine(),
        "begun": _read_begin(os.getpid()),
        "since": now(),
    }


def _read_machine() -> str:
    """What is the same only where process numbers mean the same: this start of this machine, and its namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _read_begin(pid: int) -> str:
    """When a process began, in the kernel's ticks; empty where there is none of that number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_gone(holder: Mapping[str, str]) -> bool:
    """Whether the holder is known to have ended: only of a process of this very machine."""
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
    """Begin a new term in all places, after whoever served from them has stopped; gives its number.

    Raises:
        StorageError: a place does not answer, or cannot be written.
    """
    while True:
        looks = [_wait_for(place, on_wait, patience) for place in places]
        # leases may have been cleared away: what is there was written in terms before this one
        term = (
            max([look.term for look in looks] + [snapshot.term for snapshot in list_snapshots()], default=0)
            + 1
        )
        if all(patiently(patience, place.take, term, holder) for place in places):
            return term


def _wait_for(place: Place, on_wait: Callable[[str], None], patience: float) -> Look:
    """Look on until nobody serves from the place any more."""
    last, since = patiently(patience, place.look), time.monotonic()
    while last.term and not last.free:
        holder = patiently(patience, place.get_holder, last.term)
        if is_gone(holder) or time.monotonic() - since > place.pace.silent_seconds:
            break
        on_wait(
            f"Another CoEval ({holder.get('host', 'unknown')}, process {holder.get('pid', '?')}) serves from the "
            f"{place.title}: this one waits until it stops, and goes on from its last state."
        )
        time.sleep(min(LOOK_SECONDS, place.pace.look_seconds))
        look = patiently(patience, place.look)
        if look != last:
            last, since = look, time.monotonic()
    return last
