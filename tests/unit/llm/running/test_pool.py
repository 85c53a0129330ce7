"""Runs of many judgments: drawn as needed, single failures kept, stopped, taken up again, counted."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from coeval.errors import InputError
from coeval.llm.client.failures import CallError, Failure
from coeval.llm.running import pool
from coeval.llm.running.pool import CANCELLED, OUTAGE, Outcome, run_all
from coeval.llm.running.progress import Progress, Summary, Usage
from coeval.llm.running.runner import Patience, Runner
from tests.support.models.fake_sender import FakeSender, make_runner, question
from tests.support.models.memory_ledger import MemoryLedger


def run_many(
    items: Any, judge: Callable[[Any], Any], *, concurrency: int = 4, **options: Any
) -> tuple[Summary, list[Outcome[Any, Any]]]:
    outcomes: list[Outcome[Any, Any]] = []
    summary = asyncio.run(
        run_all(items, judge, concurrency=concurrency, on_result=outcomes.extend, **options)
    )
    return summary, outcomes


def test_every_item_is_judged_and_single_failures_are_recorded() -> None:
    async def judge(n: int) -> int:
        await asyncio.sleep(0)
        if n % 10 == 3:
            raise CallError(f"bad {n}", Failure.BAD_REQUEST)
        if n == 50:
            raise ZeroDivisionError("oops")
        return n * n

    summary, outcomes = run_many(range(100), judge)
    # 3, 13, ... 93 are ten failures, and 50 is one of another kind.
    assert (summary.done, summary.failed, summary.stopped) == (89, 11, "")
    assert sorted(outcome.item for outcome in outcomes) == list(range(100))
    assert all(outcome.result == outcome.item**2 for outcome in outcomes if not outcome.error)
    assert summary.errors["bad 13"] == 1 and summary.errors["ZeroDivisionError: oops"] == 1


def test_items_are_drawn_as_they_are_needed() -> None:
    drawn = running = peak = finished = 0

    def items() -> Iterator[int]:
        nonlocal drawn
        for n in range(500):
            drawn += 1
            assert drawn <= finished + 5
            yield n

    async def judge(n: int) -> int:
        nonlocal running, peak, finished
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        finished += 1
        return n

    summary, _ = run_many(items(), judge, concurrency=5)
    assert summary.done == 500 and peak == 5


def test_a_stop_lets_what_is_under_way_finish() -> None:
    started: list[int] = []

    async def judge(n: int) -> int:
        started.append(n)
        await asyncio.sleep(0.05)
        return n

    summary, outcomes = run_many(range(10**9), judge, should_stop=lambda: len(started) >= 8)
    assert summary.stopped == CANCELLED
    assert summary.done == len(outcomes) == len(started) < 100


def test_a_stop_does_not_wait_longer_than_its_grace() -> None:
    async def judge(n: int) -> int:
        await asyncio.sleep(0 if n == 0 else 60)
        return n

    began = time.monotonic()
    summary, outcomes = run_many(range(10), judge, should_stop=lambda: True, grace=0.1)
    assert time.monotonic() - began < 30
    assert summary.stopped == CANCELLED and [outcome.item for outcome in outcomes] == [0]


def test_a_cancelled_run_ends_at_once_and_keeps_what_was_ready() -> None:
    outcomes: list[Any] = []

    async def judge(n: int) -> int:
        await asyncio.sleep(0 if n < 3 else 60)
        return n

    async def go() -> None:
        task = asyncio.ensure_future(run_all(range(10), judge, concurrency=5, on_result=outcomes.extend))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(go())
    assert time.monotonic() - began < 30 and sorted(outcome.item for outcome in outcomes) == [0, 1, 2]


@pytest.mark.parametrize("kind", [Failure.KEY_REFUSED, Failure.NOT_FOUND, Failure.NO_CREDIT])
def test_a_failure_that_all_would_share_ends_the_run(kind: Failure) -> None:
    async def judge(n: int) -> int:
        raise CallError("change the settings", kind)

    summary, _ = run_many(range(1000), judge)
    assert summary.stopped == "change the settings" and summary.failed <= 8


def test_an_endpoint_that_stays_down_ends_the_run() -> None:
    async def judge(n: int) -> int:
        if n < 30:
            return n
        raise CallError("nobody there", Failure.UNREACHABLE)

    summary, _ = run_many(range(1000), judge)
    assert summary.done == 30 and OUTAGE <= summary.failed < OUTAGE + 8
    assert "nobody there" in summary.stopped and str(OUTAGE) in summary.stopped


def test_what_items_writing_and_stopping_raise_ends_the_run() -> None:
    async def judge(n: int) -> int:
        await asyncio.sleep(0.001)
        return n

    def broken_items() -> Iterator[int]:
        yield from range(5)
        raise InputError("line 6 is broken")

    def broken_write(outcomes: Sequence[Any]) -> None:
        raise OSError("disk full")

    def broken_stop() -> bool:
        raise InputError("no such job")

    with pytest.raises(InputError, match="line 6"):
        run_many(broken_items(), judge)
    with pytest.raises(OSError, match="disk full"):
        asyncio.run(run_all(range(10**9), judge, concurrency=4, on_result=broken_write))
    with pytest.raises(InputError, match="no such job"):
        run_many(range(10**9), judge, should_stop=broken_stop)


def test_progress_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GATHER_SECONDS", 0.005)
    monkeypatch.setattr(pool, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(pool, "PROGRESS_SECONDS", 0.01)
    shown: list[Progress] = []
    usage = Usage(prompt_tokens=1200, completion_tokens=34, cost=0.5)

    async def judge(n: int) -> int:
        await asyncio.sleep(0.005)
        if n == 7:
            raise CallError("no", Failure.BAD_REQUEST)
        return n

    summary, _ = run_many(range(60), judge, on_progress=shown.append, total=60, usage=usage)
    last = shown[-1]
    assert (last.done, last.failed, last.total, last.eta) == (59, 1, 60, 0.0)
    assert (summary.done, summary.failed) == (59, 1) and len(shown) > 2
    assert [one.done for one in shown] == sorted(one.done for one in shown)
    assert all(one.rate > 0 and one.eta is not None for one in shown[1:])
    assert str(last).startswith("59 of 60 done, 1 failed") and "1,234 tokens, cost 0.5" in str(last)


def test_a_run_that_waits_for_its_endpoint_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(pool, "PROGRESS_SECONDS", 60.0)
    shown: list[Progress] = []
    limited = CallError("slow down", Failure.RATE_LIMITED, status=429, retry_after=1.2)
    sender = FakeSender(limited)

    async def go() -> None:
        async with Runner(sender, MemoryLedger(), patience=Patience(ceiling=60.0)) as runner:
            asked = run_all(
                [1], lambda n: runner.ask(question(n)), concurrency=1, on_result=lambda outcomes: None,
                on_progress=shown.append, usage=runner.usage,
            )  # fmt: skip
            await asked

    asyncio.run(go())
    first, last = shown[0], shown[-1]
    assert re.search(
        r"waiting until \d\d:\d\d:\d\d UTC because the endpoint asks for fewer requests", str(first)
    )
    assert first.done == 0 and last.done == 1 and not last.waiting and len(shown) == 2


def test_a_run_says_which_calls_are_tried_again_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "POLL_SECONDS", 0.005)
    monkeypatch.setattr(pool, "PROGRESS_SECONDS", 0.005)
    shown: list[Progress] = []
    late = CallError("no answer within 60 seconds", Failure.TIMED_OUT)
    runner = make_runner(FakeSender(late, late, late, seconds=0.05))

    async def judge(n: int) -> str:
        return (await runner.ask(question(n))).text

    run_many(range(2), judge, on_progress=shown.append, total=2, usage=runner.usage)
    said = list(map(str, shown))
    assert any(
        one.startswith("0 of 2 done, 2 calls tried again (no answer within 60 seconds)") for one in said
    )
    assert said[-1].startswith("1 of 2 done, 1 failed and 2 calls tried again (no answer within 60 seconds)")


def test_a_run_taken_up_again_repeats_no_call() -> None:
    sender, ledger = FakeSender(), MemoryLedger()

    async def go(stop_after: int) -> Summary:
        runner = make_runner(sender, ledger, concurrency=4)

        async def judge(n: int) -> str:
            return (await runner.ask(question(n))).text

        return await run_all(
            range(100),
            judge,
            concurrency=runner.judgments,
            on_result=lambda outcomes: None,
            should_stop=lambda: len(sender.sent) >= stop_after,
            usage=runner.usage,
        )

    for stop_after in (20, 60, 10**9):
        summary = asyncio.run(go(stop_after))
    assert summary.done == 100 and summary.usage.cached >= 60 - 6
    assert len(sender.sent) == len({request.hash for request in sender.sent}) == 100


def test_the_runner_writes_what_is_left_and_closes_its_client() -> None:
    sender = FakeSender()

    async def go() -> None:
        async with make_runner(sender) as runner:
            await runner.ask(question())

    asyncio.run(go())
    assert sender.closed
