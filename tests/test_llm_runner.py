"""The runner: the ledger first, one call each, limits, retries; and runs of many judgments."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.errors import InputError
from coeval.llm import pool
from coeval.llm.client import Client, Exchange
from coeval.llm.estimate import ANSWER_TOKENS
from coeval.llm.failures import CallError, Failure
from coeval.llm.forecast import CALL_SECONDS, forecast
from coeval.llm.group_commit import GroupCommit
from coeval.llm.ledger import Prices
from coeval.llm.limiter import Limiter
from coeval.llm.options import COEVAL
from coeval.llm.pool import CANCELLED, OUTAGE, Outcome, run_all
from coeval.llm.progress import Progress, Summary, Usage
from coeval.llm.request import Answer, Message, Request
from coeval.llm.runner import Patience, Runner
from coeval.settings import Settings
from tests.memory_ledger import MemoryLedger
from tests.openai_stub import Reply, start_stub

QUICK = Patience(retries=3, first=0.001, longest=0.002, ceiling=0.05)


def question(number: int = 0) -> Request:
    return Request("m", (Message("user", f"Question {number}"),))


class FakeSender:
    """Answers from a queue of texts and errors, then always with "4"; keeps what it was sent."""

    endpoint = "http://127.0.0.1/v1"

    def __init__(self, *replies: str | CallError, seconds: float = 0.0) -> None:
        self.replies, self.seconds = list(replies), seconds
        self.sent: list[Request] = []
        self.running = self.peak = 0
        self.closed = False

    async def send(self, request: Request) -> Exchange:
        self.sent.append(request)
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        reply = self.replies.pop(0) if self.replies else "4"
        if isinstance(reply, CallError):
            raise reply
        answer = Answer(reply, prompt_tokens=10, completion_tokens=2)
        usage = '{"prompt_tokens": 10, "completion_tokens": 2}'
        received = f'{{"choices": [{{"message": {{"content": "{reply}"}}}}], "usage": {usage}}}'
        return Exchange("{}", received, answer)

    async def close(self) -> None:
        self.closed = True


def make_runner(sender: FakeSender, ledger: MemoryLedger | None = None, **options: Any) -> Runner:
    return Runner(sender, ledger or MemoryLedger(), patience=QUICK, spread=lambda: 0.0, **options)


# --- ask


def test_the_second_time_the_ledger_answers() -> None:
    sender, ledger = FakeSender("4", "5"), MemoryLedger()

    async def go() -> list[str]:
        runner = make_runner(sender, ledger, prices=Prices(prompt=1.0, completion=10.0))
        texts = [(await runner.ask(question(), sample)).text for sample in (0, 0, 1, 0)]
        assert (runner.usage.calls, runner.usage.cached) == (2, 2)
        # Two calls of 10 and 2 tokens at 1 and 10 a million: 2 x (10 + 20) / 1,000,000.
        assert runner.usage.cost == pytest.approx(6e-5)
        return texts

    assert asyncio.run(go()) == ["4", "4", "5", "4"]
    assert [(call.sample, call.error) for call in ledger.calls] == [(0, ""), (1, "")]
    assert ledger.calls[0].cost == pytest.approx(3e-5)


def test_the_call_is_recorded_before_the_answer_is_given() -> None:
    ledger = MemoryLedger()

    async def go() -> int:
        await make_runner(FakeSender(), ledger).ask(question())
        return len(ledger.calls)

    assert asyncio.run(go()) == 1


def test_an_answer_that_cannot_be_recorded_is_not_given() -> None:
    class Full(MemoryLedger):
        def record_calls(self, calls: Sequence[Any]) -> None:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        asyncio.run(make_runner(FakeSender(), Full()).ask(question()))


def test_the_same_question_asked_at_once_is_sent_once() -> None:
    sender = FakeSender(seconds=0.02)

    async def go() -> list[Answer]:
        runner = make_runner(sender)
        return await asyncio.gather(*(runner.ask(question()) for _ in range(20)))

    assert len(asyncio.run(go())) == 20 and len(sender.sent) == 1


def test_one_of_those_who_wait_gives_up_and_the_others_do_not() -> None:
    sender = FakeSender(seconds=0.05)

    async def go() -> str:
        runner = make_runner(sender)
        first, second = (asyncio.ensure_future(runner.ask(question())) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        return (await second).text

    assert asyncio.run(go()) == "4" and len(sender.sent) == 1


def test_a_call_nobody_waits_for_is_given_up() -> None:
    sender = FakeSender(seconds=30)

    async def go() -> int:
        runner = make_runner(sender)
        task = asyncio.ensure_future(runner.ask(question()))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.01)
        return sender.running

    assert asyncio.run(go()) == 0


def test_replay_refuses_the_network() -> None:
    sender, ledger = FakeSender(), MemoryLedger()

    async def go() -> None:
        await make_runner(sender, ledger).ask(question(1))
        replay = make_runner(sender, ledger, replay=True)
        assert (await replay.ask(question(1))).text == "4"
        with pytest.raises(CallError, match=question(2).hash[:12]) as caught:
            await replay.ask(question(2), 3)
        assert "sample 3" in str(caught.value) and caught.value.kind is Failure.NOT_IN_LEDGER

    asyncio.run(go())
    assert len(sender.sent) == 1


# --- retries


def busy(retry_after: float | None = None) -> CallError:
    return CallError("busy", Failure.RATE_LIMITED, status=429, retry_after=retry_after)


def test_each_attempt_is_in_the_ledger() -> None:
    ledger = MemoryLedger()
    timeout = CallError("no answer within 1 second", Failure.TIMED_OUT)
    sender = FakeSender(busy(), timeout, "5")
    assert asyncio.run(make_runner(sender, ledger).ask(question())).text == "5"
    assert [call.error for call in ledger.calls] == ["busy", "no answer within 1 second", ""]
    assert {call.request_hash for call in ledger.calls} == {question().hash}


@pytest.mark.parametrize(
    ("kind", "attempts"),
    [
        (Failure.TIMED_OUT, 4),  # the first and three retries
        (Failure.SERVER_ERROR, 4),
        (Failure.EMPTY, 3),  # answers that were paid for: two more tries
        (Failure.UNREADABLE, 3),
        (Failure.KEY_REFUSED, 1),
        (Failure.BAD_REQUEST, 1),
        (Failure.FILTERED, 1),
    ],
)
def test_retries_are_bounded(kind: Failure, attempts: int) -> None:
    sender, ledger = FakeSender(*(CallError("no", kind) for _ in range(9))), MemoryLedger()
    with pytest.raises(CallError):
        asyncio.run(make_runner(sender, ledger).ask(question()))
    assert len(sender.sent) == attempts == len(ledger.errors)


def test_a_failed_question_can_be_asked_again() -> None:
    sender, ledger = FakeSender(CallError("no", Failure.BAD_REQUEST)), MemoryLedger()

    async def go() -> str:
        runner = make_runner(sender, ledger)
        with pytest.raises(CallError):
            await runner.ask(question())
        return (await runner.ask(question())).text

    assert asyncio.run(go()) == "4"


@given(
    st.integers(0, 50),
    st.one_of(st.none(), st.floats(0, 1e6)),
    st.floats(0, 1),
    st.builds(Patience, first=st.floats(0.01, 1), longest=st.floats(1, 60), ceiling=st.floats(1, 100)),
)
def test_waits_are_bounded(
    attempt: int, retry_after: float | None, spread: float, patience: Patience
) -> None:
    wait = patience.wait(attempt, retry_after, spread)
    assert 0 < wait <= max(patience.longest, patience.ceiling + patience.first) or wait == 0 == retry_after
    if retry_after is not None:
        assert wait >= min(retry_after, patience.ceiling)


def test_waits_double_without_retry_after() -> None:
    # 0.5, 1, 2, 4 seconds, halved at the low end of the spread, and never over 20.
    patience = Patience()
    assert [patience.wait(n, None, 1.0) for n in (0, 1, 2, 3, 9)] == [0.5, 1, 2, 4, 20]
    assert patience.wait(0, None, 0.0) == 0.25


def test_retry_after_holds_all_requests_back_up_to_the_ceiling() -> None:
    sender = FakeSender(busy(retry_after=3600.0))

    async def go() -> float:
        runner = make_runner(sender)
        started = time.monotonic()
        first = asyncio.ensure_future(runner.ask(question(1)))
        await asyncio.sleep(0.01)
        await runner.ask(question(2))
        held = time.monotonic() - started
        await first
        return held

    # The ceiling of QUICK is 50 ms: the second question waits for it, though it was never refused itself.
    assert 0.045 <= asyncio.run(go()) < 1.0
    assert len(sender.sent) == 3


# --- the limiter


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
    sender = FakeSender(*(CallError("x", kind) for kind in (Failure.TIMED_OUT, Failure.SERVER_ERROR)), busy())

    async def go() -> list[int]:
        runner = make_runner(sender, concurrency=8)
        limits = []
        for n in range(2):
            await runner.ask(question(n))
            limits.append(runner.limiter.limit)
        return limits

    # Question 0 fails twice without a cut and is then refused with 429: 8 -> 4.
    assert asyncio.run(go()) == [4, 4]


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


def test_a_capacity_that_the_endpoint_keeps_to_itself_is_found() -> None:
    """The stub serves 4 at once and refuses the rest with 429: all 60 questions are answered in the end."""
    patience = Patience(retries=30, first=0.02, longest=0.1)

    async def go(url: str) -> Runner:
        client = Client(Settings(base_url=url, timeout=5), known={})
        async with Runner(client, MemoryLedger(), concurrency=16, patience=patience) as runner:
            await asyncio.gather(*(runner.ask(question(n)) for n in range(60)))
        return runner

    with start_stub(lambda body: "4", latency=0.02, capacity=4) as stub:
        runner = asyncio.run(go(stub.url))
    assert stub.paid == 60 and runner.usage.calls == 60
    assert runner.limiter.limit < 16 and stub.received > 60


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

    async def go() -> tuple[list[Any], bool]:
        commits: GroupCommit[int] = GroupCommit(write, gather=0.0)
        first = await asyncio.gather(commits.record(0), commits.record(1), return_exceptions=True)
        await commits.record(2)
        await commits.hand_over(1)
        with pytest.raises(OSError):
            await commits.flush()
        with pytest.raises(OSError):
            await commits.hand_over(3)
        return first, True

    first, _ = asyncio.run(go())
    assert [type(one) for one in first] == [OSError, OSError]


# --- runs of many judgments


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
    assert time.monotonic() - began < 2
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
    assert time.monotonic() - began < 2 and sorted(outcome.item for outcome in outcomes) == [0, 1, 2]


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


# --- over HTTP


def test_a_storm_of_everything_that_can_go_wrong_ends_complete() -> None:
    """Every third request meets a refusal, an error, a cut line, junk, an empty answer or silence."""
    troubles = [
        Reply(status=429, headers={"retry-after": "0.01"}),
        Reply(status=500),
        Reply(drop=True),
        Reply(raw="junk"),
        Reply(text=""),
        Reply(hang=True),
    ]
    count = 0

    def reply(body: dict[str, Any]) -> str | Reply:
        nonlocal count
        count += 1
        return troubles[count // 3 % 6] if count % 3 == 0 and count < 150 else "4"

    ledger = MemoryLedger()

    async def go(url: str) -> list[Answer]:
        client = Client(Settings(base_url=url, timeout=0.3), known={})
        patience = Patience(retries=20, rereads=20, first=0.01, longest=0.05)
        async with Runner(client, ledger, concurrency=8, patience=patience) as runner:
            return await asyncio.gather(*(runner.ask(question(n)) for n in range(100)))

    with start_stub(reply) as stub:
        answers = asyncio.run(go(stub.url))
    assert [answer.text for answer in answers] == ["4"] * 100
    # 150 // 3 - 1 troubles, each on record with its reason, beside the 100 answers.
    assert len(ledger.errors) == 49 and len(ledger.calls) == 149
    assert sum("within 0.3 seconds" in error for error in ledger.errors) == 8


# --- the forecast


def test_forecast_by_rule_of_thumb() -> None:
    request = Request("m", (Message("user", "x" * 400),), max_tokens=100)
    found = forecast([(request, 0)], 50, Prices(prompt=1.0, completion=2.0), concurrency=5)
    # 400 ASCII characters are 100 tokens, and 4 for the frame of the message: 50 x 104 = 5,200.
    # The answer is at most 100 tokens: 50 x 100 = 5,000. Cost: (5,200 x 1 + 5,000 x 2) / 1,000,000.
    assert (found.calls, found.cached, found.prompt_tokens, found.completion_tokens) == (50, 0, 5200, 5000)
    assert found.cost == pytest.approx(0.0152)
    assert found.seconds == 50 * CALL_SECONDS / 5


def test_forecast_learns_from_the_ledger_and_counts_it_as_free() -> None:
    ledger = MemoryLedger()
    asyncio.run(make_runner(FakeSender(), ledger).ask(question(0)))
    ledger.calls[0] = replace(ledger.calls[0], latency_ms=2000)
    sample = [(question(n), 0) for n in range(4)]
    found = forecast(sample, 8, Prices(), ledger=ledger, concurrency=2)
    # One of four is known, so 8 x 3/4 = 6 calls are left. "Question 0" is 10 characters, 3 tokens, and 4 for
    # the frame; the endpoint counted 10 for those 7. Six calls: 6 x 10 and 6 x 2 tokens, 6 x 2 s / 2.
    assert (found.calls, found.cached) == (6, 2)
    assert (found.prompt_tokens, found.completion_tokens) == (60, 12)
    assert found.seconds == 6.0 and "2 more are in the ledger" in str(found)


def test_forecast_without_a_sample() -> None:
    found = forecast([], 10, Prices())
    assert (found.calls, found.completion_tokens) == (10, 10 * ANSWER_TOKENS[COEVAL])


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_prices_that_are_none(price: float) -> None:
    with pytest.raises(InputError, match="million prompt tokens"):
        Prices(prompt=price)
