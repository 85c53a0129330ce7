"""Three servers on one PostgreSQL database, killed at random, and then the database itself: nothing is lost or doubled.

A few people for some seconds here. The whole trial, two minutes of 200 people:
``COEVAL_TRIAL_PEOPLE=200 COEVAL_TRIAL_SECONDS=120 pytest -s tests/http/test_replicas.py``
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Job, JobState, Person, Task
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting import jobs as drafting_jobs
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.hosting.postgres import Server
from tests.support.hosting.trial import PER_INSTANCE, Trial, make_crowd, run_trial, start_replicas
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.serving.live_server import LiveServer
from tests.usecases.crowd.test_assignment import places
from tests.usecases.drafting.test_one_worker import AGED, an_hour_ago

PEOPLE = int(os.environ.get("COEVAL_TRIAL_PEOPLE", "6"))
SECONDS = float(os.environ.get("COEVAL_TRIAL_SECONDS", "6"))
EVERY = 4.0
PACE = 2.0
"""Seconds between one confirm of somebody and the next, on average: faster than people."""
CONCURRENCY = 2
LATENCY = 0.5
DRAFTING = RunSettings(label="mine", concurrency=CONCURRENCY)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub(latency=LATENCY) as started:
        yield started


def queue_drafting(context: Context, owner: Person, stub: Stub) -> Job:
    """A job that nobody is at, of a study that takes as long as the trial."""
    study = replace(
        make_study(max(8, int(SECONDS))), task=Task("second", "Another task", "Answer the question.")
    )
    import_study(context, owner, study)
    known = replace(context, settings=replace(context.settings, base_url=stub.url, api_key="k"))
    job = drafting_jobs.start_job(known, owner, "second", DRAFTING)
    with context.store.write() as db:
        db.conn.execute(AGED.format("job SET updated_at"), [an_hour_ago()])
    return job


def find_drafting(servers: Sequence[LiveServer]) -> LiveServer:
    """The server that is at the job."""
    while True:
        for server in servers:
            if "is taken over" in server.log.read_text():
                return server
        time.sleep(0.1)


def find_job(context: Context, job: Job) -> Job:
    return next(one for one in drafting_jobs.list_jobs(context, OPERATOR, "second") if one.id == job.id)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_what_was_acknowledged_is_stored_once_whatever_is_killed(
    context: Context,
    owner: Person,
    stub: Stub,
    postgres: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    quota = max(4, int(SECONDS / PACE / 2))
    tokens = make_crowd(context, owner, PEOPLE, quota)
    job = queue_drafting(context, owner, stub)

    def kill_database() -> None:
        postgres.kill9()
        postgres.start()

    with ExitStack() as stack:
        env = {"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "k"}
        servers = start_replicas(context.store.address, tmp_path, **env)
        for server in servers:
            stack.callback(server.stop)
        trial = asyncio.run(
            run_trial(
                servers,
                tokens,
                seconds=SECONDS,
                pace=PACE,
                every=EVERY,
                drafting=find_drafting,
                disaster=kill_database,
                until=lambda: find_job(context, job).state not in (JobState.QUEUED, JobState.RUNNING),
            )
        )
    check_saves(context, trial)
    ended = find_job(context, job)
    lost = check_calls(context, ended, stub, trial)
    with capsys.disabled():
        print(
            f"\n{PEOPLE} people, {SECONDS:g} s: {trial}; job taken over {ended.takeovers} times, {lost} calls lost"
        )


def check_saves(context: Context, trial: Trial) -> None:
    """What was acknowledged is what is stored, each once, and every place was filled, none twice."""
    with context.store.read() as db:
        stored = [
            tuple(row)
            for row in db.conn.execute("SELECT uid, annotator, instance, criterion FROM submission")
        ]
    assert not trial.refused
    assert {row[0] for row in stored} == set(trial.acknowledged) and len(stored) > PEOPLE
    assert max(trial.acknowledged.values()) == 1
    assert max(Counter(row[1:] for row in stored).values()) == 1
    people = Counter((row[2], row[3]) for row in stored)
    assert set(people.values()) == {PER_INSTANCE} and set(places(context).values()) == {PER_INSTANCE}


def check_calls(context: Context, job: Job, stub: Stub, trial: Trial) -> int:
    """The job went from server to server, and asked again only what was under way when one of them was killed."""
    assert (job.state, job.done, job.failed) == (JobState.DONE, job.total, 0), job
    assert 2 <= job.takeovers <= trial.kills + 2  # the first was that of a job without any server
    with context.store.read() as db:
        sql = "SELECT count(*) FROM call WHERE error = ''"
        kept = next(iter(db.conn.execute(sql)))[0]
        drafted = (
            "SELECT count(*), count(DISTINCT (instance, criterion)) FROM draft d JOIN run r ON r.id = d.run"
            " WHERE label = 'mine'"
        )
        assert set(next(iter(db.conn.execute(drafted)))) == {kept}
    lost = int(stub.paid) - int(kept)
    assert 0 <= lost <= 2 * CONCURRENCY * (job.takeovers - 1)
    return lost
