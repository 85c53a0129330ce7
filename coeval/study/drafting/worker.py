"""Carries out jobs in a thread of its own, so that no page has to stay open for them."""

from __future__ import annotations

import asyncio
import threading
import time

from coeval.domain import Job, JobState
from coeval.errors import CoevalError
from coeval.llm.running.progress import Progress
from coeval.store.queries.drafting import jobs
from coeval.study.access import OPERATOR, Context
from coeval.study.drafting.execution import run_drafting
from coeval.study.drafting.run_settings import read_run_settings


class Worker:
    """One thread per running job, in the process of the server."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def start(self, job: Job) -> None:
        threading.Thread(target=self._run, args=(job,), name=f"job-{job.id}", daemon=True).start()

    def _run(self, job: Job) -> None:
        self._update(job, state=JobState.RUNNING)
        try:
            asyncio.run(self._draft(job))
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
            should_stop=_Watch(self.context, job),
            job=job.id,
        )
        stored = self._read(job)
        if stored.state is JobState.CANCELLED:
            self._update(job, done=report.done, failed=report.failed)
            return
        state = JobState.DONE if report.complete else JobState.FAILED
        self._update(job, state=state, done=report.done, failed=report.failed, message=str(report))

    def _note(self, job: Job, progress: Progress) -> None:
        self._update(job, done=progress.done, failed=progress.failed, message=str(progress))

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


class _Watch:
    """Whether a job was cancelled; asked often, looked up at most twice a second."""

    def __init__(self, context: Context, job: Job) -> None:
        self.context, self.job = context, job
        self._asked, self._stop = 0.0, False

    def __call__(self) -> bool:
        if time.monotonic() - self._asked > 0.5:
            self._asked = time.monotonic()
            with self.context.store.read() as db:
                stored = jobs.get_job(db, self.job.id)
            self._stop = stored is not None and stored.state is JobState.CANCELLED
        return self._stop


def mark_interrupted(context: Context) -> int:
    """Say of jobs that were cut off that they can be started again; how many there were.

    A job that another server is at is left alone: its lease tells.
    """
    with context.store.write() as db:
        return jobs.mark_interrupted(db)
