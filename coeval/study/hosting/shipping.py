"""Shipping every committed change to the places of snapshots, without ever stopping annotation.

One thread reads what was committed; those of each place send it on (``coeval.study.hosting.shipper``).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from coeval.errors import CoevalError, StorageError
from coeval.settings import Snapshots
from coeval.store import Storage, Store
from coeval.store.snapshots.lineage import get_last_submission, get_lineage
from coeval.store.snapshots.log_tail import LogTail
from coeval.store.snapshots.places import Place
from coeval.study.hosting.shipper import HURRIED_TICK, TICK, PlaceState, Shipper, Waiting

log = logging.getLogger(__name__)


class Keeper:
    """Ships the changes of one store to all places, in one term."""

    def __init__(
        self,
        store: Store,
        places: Sequence[Place],
        wanted: Snapshots,
        term: int,
        holder: Mapping[str, str],
    ) -> None:
        self.store, self.minutes, self.term, self.holder = store, wanted.minutes, term, holder
        self.hurries = wanted.ship_first
        """Whether people wait for what is shipped."""
        self.limit = wanted.limit_seconds
        with store.read() as db:
            self.lineage = get_lineage(db).id
        self.number = 0
        """How many looks have found changes."""
        self.lost = ""
        """Why this server takes no more saves; empty while it does."""
        self.error = ""
        self.stopping = threading.Event()
        self._tail: LogTail | None = None
        self._read_at = self.noted_at = time.monotonic()
        """When the latest look began; the latest of those whose changes every place was told of."""
        self._reading = threading.Lock()
        self.shippers = [Shipper(self, place) for place in places]
        self._thread = threading.Thread(target=self._run, name="snapshots", daemon=True)
        store.guard = self.check
        KEEPERS[store] = self

    def start(self) -> None:
        self.read()  # whatever is committed from here on is noted
        self._thread.start()
        for shipper in self.shippers:
            shipper.start()

    def stop(self, patience: float = 20.0) -> None:
        """Ship what is left, and let the next server have the places."""
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
        """Let a save begin only while the places are known to be ours.

        Raises:
            StorageError: another server has taken over, or may have while this one stood still.
        """
        if self.lost:
            raise StorageError(self.lost)
        if not self._thread.is_alive():
            return
        for shipper in self.shippers:
            pace = shipper.place.pace
            if time.monotonic() - shipper.looked > pace.silent_seconds * 0.8 and not shipper.state.error:
                raise StorageError(
                    "The server has to see first whether another one took over: try again in a moment."
                )

    def lose(self, title: str) -> None:
        """Take no more saves: another server serves the study now. What was not shipped yet still is, beside it."""
        self.lost = (
            "Another server has taken this study over: nothing more is saved here. Reload the page to go on."
        )
        log.error("%s It serves from the %s.", self.lost, title)
        self.read()
        for shipper in self.shippers:
            shipper.ship()

    def _run(self) -> None:
        while not self.stopping.wait(HURRIED_TICK if self.hurries else TICK):
            self.read()

    def read(self) -> None:
        """Note what was committed since the last look for every place; whatever fails is made up for."""
        with self._reading:
            since, self._read_at = self._read_at, time.monotonic()
            try:
                self._read(since)
                self.noted_at = self._read_at
                self.error = ""
            except (
                Exception
            ) as error:  # the thread goes on: a full disk, too many open files, a lock that stays
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
        # an import that is undone meanwhile takes its submissions away: the changes hold at least the fewer
        count = min(before, self._count())
        if changes.pages:
            self.number += 1
            for shipper in self.shippers:
                shipper.note(Waiting(replace(changes, pages=dict(changes.pages)), self.number, since, count))

    def _count(self) -> int:
        with self.store.read() as db:
            return get_last_submission(db)

    def _lose_tail(self, error: Exception) -> None:
        self.error = str(error) if isinstance(error, CoevalError) else f"{type(error).__name__}: {error}"
        log.warning("changes cannot be read, a whole snapshot follows: %s", self.error)
        if self._tail:
            self._tail.close()
            self._tail = None

    def take(self, *, whole: bool = False) -> None:
        """Ship now what was committed up to here."""
        self.read()
        for shipper in self.shippers:
            shipper.ship(whole=whole)

    def get_shipped_until(self) -> float | None:
        """Before which moment of the monotonic clock all is in every place that takes it; None where none does."""
        taking = [shipper for shipper in self.shippers if not shipper.state.error]
        return min((one.get_shipped_until(self.noted_at) for one in taking), default=None)

    def has_shipped(self, moment: float) -> bool:
        """Whether all that was committed before a moment of the monotonic clock is in the places."""
        until = self.get_shipped_until()
        return until is not None and until > moment

    def list_states(self) -> tuple[PlaceState, ...]:
        return tuple(
            replace(s.state, window=s.get_window(), error=s.state.error or self.error) for s in self.shippers
        )


KEEPERS: WeakKeyDictionary[Storage, Keeper] = WeakKeyDictionary()
"""The keeper of each open store, for owners to see how it fares."""
