"""Replication of every commit to the snapshot places, and reports for owners and browsers.

One thread reads the commits; the threads of each place send them (``coeval.usecases.hosting.replica``). A
browser keeps each save until it is shipped. After the server was restored from a snapshot, the browser sends
all of them again: saves that are in the file get their earlier answer, and lost ones are saved again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from weakref import WeakKeyDictionary

from coeval.clock import time_from_now
from coeval.domain import Person
from coeval.domain.studies import Restoration
from coeval.errors import CoevalError, StorageError
from coeval.settings import Snapshots
from coeval.store import Storage, Store
from coeval.store.queries.submissions import get_newest
from coeval.store.snapshots.changed_pages import LogTail
from coeval.store.snapshots.places import Place
from coeval.store.snapshots.restoration import get_lineage, list_restorations
from coeval.usecases.access import EVERYONE, OWNERS, Context, use_case
from coeval.usecases.hosting.replica import TICK, PlaceState, Shipper, Waiting

# Ships every committed change to the snapshot places, without ever stopping annotation.

log = logging.getLogger(__name__)


class Keeper:
    """Ships the changes of one store to all places, for one term."""

    def __init__(
        self,
        store: Store,
        places: Sequence[Place],
        wanted: Snapshots,
        term: int,
        holder: Mapping[str, str],
    ) -> None:
        self.store, self.minutes, self.term, self.holder = store, wanted.minutes, term, holder
        with store.read() as db:
            self.lineage = get_lineage(db).id
        self.number = 0
        """The number of checks that found changes."""
        self.lost = ""
        """The reason that this server accepts no more saves; empty if it accepts them."""
        self.damage = ""
        """The damage that the daily check of the file found; empty if there is none."""
        self.error = ""
        self.stopping = threading.Event()
        self._tail: LogTail | None = None
        self._read_at = self.noted_at = time.monotonic()
        """The start of the latest check, and of the latest check whose changes every place knows."""
        self._reading = threading.Lock()
        self.shippers = [Shipper(self, place) for place in places]
        self._thread = threading.Thread(target=self._run, name="snapshots", daemon=True)
        store.guard, store.removed = self.check, self.renew
        KEEPERS[store] = self

    def start(self) -> None:
        self.read()  # all later commits are recorded
        self._thread.start()
        for shipper in self.shippers:
            shipper.start()

    def stop(self, patience: float = 20.0) -> None:
        """Send the pending changes, and release the places for the next server."""
        self.stopping.set()
        until = time.monotonic() + patience
        for shipper in self.shippers:
            shipper.stop(max(0.1, until - time.monotonic()))
        if self._thread.is_alive():
            self._thread.join(max(0.1, until - time.monotonic()))
        self.take()
        for shipper in self.shippers:
            try:
                if not self.lost:
                    shipper.place.release(self.term)
            except StorageError as error:
                log.warning("%s", error)
        if self._tail:
            self._tail.close()
            self._tail = None

    def check(self) -> None:
        """Let a save begin only while this server is known to own the places.

        Raises:
            StorageError: another server has taken over, or may have done so while this one was paused.
        """
        if self.lost:
            raise StorageError(self.lost)
        if not self._thread.is_alive():
            return
        for shipper in self.shippers:
            pace = shipper.place.pace
            if time.monotonic() - shipper.looked > pace.silent_seconds * 0.8 and not shipper.state.error:
                raise StorageError(
                    "The server is checking whether another one took over: try again in a moment."
                )

    def renew(self) -> None:
        """Send full copies now, because data was removed. Older copies then go by age."""
        for shipper in self.shippers:
            shipper.renew()

    def lose(self, title: str) -> None:
        """Accept no more saves, because another server now serves the study.

        Pending changes are still sent, into a separate file.
        """
        self.lost = "Another server has taken over this study: nothing more is saved here. Reload the page to continue."
        log.error("%s It uses the %s.", self.lost, title)
        self.read()
        for shipper in self.shippers:
            shipper.ship()

    def _run(self) -> None:
        while not self.stopping.wait(TICK):
            self.read()

    def read(self) -> None:
        """Record the commits since the last check for every place; failures are retried later."""
        with self._reading:
            since, self._read_at = self._read_at, time.monotonic()
            try:
                self._read(since)
                self.noted_at = self._read_at
                self.error = ""
            except (
                Exception
            ) as error:  # the thread survives a full disk, too many open files, or a lasting lock
                self._lose_tail(error)
                self._read_at = since

    def _read(self, since: float) -> None:
        if self._tail is None:
            self._tail = LogTail(self.store)
            for shipper in self.shippers:
                shipper.lose_track(since)
        before = self._count()
        changes = self._tail.read()
        if not self.lost:
            changes.add(self._tail.fold())
        # if an import is undone meanwhile, its submissions disappear: use the smaller number
        count = min(before, self._count())
        if changes.pages:
            self.number += 1
            for shipper in self.shippers:
                shipper.note(Waiting(replace(changes, pages=dict(changes.pages)), self.number, since, count))

    def _count(self) -> int:
        with self.store.read() as db:
            return get_newest(db)

    def _lose_tail(self, error: Exception) -> None:
        self.error = str(error) if isinstance(error, CoevalError) else f"{type(error).__name__}: {error}"
        log.warning("changes cannot be read; a full snapshot follows: %s", self.error)
        if self._tail:
            self._tail.close()
            self._tail = None

    def take(self, *, whole: bool = False) -> None:
        """Send everything that is committed so far."""
        self.read()
        for shipper in self.shippers:
            shipper.ship(whole=whole)

    def get_shipped_until(self) -> float | None:
        """Return the monotonic time up to which every working place has every change; None if no place works."""
        taking = [shipper for shipper in self.shippers if not shipper.state.error]
        return min((place.get_shipped_until(self.noted_at) for place in taking), default=None)

    def list_states(self) -> tuple[PlaceState, ...]:
        return tuple(
            replace(s.state, window=s.get_window(), error=s.state.error or self.error) for s in self.shippers
        )


KEEPERS: WeakKeyDictionary[Storage, Keeper] = WeakKeyDictionary()
"""The keeper of each open store, whose state owners can see."""


# Facts about snapshots for browsers: which saves would survive the loss of this machine, and what was lost.

LONGEST_SAVE = timedelta(seconds=5)
"""The longest time between the time recorded in a save and its commit."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """The facts about snapshots that a browser needs."""

    term: str = ""
    """The server and study; empty if the file is on persistent storage without snapshot places."""
    until: str = ""
    """The time before which all saves are in the snapshot places."""
    restored_at: str = ""
    """The time of the last restoration from a snapshot; empty if there was none."""
    taken_at: str = ""
    """The time up to which that snapshot was complete."""


@use_case(EVERYONE, guests=True)
def get_shipped(context: Context, person: Person) -> Shipped:
    """Return which saves are in snapshots and when the file was last restored."""
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


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """The facts about snapshots that owners see."""

    lineage: str
    places: tuple[PlaceState, ...] = ()
    restorations: tuple[Restoration, ...] = ()
    lost: str = ""
    """The reason that this server accepts no more saves; empty if it accepts them."""


@use_case(OWNERS)
def get_snapshots(context: Context, person: Person) -> SnapshotState:
    """Return the snapshot places, their state, and the source of the last restoration."""
    with context.store.read() as db:
        lineage, restorations = get_lineage(db).id, tuple(list_restorations(db))
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        return SnapshotState(lineage, (), restorations)
    return SnapshotState(lineage, keeper.list_states(), restorations, keeper.lost)


WIPED = (
    "A restart of this Space deletes everything: its data is not on persistent storage at /data. Attach storage there "
    "in the Space's settings, or set COEVAL_SNAPSHOT_REPO (a private data set) and the secret HF_TOKEN to keep copies "
    "on the Hub."
)


@use_case(OWNERS)
def get_alert(context: Context, person: Person) -> str:
    """Return a sentence about saved work that is at risk now; empty if none is."""
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        return WIPED if context.settings.is_wiped else ""
    if keeper.lost:
        return keeper.lost
    return " ".join(filter(None, [keeper.damage, *map(_warn, keeper.list_states())]))


def _warn(state: PlaceState) -> str:
    if not state.error:
        return ""
    return (
        f"Since {state.failed_at[11:16] or 'just now'} UTC no snapshot has reached the {state.title}: later "
        "saves are on this machine alone."
    )


@use_case(OWNERS)
def take_snapshot(context: Context, person: Person) -> SnapshotState:
    """Take a full snapshot now."""
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        raise StorageError(
            "No snapshot place is set: set COEVAL_SNAPSHOT_DIR to a folder, or COEVAL_SNAPSHOT_REPO "
            "and HF_TOKEN."
        )
    keeper.take(whole=True)
    return get_snapshots(context, person)
