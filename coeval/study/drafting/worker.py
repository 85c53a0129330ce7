"""Carries out jobs in threads of their own, so that no page has to stay open for them."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from coeval.domain import Job, JobState
from coeval.errors import CoevalError, StorageError, SupersededError, UnreachableError
from coeval.llm.running.progress import Progress
from coeval.store import Storage
from coeval.store.queries.drafting import jobs
from coeval.study.access import OPERATOR, Context
from coeval.study.drafting.execution import run_drafting
from coeval.study.drafting.jobs import count_takeovers
from coeval.study.drafting.run_settings import read_run_settings

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 3.0
"""How often a server looks for jobs whose server has ended: within this and a lease it goes on with them."""
STOP_SECONDS = 10.0
"""How long a server that stops lets the questions under way be answered and kept."""


class Worker:
    """One thread per running job, in the process of the server."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._at_work: set[int] = set()

    def start(self, job: Job) -> None:
        self._at_work.add(job.id)
        self._begin(f"job-{job.id}", lambda: self._work(job))

    def follow(self) -> None:
        """Look from now on for jobs of servers that have ended, and go on with them."""
        self._begin("takeover", self._follow)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Begin no more questions, and leave the jobs to another server, or to the next start."""
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
                log.warning("jobs of other servers cannot be looked for: %s", error)
                continue
            if job is not None:
                log.warning("job %d is taken over: its server has ended", job.id)
                self.start(job)

    def take_over(self) -> Job | None:
        """Have the oldest job that nobody is at any more, for this server alone; None where there is none.

        A job that a thread of this process is at is none of them, however long it could not show a sign of life.
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
            asyncio.run(self._draft(job))
        except SupersededError as error:
            log.warning("job %d: %s", job.id, error)
        except UnreachableError as error:
            # whoever reaches the database first goes on with it
            log.warning("job %d stopped: %s", job.id, error)
        except CoevalError as error:
            self._update(job, state=JobState.FAILED, message=str(error))
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
        if stored.state is JobState.CANCELLED:
            self._update(job, **counts)
        elif self._stopping.is_set() and not report.complete:
            self._hand_on(job)
        else:
            state = JobState.DONE if report.complete else JobState.FAILED
            self._update(job, state=state, message=str(report), **counts)

    def _hand_on(self, job: Job) -> None:
        """Leave a job of a server that stops: to the other servers, or to a person where there are none."""
        if count_takeovers(self.context):
            self._update(job, state=JobState.QUEUED, message="its server stopped; another will go on with it")
        else:
            said = "cut off; start it again to go on where it was"
            self._update(job, state=JobState.CANCELLED, message=said)

    def _note(self, job: Job, progress: Progress) -> None:
        more = {} if progress.total is None else {"total": progress.total}
        with suppress(StorageError):
            self._update(job, done=progress.done, failed=progress.failed, message=str(progress), **more)

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
"""The worker of each open store: the server stops the jobs that its pages started."""


def get_worker(context: Context) -> Worker:
    return WORKERS.setdefault(context.store, Worker(context))


class _Watch:
    """Whether a job was cancelled, or its server stops; asked often, looked up at most twice a second."""

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
    """Say of jobs that were cut off that they can be started again; how many there were.

    A job that another server is at is left alone: its lease tells. So is one that another server will go on with.
    """
    with context.store.write() as db:
        return jobs.mark_interrupted(db, count_takeovers(context))
