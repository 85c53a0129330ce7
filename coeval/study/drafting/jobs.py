"""Pre-fills as jobs in the database: queued, listed, cancelled, started again.

A job goes on without the page that started it, can be cancelled, and after a crash goes on where it was. What
is drafted is derived from the drafts themselves, and what was paid for from the ledger, so there is no state
to lose.
"""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Job, JobState, Person
from coeval.errors import InputError, NotFoundError
from coeval.store import Database
from coeval.store.queries.drafting import jobs
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.drafting.preparing import Prepared, prepare_run
from coeval.study.drafting.run_settings import RunSettings, read_run_settings

KIND = "evaluations"
MOST_TAKEOVERS = 20
"""A job that was cut off so often may be what ends the servers: an owner looks at it first."""


@use_case(OWNERS)
def start_job(context: Context, person: Person, slug: str, settings: RunSettings) -> Job:
    """Queue a pre-fill; a worker (``worker``) carries it out.

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
    """One job at a time for a run: a second would ask, and pay, for the same."""
    jobs.mark_interrupted(db, count_takeovers(context))
    for job in jobs.list_active(db, prepared.task.id):
        if read_run_settings(job.params).label == prepared.run.label:
            raise InputError(
                f"The run “{prepared.run.label}” is under way already (job {job.id}, started by {job.created_by}): "
                "wait until it is done, or cancel it first."
            )


def count_takeovers(context: Context) -> int:
    """How often a job that was cut off goes on by itself: only a database that several servers use has others."""
    return MOST_TAKEOVERS if context.settings.server else 0


@use_case(OWNERS)
def list_jobs(context: Context, person: Person, slug: str) -> list[Job]:
    """See a task's pre-fills and how far they are, newest first."""
    with context.store.read() as db:
        task = require_task(db, slug)
        interrupted = jobs.has_interrupted(db, count_takeovers(context))
    if interrupted:
        with context.store.write() as db:
            jobs.mark_interrupted(db, count_takeovers(context))
    with context.store.read() as db:
        return jobs.list_jobs(db, task.id)


@use_case(OWNERS)
def cancel_job(context: Context, person: Person, job: int) -> None:
    """Stop a pre-fill; what it has drafted stays, and it can be started again."""
    with context.store.write() as db:
        stored = jobs.get_job(db, job)
        if stored and stored.state in (JobState.QUEUED, JobState.RUNNING):
            jobs.update_job(db, job, state=JobState.CANCELLED, message="cancelled; what was drafted is kept")


@use_case(OWNERS)
def restart_job(context: Context, person: Person, slug: str, *, retry_unscored: bool = False) -> Job:
    """Queue the newest pre-fill again: what it lacks, or with ``retry_unscored`` what could not be read.

    Raises:
        NotFoundError: nothing was pre-filled before.
    """
    listed = list_jobs(context, person, slug)
    if not listed:
        raise NotFoundError(f"Nothing was pre-filled for “{slug}” yet: start a pre-fill first.")
    settings = replace(read_run_settings(listed[0].params), retry_unscored=retry_unscored)
    return start_job(context, person, slug, settings)
