"""One run, one worker: whoever starts it twice, beside another command or on another server, pays once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from coeval.clock import time_from_now
from coeval.domain import LEASE, JobState, Person, Study
from coeval.errors import InputError, StorageError, SupersededError
from coeval.store import open_store
from coeval.store.queries import jobs
from coeval.ui.components.view import jobs_view
from coeval.usecases import leases as holding
from coeval.usecases.access import Context
from coeval.usecases.drafting import jobs as drafting_jobs
from coeval.usecases.drafting.execution import RunReport, run_drafting
from coeval.usecases.drafting.jobs import Worker
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.leases import Hold
from coeval.usecases.study_import import import_study
from tests.support.models.openai_stub import Stub, start_stub

MINE = RunSettings(label="mine", concurrency=2)
PAIRS = 8
AGED = "UPDATE {} = ?"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(holding, "POLL_SECONDS", 0.02)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub(latency=0.15) as started:
        yield started


@pytest.fixture
def served(context: Context, owner: Person, study: Study, stub: Stub) -> Context:
    import_study(context, owner, study)
    return replace(context, settings=replace(context.settings, base_url=stub.url, api_key="k", timeout=5.0))


def an_hour_ago() -> str:
    return time_from_now(-timedelta(hours=1))


def other_server(context: Context) -> Context:
    """The same file, open in what might as well be another process."""
    return replace(context, store=open_store(context.store.address))


def wait_for(context: Context, owner: Person, job: int, *states: JobState) -> None:
    deadline = time.monotonic() + 120
    while True:
        (found,) = [one for one in drafting_jobs.list_jobs(context, owner, "demo") if one.id == job]
        if found.state in states:
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def asked_once(stub: Stub) -> bool:
    asked = Counter(str(body["messages"]) for body in stub.bodies)
    return set(asked.values()) == {1}


def test_a_command_beside_a_command_is_refused_and_pays_nothing(
    served: Context, owner: Person, stub: Stub
) -> None:
    ended: list[RunReport | Exception] = []

    def draft(context: Context) -> None:
        try:
            ended.append(asyncio.run(run_drafting(context, owner, "demo", MINE)))
        except Exception as error:
            ended.append(error)

    both = [threading.Thread(target=draft, args=(one,)) for one in (served, other_server(served))]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(60)
    reports = [one for one in ended if isinstance(one, RunReport)]
    refusals = [one for one in ended if isinstance(one, Exception)]
    assert [one.done for one in reports] == [PAIRS]
    assert [type(one) for one in refusals] == [InputError] and "already in progress" in str(refusals[0])
    assert stub.paid == PAIRS and asked_once(stub)


def test_a_run_cancelled_and_started_again_waits_for_its_first_worker(
    served: Context, owner: Person, stub: Stub
) -> None:
    first = drafting_jobs.start_job(served, owner, "demo", MINE)
    Worker(served).start(first)
    while not stub.bodies:
        time.sleep(0.01)
    drafting_jobs.cancel_job(served, owner, first.id)
    again = drafting_jobs.start_job(served, owner, "demo", MINE)
    Worker(served).start(again)
    wait_for(served, owner, again.id, JobState.DONE, JobState.FAILED)
    (last,) = [one for one in drafting_jobs.list_jobs(served, owner, "demo") if one.id == again.id]
    assert last.state is JobState.DONE, last.message
    assert stub.paid == PAIRS and asked_once(stub)


def test_a_refusal_names_the_run_and_the_page_that_shows_it(served: Context, owner: Person) -> None:
    job = drafting_jobs.start_job(served, owner, "demo", MINE)
    refused = f"The run “{job.label}” is already in progress{{}}: wait .* or stop it in Set-up, Pre-fill\\."
    with pytest.raises(InputError, match=refused.format(", started by Olu")):
        drafting_jobs.start_job(served, owner, "demo", MINE)
    with Hold(served, job=job.id) as hold:
        hold.take(f"run demo: {job.label}", "The run")
        with pytest.raises(InputError, match=refused.format("")):
            asyncio.run(run_drafting(served, owner, "demo", MINE))
    assert job.label in str(jobs_view([replace(job, message="0 of 8 done")], "Pre-fills"))


@pytest.mark.sqlite  # on PostgreSQL another server takes the job over: test_takeover
def test_a_job_cut_off_shows_when_somebody_looks(served: Context, owner: Person) -> None:
    drafting_jobs.start_job(served, owner, "demo", MINE)
    with served.store.write() as db:
        db.conn.execute(AGED.format("job SET updated_at"), [an_hour_ago()])
    (job,) = drafting_jobs.list_jobs(served, owner, "demo")
    assert job.state is JobState.CANCELLED and "interrupted" in job.message
    assert drafting_jobs.start_job(served, owner, "demo", MINE).id > job.id


class OwnClock:
    """The clock by which a process waits; ``meanwhile`` is what others do while it sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.at, self.slept, self.meanwhile = 0.0, 0.0, meanwhile
        clock = SimpleNamespace(monotonic=lambda: self.at, sleep=self.sleep)
        monkeypatch.setattr(holding, "time", clock)

    def sleep(self, seconds: float) -> None:
        self.at += seconds
        self.slept += seconds
        self.meanwhile()


def set_lease(context: Context, holder: str, since: timedelta) -> None:
    """A lease that somebody renewed so long ago; a negative span is a time to come, of a clock that ran ahead."""
    with context.store.write() as db:
        jobs.take_lease(db, "a run", holder)
        db.conn.execute(AGED.format("lease SET renewed_at"), [time_from_now(-since)])


def is_held(context: Context, holder: str) -> bool:
    with context.store.read() as db:
        return jobs.is_lease_held(db, "a run", holder)


@pytest.mark.parametrize("since", [LEASE, timedelta(hours=1), timedelta(days=-400)])
def test_a_lease_that_ran_out_is_taken_at_once(
    served: Context, monkeypatch: pytest.MonkeyPatch, since: timedelta
) -> None:
    """Also one of a time that no clock that is set by a time server can have said."""
    clock = OwnClock(monkeypatch)
    set_lease(served, "killed", since * 1.01)
    with Hold(served) as hold:
        hold.take("a run", "The run")
        assert is_held(served, hold.holder) and not clock.slept


@pytest.mark.parametrize("since", [timedelta(0), LEASE / 2, -LEASE / 2])
def test_a_lease_that_nobody_renews_is_waited_for_by_ones_own_clock(
    served: Context, monkeypatch: pytest.MonkeyPatch, since: timedelta
) -> None:
    """Whatever clock wrote it, and wherever that clock jumps meanwhile."""
    set_lease(served, "killed", since)
    clock = OwnClock(monkeypatch, lambda: None)
    monkeypatch.setattr(jobs, "live_since", lambda: {"since": "0", "until": "9"})  # it never looks old
    with Hold(served) as hold:
        hold.take("a run", "The run")
        assert is_held(served, hold.holder)
    assert LEASE.total_seconds() <= clock.slept <= LEASE.total_seconds() + 1


def test_a_lease_that_somebody_renews_is_theirs(served: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    set_lease(served, "somebody else", timedelta(0))
    OwnClock(monkeypatch, lambda: set_lease(served, "somebody else", timedelta(seconds=-1)))
    with Hold(served) as hold, pytest.raises(InputError, match="already in progress by another command"):
        hold.take("a run", "The run")
    assert is_held(served, "somebody else")


def test_of_many_who_want_a_lease_one_has_it_at_a_time(served: Context) -> None:
    at_work: list[str] = []
    most: list[int] = []

    def work(context: Context) -> None:
        with Hold(context) as hold:
            hold.take("a run", "The run", wait=True)
            at_work.append(hold.holder)
            most.append(len(at_work))
            time.sleep(0.05)
            with context.store.write() as db:
                hold.confirm(db)
            at_work.remove(hold.holder)

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, other_server(served)) for _ in range(6)]:
            done.result(120)
    assert most == [1] * 6


def test_a_worker_that_stood_still_writes_nothing_more(served: Context) -> None:
    with Hold(served) as slept:
        slept.take("a run", "The run")
        with served.store.write() as db:
            jobs.take_lease(db, "a run", "somebody else")
        with pytest.raises(StorageError, match="taken over"), served.store.write() as db:
            slept.confirm(db)


def test_a_job_that_was_taken_over_waits_for_its_first_worker_which_writes_nothing_more(
    served: Context, owner: Person
) -> None:
    """The first was only slow: it still renews the lease of the run when the second comes."""
    job = drafting_jobs.start_job(served, owner, "demo", MINE)
    taken = threading.Event()

    def take_over() -> None:
        with Hold(served, job=job.id) as second:
            began.set()
            second.take("a run", "The run")
            taken.set()

    began, thread = threading.Event(), threading.Thread(target=take_over)
    with Hold(served, job=job.id) as first:
        first.take("a run", "The run")
        thread.start()
        assert began.wait(60) and not taken.wait(0.3)
        with pytest.raises(SupersededError, match="taken over"), served.store.write() as db:
            first.confirm(db)
    thread.join(60)
    assert taken.is_set()
