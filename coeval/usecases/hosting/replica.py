"""Replication to one place: pending changes, the threads that send them, and the lease.

Every failure is shown and retried.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from coeval.clock import now, utc_now
from coeval.errors import CoevalError
from coeval.store import Store
from coeval.store.snapshots.changed_pages import Changes, write_pages
from coeval.store.snapshots.places import Place, choose_drops, parse_names, render_name
from coeval.store.snapshots.restoration import hash_file

log = logging.getLogger(__name__)

TICK = 0.25
"""Seconds between two checks for commits."""

PENDING_BYTES = 64_000_000
"""The largest size of pending pages in memory for a slow place; beyond it, a full copy is sent later."""

CHAIN_FILES, LONGEST_CHAIN = 200, 2_000
"""The number of files with changed pages between two full copies: for a small database, and at most."""

FILE_BYTES = 1_000_000
"""For a large database, that number is its size divided by this number of bytes.

The time of a copy grows with the file, so a server spends a constant share of its time on copies.
"""

PRUNE_SECONDS = 3600.0
"""Seconds between two deletions of old snapshots; each new full copy also deletes some."""


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds before a failed place is tried again; the pause doubles after the second failure."""
HOUR = 3600.0


class Term(Protocol):
    """The server that a shipper works for."""

    store: Store
    lineage: str
    term: int
    minutes: float
    holder: Mapping[str, str]
    lost: str
    damage: str
    noted_at: float
    """The start (monotonic time) of the latest check whose changes all places know."""
    stopping: threading.Event

    def lose(self, title: str) -> None: ...


@dataclass(frozen=True, slots=True)
class PlaceState:
    """The state of replication to one place."""

    title: str
    saved_at: str = ""
    """The time up to which the place has all changes; empty before the first snapshot."""
    window: float = 0.0
    """The longest time in seconds, within the last hour, that a change was only on this machine."""
    promised: float = 0.0
    """The longest time in seconds that a change should be only on this machine."""
    failed_at: str = ""
    error: str = ""
    """The reason that the last attempt failed; empty if it succeeded."""
    lineages: tuple[str, ...] = ()
    """Other lineages in the place, which are left alone."""


def get_pause(failures: int) -> float:
    """Return the seconds to wait after this number of consecutive failures.

    >>> [get_pause(n) for n in (1, 2, 3, 4, 9)]
    [1.0, 1.0, 2.0, 4.0, 30.0]
    """
    return float(min(FIRST_PAUSE * 2 ** min(max(failures - 2, 0), 10), LONGEST_PAUSE))


@dataclass(slots=True)
class Waiting:
    """The changes that a place does not have yet."""

    changes: Changes = field(default_factory=Changes)
    number: int = 0
    """The number of the last check that these changes include."""
    since: float | None = None
    """The monotonic time at or after which the oldest change was committed."""
    submissions: int = 0
    """The submissions up to this id are all in the resulting state."""

    def add(self, later: Waiting) -> None:
        self.changes.add(later.changes)
        self.number = max(self.number, later.number)
        if later.changes.pages:
            self.submissions = later.submissions
        self.since = later.since if self.since is None else self.since

    @property
    def n_bytes(self) -> int:
        return len(self.changes.pages) * self.changes.page_size


class Shipper:
    """One place: its pending changes, and the threads that send them and hold the lease."""

    def __init__(self, keeper: Term, place: Place) -> None:
        self.keeper, self.place = keeper, place
        self.state = PlaceState(place.title, promised=place.pace.promised_seconds)
        self._errors = {"sending": "", "lease": ""}
        self._waiting = Waiting()
        self._flying_since: float | None = None
        """Like ``Waiting.since``, but for changes that are being sent."""
        self._number: int | None = None
        """The last check that the place has completely; None if it needs a full copy."""
        self._chain_files = self._chain_bytes = self._whole_bytes = 0
        self._whole_at = self._copied_at = 0.0
        self._lags: deque[tuple[float, float]] = deque()
        self._urgent = threading.Event()
        """Set if the next transfer must not wait for the pause."""
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self.looked = self._beaten = self._pruned = time.monotonic()
        self._threads = [
            threading.Thread(target=run, name=f"{what} {place.title}", daemon=True)
            for what, run in (("snapshots to", self._run), ("lease of", self._hold))
        ]

    # ---- pending changes ---------------------------------------------------------------------------------------------

    def note(self, waiting: Waiting) -> None:
        """Add the commits since the last check."""
        with self._lock:
            self._waiting.add(waiting)
            if self._waiting.n_bytes > PENDING_BYTES:
                self._forget()

    def lose_track(self, since: float) -> None:
        """Request a full copy as the next transfer."""
        with self._lock:
            self._waiting.add(Waiting(since=since))
            self._forget()

    def _forget(self) -> None:
        self._number, self._waiting.changes = None, Changes()

    def get_window(self) -> float:
        """Return the longest time, in seconds, that a change waited in the last hour, including pending changes."""
        moment = time.monotonic()
        while self._lags and self._lags[0][0] < moment - HOUR:
            self._lags.popleft()
        since = self._waiting.since
        return max([lag for _, lag in self._lags] + [moment - since if since else 0.0])

    def get_shipped_until(self, noted: float) -> float:
        """Return the monotonic time up to which the place has every change.

        ``noted`` is the start of the last check.
        """
        with self._lock:
            open_since = [since for since in (self._waiting.since, self._flying_since) if since is not None]
        return min([*open_since, noted])

    # ---- sending --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, patience: float) -> None:
        for thread in self._threads:
            if thread.is_alive():
                thread.join(patience)

    def _run(self) -> None:
        failures = 0
        while not self.keeper.lost:
            failures = 0 if self.ship() else failures + 1
            until = time.monotonic() + (get_pause(failures) if failures else self.place.pace.ship_seconds)
            while not self._has_work() or (
                time.monotonic() < until and (failures or not self._urgent.is_set())
            ):
                if self.keeper.stopping.wait(TICK):
                    return
            self._urgent.clear()

    def renew(self) -> None:
        """Send a full copy now, because data was removed that the previous one contains."""
        with self._lock:
            self._forget()
        self._urgent.set()

    def _has_work(self) -> bool:
        return self._number is None or bool(self._waiting.changes.pages) or bool(self.state.error)

    def ship(self, *, whole: bool = False) -> bool:
        """Send the pending changes, and return whether the place now has every change. Failures are recorded,
        not raised.
        """
        with self._sending:
            try:
                if self._number is not None:
                    self._send_pages()
                if self._number is None or whole or self._is_whole_due():
                    self._send_whole()
            except Exception as error:  # an uncaught error would leave the study without snapshots
                self._note_failure(error, "sending")
                return False
            self._note_failure(None, "sending")
            return True

    def _is_whole_due(self) -> bool:
        if self.keeper.stopping.is_set():
            return False  # the chain has everything, and a stopping server has only seconds
        most = min(max(CHAIN_FILES, self._whole_bytes // FILE_BYTES), LONGEST_CHAIN)
        old = time.monotonic() - self._whole_at > self.keeper.minutes * 60
        return self._chain_files >= most or (old and self._chain_bytes * 4 > self._whole_bytes)

    def _send_pages(self) -> None:
        # pages from before the copy wait for the next check: on their own, they would restore a mixture of
        # two states
        if self.keeper.noted_at < self._copied_at:
            return
        with self._lock:
            waiting, after = self._waiting, self._number
            if after is None or not waiting.changes.pages:
                return
            self._waiting, self._flying_since = Waiting(number=waiting.number), waiting.since
        try:
            with TemporaryDirectory(prefix="coeval-snapshot-") as folder:
                path = Path(folder) / "pages"
                write_pages(path, waiting.changes, after=after, submissions=waiting.submissions)
                self._put(path, waiting.number, whole=False)
                self._chain_files += 1
                self._chain_bytes += path.stat().st_size
        except BaseException:
            with self._lock:
                waiting.add(self._waiting)
                self._waiting, self._flying_since = waiting, None
                if self._number is None:
                    self._forget()
            raise
        self._note_sent(waiting)

    def _send_whole(self) -> None:
        with self._lock:
            # later pages are applied over the copy, whether or not it has them already
            waiting, self._number = self._waiting, self._waiting.number
            self._waiting, self._flying_since = Waiting(number=waiting.number), waiting.since
        try:
            with TemporaryDirectory(prefix="coeval-snapshot-") as folder:
                path = Path(folder) / "copy.db"
                # the log shows a commit some milliseconds before other connections see it; a write
                # transaction waits for these commits, so the copy contains all of them
                with self.keeper.store.write(guarded=False):
                    pass
                self.keeper.store.backup(path)
                self._copied_at = time.monotonic()
                self._put(path, waiting.number, whole=True)
                self._whole_bytes = path.stat().st_size
        except BaseException:
            with self._lock:
                waiting.add(self._waiting)
                self._waiting, self._flying_since = waiting, None
                self._forget()
            raise
        self._chain_files = self._chain_bytes = 0
        self._whole_at = time.monotonic()
        self._note_sent(waiting)

    def _put(self, path: Path, number: int, *, whole: bool) -> None:
        keeper = self.keeper
        name = render_name(keeper.lineage, keeper.term, number, utc_now(), hash_file(path), whole=whole)
        self.place.put(path, name, choose_drops if whole and not keeper.damage else None)
        if whole:
            others = {snapshot.lineage for snapshot in parse_names(self.place.list_names())} - {
                keeper.lineage
            }
            self.state = replace(self.state, lineages=tuple(sorted(others)))

    def _note_sent(self, sent: Waiting) -> None:
        with self._lock:
            self._flying_since = None
            if self._number is not None:
                self._number = sent.number
        moment = time.monotonic()
        if self.place.pace.ships_are_beats:
            self._beaten = moment
        if sent.since is not None:
            self._lags.append((moment, moment - sent.since))
        self.state = replace(self.state, saved_at=now())

    def _note_failure(self, error: Exception | None, what: str) -> None:
        """Record the outcome of a transfer or a lease renewal, without clearing the other's error."""
        if error is not None and not isinstance(error, CoevalError):
            log.error("the %s fails", self.place.title, exc_info=error)
        text = str(error) if isinstance(error, CoevalError) else f"{type(error).__name__}: {error}"
        self._errors[what] = "" if error is None else text
        shown = next(filter(None, self._errors.values()), "")
        self.state = replace(
            self.state, error=shown, failed_at=(self.state.failed_at or now()) if shown else ""
        )

    # ---- the lease ------------------------------------------------------------------------------------------------

    def _hold(self) -> None:
        while not self.keeper.stopping.wait(self.place.pace.look_seconds) and not self.keeper.lost:
            self.look()
            if time.monotonic() - self._pruned > PRUNE_SECONDS and self._sending.acquire(blocking=False):
                try:
                    self.prune()
                finally:
                    self._sending.release()

    def prune(self) -> None:
        """Delete old snapshots, unless the file is damaged: they may then be the only sound ones."""
        self._pruned = time.monotonic()
        try:
            if not self.keeper.damage:
                self.place.prune(choose_drops)
        except Exception as error:
            log.warning("old snapshots in the %s stay for now: %s", self.place.title, error)

    def look(self) -> None:
        """Check that this server still owns the place, and renew the lease."""
        keeper, pace = self.keeper, self.place.pace
        try:
            if self.place.look().term > keeper.term:
                keeper.lose(self.place.title)
                return
            if time.monotonic() - self._beaten >= pace.beat_seconds:
                self.place.beat(keeper.term, keeper.holder)
                self._beaten = time.monotonic()
        except Exception as error:
            self._note_failure(error, "lease")
        else:
            self._note_failure(None, "lease")
        self.looked = time.monotonic()
