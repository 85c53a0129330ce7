"""A job killed with -9 at random moments loses only the calls that were in flight, and ends complete."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from coeval.store import Store
from coeval.store.engines.database import scalar
from tests.support.models.openai_stub import Stub, start_stub

ROOT = Path(__file__).resolve().parents[2]
N = 2000
KILLS = 3
CONCURRENCY = 32
UNDER_WAY = CONCURRENCY + CONCURRENCY // 2
"""Judgments that the runner has under way at once: asked, or answered and not yet recorded."""


def start_job(path: Path, stub: Stub) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "tests.support.models.kill_driver",
        str(path),
        stub.url,
        str(N),
        str(CONCURRENCY),
    ]
    return subprocess.Popen(command, cwd=ROOT)


def count_answers(path: Path) -> int:
    store = Store(path)
    with store.read() as db:
        answered = int(scalar(db, "SELECT count(*) FROM call WHERE error = ''"))
    store.close()
    return answered


def kill_after(job: subprocess.Popen[bytes], stub: Stub, paid: int) -> None:
    """Kill the job as soon as the stub has been paid so often, and let the stub come to rest."""
    deadline = time.monotonic() + 60
    while stub.paid < paid:
        assert job.poll() is None and time.monotonic() < deadline, (
            "the job ended or hung before it was killed"
        )
        time.sleep(0.005)
    job.kill()
    job.wait(10)
    while stub.in_flight:
        time.sleep(0.01)
    time.sleep(0.1)


@pytest.mark.slow
def test_kill_9_repeats_no_recorded_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coeval.db"
    moments = random.Random()
    lost: list[int] = []
    with start_stub(lambda body: "4", latency=0.05) as stub:
        for kill in range(KILLS):
            job = start_job(path, stub)
            kill_after(job, stub, kill * N // KILLS + moments.randrange(20, N // KILLS - 2 * UNDER_WAY))
            lost.append(stub.paid - count_answers(path) - sum(lost))
        assert start_job(path, stub).wait(120) == 0
    with capsys.disabled():
        print(f"\n{N} calls, killed {KILLS} times: {stub.paid} paid, in flight at each kill: {lost}")
    assert count_answers(path) == N
    assert stub.paid == N + sum(lost)
    assert all(0 <= one <= UNDER_WAY for one in lost)
    asked = Counter(json.dumps(body["messages"]) for body in stub.bodies)
    assert len(asked) == N and sum(asked.values()) - N == sum(lost)
