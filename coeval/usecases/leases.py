"""Leases for one worker at a time, renewed during the work and held until the worker ends."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import suppress

from coeval.domain import LEASE, Job, Lease
from coeval.errors import InputError, StorageError, SupersededError
from coeval.store import Database
from coeval.store.queries import jobs
from coeval.usecases.access import Context

RENEW_SECONDS = 2.0
POLL_SECONDS = 0.25


class Hold:
    """A worker's exclusive hold, across all processes of all servers on this file::

        with Hold(context, job=7) as hold:
            hold.take("drafts of run 3", "The run “first”")
            ...
            with context.store.write() as db:
                hold.confirm(db)

    A cancelled worker keeps the lease until it has ended, and a killed worker until the lease expires; the
    next worker waits. As long as another worker renews the lease, the next one is refused.
    """

    def __init__(self, context: Context, *, job: int | None = None) -> None:
        self.context, self.job = context, job
        self.holder = uuid.uuid4().hex
        self._names: list[str] = []
        self._ended = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name="leases", daemon=True)

    def __enter__(self) -> Hold:
        self._renewing.start()
        if self.job is not None:
            # renewals of this lease show that the job is running
            name = f"job {self.job}"
            self._take_over(name)
            self._names.append(name)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewing.join(RENEW_SECONDS)
        with suppress(StorageError), self.context.store.write() as db:
            jobs.release_leases(db, self.holder)

    def take(self, name: str, title: str, *, wait: bool = False) -> None:
        """Take the lease with that name after its holder has gone; ``title`` is its name in messages.

        With ``wait``, wait for as long as the holder works. A worker that lost this worker's job is always
        waited for.

        Raises:
            InputError: another worker holds it, and was not cancelled.
        """
        standing = watched = self._try(name)
        deadline = time.monotonic() + LEASE.total_seconds()
        while standing is not None and watched is not None:
            if standing.renewed_at != watched.renewed_at:
                job = self._job_of(standing)
                is_ending = standing.job is not None and not (job and job.is_busy)
                if not wait and not self._serves_us(standing) and not is_ending:
                    by = "" if job else " by another command or server"
                    raise InputError(f"{title} is already in progress{by}: {wait_or_stop(job)}.")
                watched, deadline = standing, time.monotonic() + LEASE.total_seconds()
            # it was not renewed, by this process's monotonic clock, which cannot be set back
            if time.monotonic() > deadline:
                self._take_over(name)
                break
            time.sleep(POLL_SECONDS)
            standing = self._try(name)
        self._names.append(name)

    def _try(self, name: str) -> Lease | None:
        """Take the lease if it is free, or else return the current lease."""
        with self.context.store.write() as db:
            standing = jobs.get_live_lease(db, name)
            if standing is None:
                jobs.take_lease(db, name, self.holder, self.job)
            return standing

    def _take_over(self, name: str) -> None:
        with self.context.store.write() as db:
            jobs.take_lease(db, name, self.holder, self.job)

    def _serves_us(self, standing: Lease) -> bool:
        """Return whether the lease belongs to the same job and its holder was considered gone."""
        return standing.job is not None and standing.job == self.job

    def _job_of(self, standing: Lease) -> Job | None:
        if standing.job is None:
            return None
        with self.context.store.read() as db:
            return jobs.get_job(db, standing.job)

    def confirm(self, db: Database) -> None:
        """Check, in the write transaction, that nobody has taken over.

        Raises:
            SupersededError: another worker has, because this one was stuck for too long; nothing may be
                written.
        """
        for name in self._names:
            if not jobs.is_lease_held(db, name, self.holder):
                raise SupersededError(
                    "Another worker has taken over, because this one did not respond for "
                    f"{LEASE.total_seconds():g} seconds; the data that it stored is kept."
                )

    def _renew(self) -> None:
        while not self._ended.wait(RENEW_SECONDS):
            with suppress(StorageError), self.context.store.write() as db:
                jobs.renew_leases(db, self.holder)


def wait_or_stop(job: Job | None) -> str:
    """Return what to do about work that is in progress, with the page that shows it."""
    page = "" if job is None else " in Set-up, Pre-fill" if job.kind in jobs.PREFILLS else " in Criteria"
    return f"wait until it is done, or stop it{page}"
