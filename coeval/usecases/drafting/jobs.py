"""Queue, list and cancel runs as jobs in the database, and carry them out in threads.

A job continues without the page that started it, can be cancelled, and resumes after a crash. The drafts show
what is done and the ledger shows what is paid for, so there is no other state to lose.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from coeval.domain import Job, JobState, Person
from coeval.errors import (
    CoevalError,
    InputError,
    ModelError,
    NotFoundError,
    StorageError,
    SupersededError,
    UnreachableError,
)
from coeval.llm.client.client import NO_MODEL
from coeval.llm.running.progress import Progress
from coeval.store import Database, Storage
from coeval.store.queries import drafts, jobs
from coeval.usecases.access import OPERATOR, OWNERS, Context, require_task, use_case
from coeval.usecases.criteria_rounds import get_next_version
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.model_requests import draft_criteria
from coeval.usecases.drafting.preparation import Prepared, prepare_run
from coeval.usecases.drafting.run_settings import RunSettings, read_run_settings
from coeval.usecases.leases import Hold, wait_or_stop

# Pre-fills as jobs in the database: queued, listed, cancelled, restarted.

KIND, BATCH = jobs.PREFILLS
CRITERIA = "criteria"
MOST_TAKEOVERS = 20
"""After this number of interruptions an owner must check a job, because the job may crash the servers."""
UNDRAFTED = "cancelled before its first draft"


@use_case(OWNERS)
def start_job(context: Context, person: Person, slug: str, settings: RunSettings) -> Job:
    """Queue a pre-fill, which a worker (``Worker``) carries out.

    Raises:
        NotFoundError, InputError: see ``prepare_run``.
    """
    prepared = prepare_run(context, person, slug, settings)
    with context.store.write() as db:
        _refuse_second(context, db, prepared)
        return jobs.add_job(
            db,
            Job(
                kind=KIND,
                task=prepared.task.id,
                state=JobState.QUEUED,
                params={"slug": slug, "settings": settings.complete(context.settings).to_params()},
                total=len(prepared.items),
                message=prepared.run.label,
                created_by=person.name,
            ),
        )


def _refuse_second(context: Context, db: Database, prepared: Prepared) -> None:
    """Refuse a second job for a run, because it would pay for the same requests."""
    jobs.mark_interrupted(db, count_takeovers(context))
    for job in jobs.list_active(db, prepared.task.id, KIND):
        if job.label == prepared.run.label:
            raise InputError(
                f"The run “{prepared.run.label}” is already in progress, started by {job.created_by}: "
                f"{wait_or_stop(job)}."
            )


def count_takeovers(context: Context) -> int:
    """Return how often an interrupted job may resume by itself; only a shared database has other servers."""
    return MOST_TAKEOVERS if context.settings.server else 0


@use_case(OWNERS)
def start_criteria_draft(context: Context, person: Person, slug: str, **asked: Any) -> Job:
    """Queue a draft of criteria, which a worker (``Worker``) carries out; ``asked`` goes to ``draft_criteria``.

    Raises:
        ModelError: no model is set up.
        InputError: criteria are being drafted already.
    """
    if not context.settings.has_model:
        raise ModelError(NO_MODEL)
    with context.store.write() as db:
        task = require_task(db, slug)
        jobs.mark_interrupted(db, count_takeovers(context))
        for job in jobs.list_active(db, task.id, CRITERIA):
            raise InputError(
                f"Criteria are being drafted already, started by {job.created_by}: {wait_or_stop(job)}."
            )
        params = {"slug": slug, "asked": asked, "version": get_next_version(db, task)}
        job = Job(CRITERIA, task.id, JobState.QUEUED, params, 1, created_by=person.name)
        return jobs.add_job(db, job)


@use_case(OWNERS)
def dismiss_job(context: Context, person: Person, slug: str, kind: str) -> None:
    """Record that an owner has read how the newest job of a kind ended, so that pages no longer show it."""
    with context.store.write() as db:
        for job in jobs.list_jobs(db, require_task(db, slug).id, (kind,), limit=1):
            if not job.is_busy:
                jobs.update_job(db, job.id, dismissed=1)


@use_case(OWNERS)
def list_jobs(context: Context, person: Person, slug: str, kinds: Sequence[str] = (KIND, BATCH)) -> list[Job]:
    """Return a task's jobs of these kinds, by default its pre-fills, and their progress, newest first."""
    with context.store.read() as db:
        task = require_task(db, slug)
        interrupted = jobs.has_interrupted(db, count_takeovers(context))
    if interrupted:
        with context.store.write() as db:
            jobs.mark_interrupted(db, count_takeovers(context))
    with context.store.read() as db:
        return jobs.list_jobs(db, task.id, kinds)


@use_case(OWNERS)
def cancel_job(context: Context, person: Person, job: int) -> None:
    """Stop a job. Drafts are kept, and answers that were paid for are not paid again."""
    with context.store.write() as db:
        stored = jobs.get_job(db, job)
        if stored and stored.is_busy:
            kept = "its answers" if stored.kind == CRITERIA else "its drafts"
            said = f"cancelled; {kept} are kept"
            if stored.kind == KIND and not stored.done:
                # requests that are open can still become drafts
                said = "cancelled" if stored.state is JobState.RUNNING else UNDRAFTED
            jobs.update_job(db, job, state=JobState.CANCELLED, message=said)


@use_case(OWNERS)
def restart_job(context: Context, person: Person, slug: str, *, retry_unscored: bool = False) -> Job:
    """Queue the newest pre-fill again for missing drafts or, with ``retry_unscored``, for unreadable ones.

    Raises:
        NotFoundError: the task has no earlier pre-fill.
    """
    listed = list_jobs(context, person, slug)
    if not listed:
        raise NotFoundError(f"“{slug}” has no pre-fill yet: start one first.")
    settings = replace(read_run_settings(listed[0].params), retry_unscored=retry_unscored)
    return start_job(context, person, slug, settings)


@use_case(OWNERS)
def draft_line(context: Context, person: Person, slug: str, instance: int, criterion: int) -> None:
    """Draft one evaluation now in the run that annotators see; without such a run, begin one by the defaults.

    Raises:
        ModelError: no model is set up, or it gave no answer.
        InputError: the run has settings that are not known here, another worker carries it out, or the draft exists.
    """
    with context.store.read() as db:
        shown = drafts.get_shown_run(db, require_task(db, slug).id)
    label = shown.label if shown else ""
    started = (read_run_settings(job.params) for job in list_jobs(context, person, slug))
    settings = next((each for each in started if shown and each.label == label), RunSettings(label=label))
    settings = replace(settings, limit=None)
    drafted = asyncio.run(run_drafting(context, person, slug, settings, only=(instance, criterion)))
    if not drafted.total:
        raise InputError("This evaluation has its draft already: reload the page.")
    if not drafted.done:
        raise ModelError(drafted.message)


# Carries out jobs in separate threads, so no page has to stay open for them.

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 3.0
"""Seconds between two checks for jobs of servers that have stopped."""
POLL_SECONDS = 0.5
"""Seconds between two looks at whether a draft of criteria was stopped."""
STOP_SECONDS = 10.0
"""Seconds for which a stopping server still accepts answers to its open requests."""


class Worker:
    """Carries out jobs in the server's process, each in its own thread."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._at_work: set[int] = set()

    def start(self, job: Job) -> None:
        self._at_work.add(job.id)
        self._begin(f"job-{job.id}", lambda: self._work(job))

    def follow(self) -> None:
        """From now on, look for jobs of stopped servers, and continue them."""
        self._begin("takeover", self._follow)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Start no new requests, and leave the jobs to another server or to the next start of this one."""
        self._stopping.set()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.1, until - time.monotonic()))

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _follow(self) -> None:
        while not self._stopping.wait(FOLLOW_SECONDS):
            try:
                job = self.take_over()
            except StorageError as error:
                log.warning("cannot look for jobs of other servers: %s", error)
                continue
            if job is not None:
                log.warning("job %d is taken over: its server has ended", job.id)
                self.start(job)

    def take_over(self) -> Job | None:
        """Claim the oldest job without a worker for this server, and return it; return None if there is none.

        A job of a thread in this process is never claimed, even if the thread has shown no sign of life for
        long.
        """
        most, mine = count_takeovers(self.context), frozenset(self._at_work)
        with self.context.store.read() as db:
            if jobs.find_abandoned(db, most, mine) is None:
                return None
        with self.context.store.write() as db:
            return jobs.take_over(db, most, mine)

    def _work(self, job: Job) -> None:
        try:
            self._run(job)
        finally:
            self._at_work.discard(job.id)

    def _run(self, job: Job) -> None:
        try:
            self._update(job, state=JobState.RUNNING)
            asyncio.run(self._draft_criteria(job) if job.kind == CRITERIA else self._draft(job))
        except SupersededError as error:
            log.warning("job %d: %s", job.id, error)
        except UnreachableError as error:
            # the first server that reaches the database continues the job
            log.warning("job %d stopped: %s", job.id, error)
        except CoevalError as error:
            self._update(job, state=JobState.FAILED, message=error.told)
        except Exception as error:
            self._update(job, state=JobState.FAILED, message=f"{type(error).__name__}: {error}")
            raise

    async def _draft(self, job: Job) -> None:
        report = await run_drafting(
            self.context,
            OPERATOR,
            str(job.params["slug"]),
            read_run_settings(job.params),
            on_progress=lambda progress: self._note(job, progress),
            should_stop=_Watch(self.context, job, self._stopping),
            job=job.id,
        )
        if report.unreachable:
            raise UnreachableError(report.message)
        stored = self._read(job)
        counts = {"total": report.total, "done": report.done, "failed": report.failed}
        if report.failures:
            log.warning("run “%s”: %s", report.label, report.failures)
        if stored.state is JobState.CANCELLED:
            said = "cancelled; its drafts are kept" if report.done or stored.done else UNDRAFTED
            message = "; ".join(filter(None, (said, report.failures)))
            self._update(job, **counts, state=stored.state, message=message)
        elif self._stopping.is_set() and not report.complete:
            self._hand_on(job)
        else:
            state = JobState.DONE if report.complete else JobState.FAILED
            self._update(job, state=state, message=str(report), **counts)

    async def _draft_criteria(self, job: Job) -> None:
        slug, asked = str(job.params["slug"]), cast(dict[str, Any], job.params["asked"])
        version = cast(int | None, job.params["version"])
        should_stop = _Watch(self.context, job, self._stopping)
        with Hold(self.context, job=job.id) as hold:
            await asyncio.to_thread(hold.take, f"criteria {slug}", "The draft of criteria")
            work = asyncio.ensure_future(
                draft_criteria(
                    self.context, OPERATOR, slug, **asked, version=version, job=job.id,
                    on_progress=lambda progress: self._note(job, progress),
                )
            )  # fmt: skip
            while not work.done():
                await asyncio.wait([work], timeout=POLL_SECONDS)
                if should_stop():
                    work.cancel()
            try:
                work.result()
            except asyncio.CancelledError:
                if self._read(job).state is not JobState.CANCELLED:
                    self._hand_on(job)

    def _hand_on(self, job: Job) -> None:
        """Leave the job of a stopping server to the other servers or, if there are none, to a person."""
        if count_takeovers(self.context):
            self._update(
                job, state=JobState.QUEUED, message="its server stopped; another server will continue it"
            )
        else:
            said = "interrupted; start it again to continue"
            self._update(job, state=JobState.CANCELLED, message=said)

    def _note(self, job: Job, progress: Progress) -> None:
        more = {} if progress.total is None else {"total": progress.total}
        with suppress(StorageError):
            counts = {"done": progress.done, "failed": progress.failed, "unread": progress.unread}
            self._update(job, **counts, message=str(progress), **more)

    def _update(self, job: Job, **values: object) -> None:
        with self.context.store.write() as db:
            if "state" not in values:
                stored = jobs.get_job(db, job.id)
                if stored is not None and stored.state is JobState.CANCELLED:
                    values.pop("message", None)
            jobs.update_job(db, job.id, **values)

    def _read(self, job: Job) -> Job:
        with self.context.store.read() as db:
            stored = jobs.get_job(db, job.id)
        assert stored is not None
        return stored


WORKERS: WeakKeyDictionary[Storage, Worker] = WeakKeyDictionary()
"""The worker of each open store, so that the server can stop the jobs that its pages started."""


def get_worker(context: Context) -> Worker:
    return WORKERS.setdefault(context.store, Worker(context))


class _Watch:
    """Checks, at most twice a second, whether a job was cancelled or its server is stopping."""

    def __init__(self, context: Context, job: Job, stopping: threading.Event) -> None:
        self.context, self.job, self.stopping = context, job, stopping
        self._asked, self._stop = 0.0, False

    def __call__(self) -> bool:
        if time.monotonic() - self._asked > 0.5:
            self._asked = time.monotonic()
            with suppress(UnreachableError), self.context.store.read() as db:
                stored = jobs.get_job(db, self.job.id)
                self._stop = stored is not None and stored.state is JobState.CANCELLED
        return self._stop or self.stopping.is_set()


def mark_interrupted(context: Context) -> int:
    """Mark interrupted jobs as ready to restart; return their number.

    A job with a valid lease of another server is left alone, and so is one that another server will continue.
    """
    with context.store.write() as db:
        return jobs.mark_interrupted(db, count_takeovers(context))
