"""A job whose server has ended goes on at another, on PostgreSQL, and asks no model twice for what was kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from coeval.domain import Job, JobState, Person
from coeval.store import open_store
from coeval.usecases.access import Context
from coeval.usecases.drafting import jobs as drafting_jobs
from coeval.usecases.drafting.jobs import MOST_TAKEOVERS, Worker, mark_interrupted
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import Stub, start_stub
from tests.usecases.drafting.test_one_worker import AGED, MINE, an_hour_ago, asked_once, quick, wait_for

__all__ = ["quick"]
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
PAIRS = 40


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub(latency=0.1) as started:
        yield started


@pytest.fixture
def served(context: Context, owner: Person, stub: Stub) -> Context:
    import_study(context, owner, make_study(10))
    return replace(context, settings=replace(context.settings, base_url=stub.url, api_key="k", timeout=5.0))


def other_server(context: Context, stack: ExitStack) -> Context:
    store = open_store(context.store.address)
    stack.callback(store.close)
    return replace(context, store=store)


def abandon(context: Context) -> None:
    """Make all jobs look as if their servers had ended an hour ago."""
    with context.store.write() as db:
        db.conn.execute(AGED.format("job SET updated_at"), [an_hour_ago()])
        db.conn.execute(AGED.format("lease SET renewed_at"), [an_hour_ago()])


def find(context: Context, owner: Person, job: Job) -> Job:
    return next(one for one in drafting_jobs.list_jobs(context, owner, "demo") if one.id == job.id)


@pytest.mark.slow
def test_one_of_two_servers_goes_on_with_an_abandoned_job(served: Context, owner: Person, stub: Stub) -> None:
    job = drafting_jobs.start_job(served, owner, "demo", MINE)
    assert Worker(served).take_over() is None  # it has just been queued
    abandon(served)
    assert mark_interrupted(served) == 0 and find(served, owner, job).state is JobState.QUEUED
    with ExitStack() as stack:
        servers = [Worker(other_server(served, stack)) for _ in range(3)]
        taken: list[Job | None] = []
        threads = [threading.Thread(target=lambda one=one: taken.append(one.take_over())) for one in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.id for one in taken if one] == [job.id] and len(taken) == 3
        servers[0].start(job)
        wait_for(served, owner, job.id, JobState.DONE, JobState.FAILED)
    found = find(served, owner, job)
    assert (found.state, found.done, found.takeovers) == (JobState.DONE, PAIRS, 1), found
    assert stub.paid == PAIRS and asked_once(stub)


def test_a_job_that_ends_every_server_stops(served: Context, owner: Person) -> None:
    job = drafting_jobs.start_job(served, owner, "demo", MINE)
    for number in range(MOST_TAKEOVERS):
        abandon(served)
        taken = Worker(served).take_over()
        assert taken is not None and taken.takeovers == number
    abandon(served)
    assert Worker(served).take_over() is None
    found = find(served, owner, job)
    assert found.state is JobState.CANCELLED and "interrupted" in found.message


@pytest.mark.slow
def test_a_server_that_stops_leaves_its_job_to_the_next(
    served: Context, owner: Person, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting_jobs, "FOLLOW_SECONDS", 0.05)
    job = drafting_jobs.start_job(served, owner, "demo", MINE)
    with ExitStack() as stack:
        first, second = (Worker(other_server(served, stack)) for _ in range(2))
        first.start(job)
        while stub.paid < 6:
            time.sleep(0.01)
        first.stop()
        left = find(served, owner, job)
        assert left.state is JobState.QUEUED and "another server will continue" in left.message
        abandon(served)
        second.follow()
        wait_for(served, owner, job.id, JobState.DONE, JobState.FAILED)
        second.stop()
    assert find(served, owner, job).state is JobState.DONE
    assert stub.paid == PAIRS and asked_once(stub)
