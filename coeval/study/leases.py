"""One worker at a time: a lease in the database, renewed while the work goes on, held until the worker has ended."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import suppress

from coeval.domain import LEASE, JobState, Lease
from coeval.errors import InputError, StorageError, SupersededError
from coeval.store import Database
from coeval.store.queries.drafting import jobs, leases
from coeval.study.access import Context

RENEW_SECONDS = 2.0
POLL_SECONDS = 0.25


class Hold:
    """A worker's hold on what it alone may work on, in any process of any server on this file::

        with Hold(context, job=7) as hold:
            hold.take("drafts of run 3", "The run “first”")
            ...
            with context.store.write() as db:
                hold.confirm(db)

    A worker that was cancelled has the lease until it has ended, and one that was killed until it has run out: who
    comes after it waits. While another worker goes on renewing it, who comes is refused.
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
            # that this is renewed tells that the job is at work; whoever takes the job over takes this away
            name = f"job {self.job}"
            self._take_over(name)
            self._names.append(name)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewing.join(RENEW_SECONDS)
        with suppress(StorageError), self.context.store.write() as db:
            leases.release_leases(db, self.holder)

    def take(self, name: str, title: str, *, wait: bool = False) -> None:
        """Take the lease of that name, once whoever has it is gone; ``title`` is how messages call it.

        With ``wait`` whoever is at it may take their time, and so may a worker that this one's job was taken from.

        Raises:
            InputError: another worker is at it, and was not cancelled.
        """
        standing = watched = self._try(name)
        deadline = time.monotonic() + LEASE.total_seconds()
        while standing is not None and watched is not None:
            if standing.renewed_at != watched.renewed_at:
                if not wait and not self._serves_us(standing) and not self._is_ending(standing):
                    raise InputError(
                        f"{title} is being worked on already{_by(standing)}: wait until that is done, or cancel it "
                        "first."
                    )
                watched, deadline = standing, time.monotonic() + LEASE.total_seconds()
            # nobody renews it, by this process's own clock, which cannot be set back
            if time.monotonic() > deadline:
                self._take_over(name)
                break
            time.sleep(POLL_SECONDS)
            standing = self._try(name)
        self._names.append(name)

    def _try(self, name: str) -> Lease | None:
        """Take it where it is free; otherwise the lease that stands in the way."""
        with self.context.store.write() as db:
            standing = leases.get_live_lease(db, name)
            if standing is None:
                leases.take_lease(db, name, self.holder, self.job)
            return standing

    def _take_over(self, name: str) -> None:
        with self.context.store.write() as db:
            leases.take_lease(db, name, self.holder, self.job)

    def _serves_us(self, standing: Lease) -> bool:
        """Whether it is of the same job: of a worker that was taken for gone, and ends when it next writes."""
        return standing.job is not None and standing.job == self.job

    def _is_ending(self, standing: Lease) -> bool:
        if standing.job is None:
            return False
        with self.context.store.read() as db:
            job = jobs.get_job(db, standing.job)
        return job is None or job.state not in (JobState.QUEUED, JobState.RUNNING)

    def confirm(self, db: Database) -> None:
        """Check, in the transaction that writes, that nobody has taken over meanwhile.

        Raises:
            SupersededError: somebody has, because this worker stood still for too long; nothing may be written.
        """
        for name in self._names:
            if not leases.is_held(db, name, self.holder):
                raise SupersededError(
                    "Another worker has taken this over, because this one stood still for "
                    f"{LEASE.total_seconds():g} seconds; what it had stored is kept."
                )

    def _renew(self) -> None:
        while not self._ended.wait(RENEW_SECONDS):
            with suppress(StorageError), self.context.store.write() as db:
                leases.renew_leases(db, self.holder)


def _by(lease: Lease) -> str:
    return f" by job {lease.job}" if lease.job is not None else " by another command or server"
