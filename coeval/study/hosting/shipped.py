"""What browsers ask of the snapshots: which saves are safe even where this machine is lost, and what was lost.

A browser keeps what it sent until it is shipped. After the server came back from a snapshot it sends all that again:
what is in the file already is answered as it was, and what was lost is saved anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Person
from coeval.errors import StorageError
from coeval.store.snapshots.lineage import list_restorations
from coeval.study.access import EVERYONE, Context, use_case
from coeval.study.hosting.shipping import KEEPERS

LONGEST_SAVE = timedelta(seconds=5)
"""Between the time that a save bears and its commit."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """What a browser has to know of the snapshots."""

    term: str = ""
    """Which server of which study this is; empty where the file is on storage that persists, and nothing is shipped."""
    until: str = ""
    """Saves of before are in the places of snapshots."""
    restored_at: str = ""
    """When the file last came back from a snapshot; empty where it never did."""
    taken_at: str = ""
    """Up to when that snapshot had everything."""


def needs_shipping(context: Context, moment: float) -> bool:
    """Whether something committed before a moment of the monotonic clock is on this machine alone.

    Raises:
        StorageError: another server has taken over: what is saved here goes nowhere any more.
    """
    keeper = KEEPERS.get(context.store)
    if keeper is not None and keeper.lost:
        raise StorageError(keeper.lost)
    return keeper is not None and not keeper.has_shipped(moment)


@use_case(EVERYONE, guests=True)
def get_shipped(context: Context, person: Person) -> Shipped:
    """See which saves are in the snapshots, and since when the file came back from one."""
    with context.store.read() as db:
        restorations = list_restorations(db)
    last = restorations[0] if restorations else None
    came_back = (last.restored_at, last.taken_at) if last else ("", "")
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        return Shipped("", "", *came_back)
    shipped = keeper.get_shipped_until()
    ago = timedelta(seconds=time.monotonic() - shipped) if shipped is not None else None
    until = time_from_now(-ago - LONGEST_SAVE) if ago is not None else ""
    return Shipped(f"{keeper.lineage}:{keeper.term}", until, *came_back)
