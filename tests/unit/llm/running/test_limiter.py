"""How many requests go out at once, and how many commits their answers take."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from coeval.llm.client.client import Client
from coeval.llm.client.failures import CallError, Failure
from coeval.llm.running.dispatch import Limiter
from coeval.llm.running.pool import GroupCommit
from coeval.llm.running.runner import Patience, Runner
from coeval.settings import Settings
from tests.support.models.fake_sender import FakeSender, make_runner, question
from tests.support.models.memory_ledger import MemoryLedger
from tests.support.models.openai_stub import Reply, Stub, start_stub


def test_concurrency_is_a_ceiling() -> None:
    sender = FakeSender(seconds=0.005)

    async def go() -> None:
        runner = make_runner(sender, concurrency=7)
        await asyncio.gather(*(runner.ask(question(n)) for n in range(60)))

    asyncio.run(go())
    assert sender.peak == 7 and len(sender.sent) == 60


def test_a_burst_of_429_cuts_once_and_answers_grow_it_back() -> None:
    async def go() -> list[int]:
        limiter, limits = Limiter(16), []
        numbers = []
        for _ in range(16):
            async with limiter.slot() as number:
                numbers.append(number)
        for number in numbers:
            limiter.cut(number)
        limits.append(limiter.limit)  # 16 refusals of one burst: 16 -> 8
        async with limiter.slot() as number:
            limiter.cut(number)
        limits.append(limiter.limit)  # one that began after the cut: 8 -> 4
        for _ in range(4):
            limiter.grow()
        limits.append(limiter.limit)  # 4 answers at a limit of 4: 5
        for _ in range(1000):
            limiter.grow()
        limits.append(limiter.limit)  # never over the ceiling
        return limits

    assert asyncio.run(go()) == [8, 4, 5, 16]


def test_timeouts_and_server_errors_leave_the_limit_alone() -> None:
    async def limit_after(*kinds: Failure) -> int:
        runner = make_runner(FakeSender(*(CallError("x", kind) for kind in kinds)), concurrency=8)
        await runner.ask(question())
        return runner.limiter.limit

    assert asyncio.run(limit_after(Failure.TIMED_OUT, Failure.SERVER_ERROR, Failure.BROKEN_OFF)) == 8
    assert asyncio.run(limit_after(Failure.TIMED_OUT, Failure.RATE_LIMITED)) == 4


def test_places_are_handed_over_in_order_and_survive_cancelled_waits() -> None:
    async def go() -> list[int]:
        limiter, order = Limiter(1), []

        async def work(n: int) -> None:
            async with limiter.slot():
                order.append(n)
                await asyncio.sleep(0.001)

        tasks = [asyncio.ensure_future(work(n)) for n in range(10)]
        await asyncio.sleep(0)
        for n in (3, 4, 9):
            tasks[n].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert limiter.running == 0
        return order

    assert asyncio.run(go()) == [0, 1, 2, 5, 6, 7, 8]


# --- commits


def test_what_is_ready_together_goes_into_one_commit() -> None:
    ledger = MemoryLedger()

    async def go() -> None:
        runner = make_runner(FakeSender(), ledger, concurrency=64)
        await asyncio.gather(*(runner.ask(question(n)) for n in range(50)))

    asyncio.run(go())
    assert sum(ledger.commits) == 50 and len(ledger.commits) <= 5


def test_group_commit_writes_in_order_off_the_loop_never_twice_at_once() -> None:
    written: list[int] = []
    busy_threads = 0

    def write(items: Sequence[int]) -> None:
        nonlocal busy_threads
        busy_threads += 1
        assert busy_threads == 1 and threading.current_thread() is not threading.main_thread()
        time.sleep(0.002)
        written.extend(items)
        busy_threads -= 1

    async def go() -> None:
        commits: GroupCommit[int] = GroupCommit(write, most=8, gather=0.0)
        await asyncio.gather(*(commits.record(n) for n in range(20)))
        for n in range(20, 60):
            await commits.hand_over(n)
        await commits.flush()

    asyncio.run(go())
    assert written == list(range(60))


def test_a_failed_write_is_told_to_everyone_in_it_and_to_nobody_else() -> None:
    def write(items: Sequence[int]) -> None:
        if 1 in items:
            raise OSError("no")

    async def go() -> list[Any]:
        commits: GroupCommit[int] = GroupCommit(write, gather=0.0)
        together = (commits.record(0), commits.record(1))
        first = list(await asyncio.gather(*together, return_exceptions=True))
        await commits.record(2)
        await commits.hand_over(1)
        with pytest.raises(OSError):
            await commits.flush()
        with pytest.raises(OSError):
            await commits.hand_over(3)
        return first

    assert [type(one) for one in asyncio.run(go())] == [OSError, OSError]


class Window:
    """A stub's reply that answers so many requests in each stretch of ``seconds``, and then says no, and no more."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds, self.refused = most, seconds, 0
        self.answered: list[float] = []

    def __call__(self, body: dict[str, Any]) -> str | Reply:
        now = time.monotonic()
        self.answered = [moment for moment in self.answered if now - moment < self.seconds]
        if len(self.answered) >= self.most:
            self.refused += 1
            return Reply(status=429, message="Too many requests")
        self.answered.append(now)
        return "4"


@pytest.mark.slow
def test_a_window_without_retry_after_is_found_and_kept_to() -> None:
    window = Window(15, 0.6)
    # like 15 a minute, a hundred times as fast: so are the waits
    patience = Patience(first=0.005, longest=0.2)

    async def go(stub: Stub) -> tuple[int, float]:
        settings = Settings(base_url=stub.url, api_key="key-0123456789", timeout=5.0)
        runner = Runner(Client(settings), MemoryLedger(), concurrency=8, patience=patience)
        async with runner:
            answers = await asyncio.gather(*(runner.ask(question(n)) for n in range(90)))
        return len(answers), runner.limiter.interval

    with start_stub(window) as stub:
        done, interval = asyncio.run(go(stub))
    assert done == 90
    # six windows at least: without a pace each would end in refusals of all that is under way
    assert window.refused <= 30, window.refused
    assert interval >= 0.6 / 15 * 0.7


def test_a_lone_refusal_sets_no_pace() -> None:
    async def go() -> float:
        sender = FakeSender(CallError("no", Failure.RATE_LIMITED), *["4"] * 5)
        runner = make_runner(sender, concurrency=4)
        await asyncio.gather(*(runner.ask(question(n)) for n in range(6)))
        return runner.limiter.interval

    assert asyncio.run(go()) == 0.0
