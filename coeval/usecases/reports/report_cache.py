"""Cached results of a task for one state of the file, until there is a newer state.

In a small file, the results are computed again after every change. On a server with many submissions, a
separate process computes them (``coeval.usecases.reports.report_process``); while people save, the last
results are shown with their time until the next ones are ready.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from coeval.clock import now
from coeval.domain import Task
from coeval.stats.frames import StudyFrames
from coeval.store import Storage
from coeval.store.queries import reports
from coeval.usecases.reports.report_process import Helper, HelperEndedError
from coeval.usecases.reports.task_frames import TaskFrames

log = logging.getLogger(__name__)

Statistic = Callable[[StudyFrames], Any]
Fingerprint = tuple[Any, ...]

LARGE = 50_000
"""A server computes reports in separate processes if the file has more submissions than this."""

QUICK_SECONDS = 2.0
"""The longest computation that a reader waits for; otherwise the previous report is shown."""

STAND_BY_SECONDS = 3.0
"""Seconds between a report and the start of the next process, whose imports would slow down the page."""

REST = 5.0
"""The pause before the next reading while people save, as a multiple of the time that the last one took."""


@dataclass(eq=False, slots=True)
class Reading:
    """Results of a task from one state of the file, ``fingerprint``, as of ``taken_at``."""

    store: Storage
    task: Task
    fingerprint: Fingerprint
    helper: Helper | None = None
    version: int | None = None
    """The version of the criteria set; None for the newest."""
    taken_at: str = field(default_factory=now)
    seconds: float = 0.0
    """Seconds of reading and computing so far."""
    results: dict[tuple[Statistic, tuple[str, ...]], Any] = field(default_factory=dict)
    _frames: TaskFrames | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _begun: float = field(default_factory=time.monotonic)

    def get(self, statistic: Statistic, tables: tuple[str, ...] = ()) -> Any:
        """Return a statistic, computed once; simultaneous readers wait for one computation.

        Raises:
            HelperEndedError: the statistic is not cached, and the process that knew the state has ended.
        """
        key = statistic, tables
        with self._lock:
            if key in self.results:
                return self.results[key]
            self.results[key] = self.compute(statistic, tables)
            return self.results[key]

    def compute(self, statistic: Statistic, tables: tuple[str, ...] = ()) -> Any:
        """Return a statistic without storing it in the cache."""
        with self._lock:
            started = time.perf_counter()
            try:
                if self.helper is not None:
                    return self.helper.compute(statistic, tables)
                return statistic(self.read_frames(tables))
            finally:
                self.seconds += time.perf_counter() - started

    def read_frames(self, tables: tuple[str, ...] = ()) -> StudyFrames:
        """Return the frames. They are read in this process."""
        with self._lock, self.store.read() as db:
            self._frames = self._frames or TaskFrames(self.task, self.version)
            return self._frames.get(db, tables)

    def count_saves_since(self) -> int:
        """Return the number of submissions of the task since this reading."""
        with self.store.read() as db:
            return reports.count_since(db, self.task.id, self.fingerprint)

    @property
    def rested(self) -> bool:
        """Return whether it is time for the next reading."""
        return time.monotonic() - self._begun > self.seconds * (1 + REST)

    @property
    def ended(self) -> bool:
        """Return whether nothing more can be computed from this reading."""
        return self.helper is not None and not self.helper.alive

    def close(self) -> None:
        if self.helper is not None:
            self.helper.close()


class Readings:
    """The newest reading of each task of an open file, and a process on stand-by for the next."""

    def __init__(self, store: Storage) -> None:
        self.store = store
        self.apart = False
        """True if separate processes compute large reports."""
        self._newest: dict[int, Reading] = {}
        self._earlier: dict[tuple[int, int], Reading] = {}
        """Readings for earlier versions of the criteria, which are rare and computed here."""
        self._renewed: set[int] = set()
        """The tasks with a newer reading in progress."""
        self._waiting: Helper | None = None
        self._soon: threading.Timer | None = None
        self._lock = threading.Lock()

    def get(self, task: Task, fingerprint: Fingerprint, *, newest: bool = False) -> Reading:
        """Return the reading of a task whose current state has this fingerprint.

        While people save, a large reading may be of an earlier state, unless ``newest`` is set.
        """
        with self._lock:
            known = self._newest.get(task.id)
        if known is not None and known.fingerprint == fingerprint and not (newest and known.ended):
            return known
        if known is None or newest or not self._is_large(fingerprint) or known.seconds <= QUICK_SECONDS:
            return self._keep(self._read(task, fingerprint))
        if known.rested:
            self._renew(task, fingerprint, known)
        return known

    def get_earlier(self, task: Task, fingerprint: Fingerprint, version: int) -> Reading:
        """Return the reading of a task for an earlier version of its criteria."""
        with self._lock:
            known = self._earlier.get((task.id, version))
            if known is None or known.fingerprint != fingerprint:
                known = Reading(self.store, task, fingerprint, version=version)
                self._earlier[task.id, version] = known
            return known

    def _is_large(self, fingerprint: Fingerprint) -> bool:
        return self.apart and reports.count_submissions(fingerprint) > LARGE

    def _read(self, task: Task, fingerprint: Fingerprint) -> Reading:
        if not self._is_large(fingerprint):
            return Reading(self.store, task, fingerprint)
        with self._lock:
            helper, self._waiting = self._waiting, None
        if helper is None or not helper.alive:
            helper = Helper()
        opened = helper.open(self.store.address, task.slug)
        self._stand_by_soon()
        return Reading(self.store, task, opened.fingerprint, helper, seconds=opened.seconds)

    def _keep(self, reading: Reading) -> Reading:
        with self._lock:
            before = self._newest.get(reading.task.id)
            self._newest[reading.task.id] = reading
        if before is not None:
            if before.fingerprint == reading.fingerprint:
                reading.results.update(before.results)
            before.close()
        return reading

    def _renew(self, task: Task, fingerprint: Fingerprint, known: Reading) -> None:
        """Recompute the statistics of the last reading in the background, then use the new reading."""
        with self._lock:
            if task.id in self._renewed:
                return
            self._renewed.add(task.id)

        def run() -> None:
            try:
                reading = self._read(task, fingerprint)
                for statistic, tables in list(known.results):
                    reading.get(statistic, tables)
                self._keep(reading)
            except HelperEndedError as ended:
                log.warning("%s", ended)
            finally:
                with self._lock:
                    self._renewed.discard(task.id)

        threading.Thread(target=run, name=f"report on {task.slug}", daemon=True).start()

    def stand_by(self) -> None:
        """Let a process import its libraries now, so that the next report does not wait for them."""
        with self._lock:
            if self._waiting is None or not self._waiting.alive:
                self._waiting = Helper()

    def compute_apart(self) -> None:
        """Compute large reports in separate processes from now on.

        If the file is already large, the first process starts at once, so that nobody waits for its imports.
        """
        self.apart = True
        with self.store.read() as db:
            large = self._is_large(reports.get_fingerprint(db, 0))
        if large:
            self.stand_by()

    def _stand_by_soon(self) -> None:
        with self._lock:
            if self._soon is not None:
                self._soon.cancel()
            self._soon = threading.Timer(STAND_BY_SECONDS, self.stand_by)
            self._soon.daemon = True
            self._soon.start()

    def close(self) -> None:
        """End every process."""
        with self._lock:
            if self._soon is not None:
                self._soon.cancel()
            waiting, self._waiting = self._waiting, None
            readings = list(self._newest.values())
            self._newest.clear()
        if waiting is not None:
            waiting.close()
        for reading in readings:
            reading.close()


READINGS: WeakKeyDictionary[Storage, Readings] = WeakKeyDictionary()
"""The readings of each file that is open."""


def get_readings(store: Storage) -> Readings:
    return READINGS.setdefault(store, Readings(store))
