"""Statistics of a task. Submissions are read once, and results are cached until there are new ones.

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

import pandas as pd

from coeval import CITATION, __version__
from coeval.clock import now
from coeval.domain import Person, Task
from coeval.errors import InputError
from coeval.safe_csv import to_csv
from coeval.stats.basis import Basis, OnBasis
from coeval.stats.frames import StudyFrames
from coeval.stats.report.document import build_report, paper_tables
from coeval.stats.report.methods import methods_paragraph
from coeval.stats.report.tables import show_tags, tables_latex, tables_markdown
from coeval.store import Storage
from coeval.store.queries import criteria, reports
from coeval.usecases.access import TEAM, Context, require_task, use_case
from coeval.usecases.reports.report_process import Helper, HelperEndedError
from coeval.usecases.reports.task_frames import MORE, TaskFrames

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
            reading = self._newest.get(task.id)
        if reading is not None and reading.fingerprint == fingerprint and not (newest and reading.ended):
            return reading
        if reading is None or newest or not self._is_large(fingerprint) or reading.seconds <= QUICK_SECONDS:
            return self._keep(self._read(task, fingerprint))
        if reading.rested:
            self._renew(task, fingerprint, reading)
        return reading

    def get_earlier(self, task: Task, fingerprint: Fingerprint, version: int) -> Reading:
        """Return the reading of a task for an earlier version of its criteria."""
        with self._lock:
            reading = self._earlier.get((task.id, version))
            if reading is None or reading.fingerprint != fingerprint:
                reading = Reading(self.store, task, fingerprint, version=version)
                self._earlier[task.id, version] = reading
            return reading

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

    def _renew(self, task: Task, fingerprint: Fingerprint, earlier: Reading) -> None:
        """Recompute the statistics of the last reading in the background, then use the new reading."""
        with self._lock:
            if task.id in self._renewed:
                return
            self._renewed.add(task.id)

        def run() -> None:
            try:
                reading = self._read(task, fingerprint)
                for statistic, tables in list(earlier.results):
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


# The use cases.

EVERY = tuple(MORE)
WHOLE = Basis()
"""All scores for the newest version of the criteria."""


@use_case(TEAM)
def get_reading(
    context: Context, person: Person, slug: str, *, newest: bool = False, version: int = 0
) -> Reading:
    """Return the statistics of a task at one moment; for a large task, they may lack the latest saves.

    Args:
        version: of the criteria set; 0 or an unknown version means the newest.
    """
    if version not in list_versions(context, person, slug)[:-1]:
        return _get_reading(context, slug, newest=newest)
    with context.store.read() as db:
        task = require_task(db, slug)
        fingerprint = reports.get_fingerprint(db, task.id)
    return get_readings(context.store).get_earlier(task, fingerprint, version)


@use_case(TEAM)
def list_versions(context: Context, person: Person, slug: str) -> list[int]:
    """Return the versions of a task's criteria, the newest last."""
    with context.store.read() as db:
        newest = criteria.get_criteria_set(db, require_task(db, slug).id)
        return list(range(1, newest.version + 1)) if newest else []


@use_case(TEAM)
def get_frames(context: Context, person: Person, slug: str) -> StudyFrames:
    """Return a task's scores, actions and drafts, as the statistics use them."""
    return _get_reading(context, slug, newest=True).read_frames(EVERY)


def get_statistic(
    context: Context,
    person: Person,
    slug: str,
    statistic: Callable[[StudyFrames], Any],
) -> Any:
    """Return a statistic of a task from its reading, recomputed only after new saves.

    Args:
        statistic: a pure function of the frames, defined in a module; the tables of ``MORE`` are empty.

    Raises:
        NotAllowedError: the person does not belong to the team.
    """
    try:
        return get_reading(context, person, slug).get(statistic)
    except HelperEndedError:
        return get_reading(context, person, slug, newest=True).get(statistic)


@use_case(TEAM)
def get_report(context: Context, person: Person, slug: str, basis: Basis = WHOLE) -> dict[str, Any]:
    """Return every statistic of a task in one document, as ``stats --json`` prints it.

    Args:
        basis: the scores that it is based on. The section that compares arms (``drafts``) uses all scores.

    Raises:
        InputError: the criteria have no such version.
    """
    versions = list_versions(context, person, slug)
    if basis.version and basis.version not in versions:
        raise InputError(
            f"“{slug}” has no version {basis.version} of its criteria; there are: "
            f"{', '.join(map(str, versions)) or 'none yet'}."
        )
    reading = get_reading(context, person, slug, newest=True, version=basis.version)
    whole: dict[str, Any] = reading.get(build_report, EVERY)
    if not basis.cuts:
        return whole
    cut: dict[str, Any] = reading.get(OnBasis(build_report, basis), EVERY)
    return cut | {"drafts": whole["drafts"]}


@use_case(TEAM)
def get_paper_tables(context: Context, person: Person, slug: str) -> dict[str, str | pd.DataFrame]:
    """Return the paper's tables and methods paragraph: a text or CSV data for each file name."""
    reading = get_reading(context, person, slug, newest=True)
    texts: dict[str, str | pd.DataFrame] = reading.compute(write_paper_tables, EVERY)
    return texts


def write_paper_tables(frames: StudyFrames) -> dict[str, str | pd.DataFrame]:
    """Return the paper's tables and methods paragraph: a text or CSV data for each file name."""
    tables = paper_tables(frames)
    texts: dict[str, str | pd.DataFrame] = {
        "methods.md": show_tags(methods_paragraph(frames, build_report(frames)))
        + f"\n\nThe study was made with CoEval {__version__}.\n\n```bibtex\n{CITATION}```\n",
        "tables.md": tables_markdown(tables),
        "tables.tex": tables_latex(tables),
    }
    return texts | {f"{table.name}.csv": table.frame for table in tables}


@use_case(TEAM)
def get_table_files(context: Context, person: Person, slug: str, kind: str) -> dict[str, str]:
    """Return the paper's tables as csv, md or latex: a text for each file name.

    Raises:
        InputError: ``kind`` is none of these.
    """
    tables = get_paper_tables(context, person, slug)
    if kind == "csv":
        return {name: to_csv(frame) for name, frame in tables.items() if isinstance(frame, pd.DataFrame)}
    names = {"md": ("methods.md", "tables.md"), "latex": ("tables.tex",)}.get(kind)
    if names is None:
        raise InputError(f"There is no format “{kind}” for tables; choose csv, md or latex.")
    return {name: str(tables[name]) for name in names}


def compute_apart(context: Context) -> Readings:
    """Compute large reports in separate processes from now on, as a server does."""
    readings = get_readings(context.store)
    readings.compute_apart()
    return readings


def _get_reading(context: Context, slug: str, *, newest: bool = False) -> Reading:
    with context.store.read() as db:
        task = require_task(db, slug)
        fingerprint = reports.get_fingerprint(db, task.id)
    return get_readings(context.store).get(task, fingerprint, newest=newest)
