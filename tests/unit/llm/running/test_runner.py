"""The runner: the ledger first, one call each, retries, and everything that can go wrong over HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from coeval.domain import Answer
from coeval.errors import InputError, UnansweredError
from coeval.llm.client.client import Client
from coeval.llm.client.failures import CallError, Failure
from coeval.llm.running.ledger import Prices
from coeval.llm.running.progress import Usage
from coeval.llm.running.runner import Patience, Runner, build_runner
from coeval.settings import Settings
from tests.support.models.fake_sender import FakeSender, make_runner, question
from tests.support.models.memory_ledger import MemoryLedger
from tests.support.models.openai_stub import Reply, start_stub


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


def usage_of(cached: float | None) -> tuple[Usage, str]:
    """The usage of one call whose prompt of 100 tokens came to 90% from the provider's cache."""
    usage = {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 90}}
    choice = {"message": {"content": "4"}, "finish_reason": "stop"}
    with start_stub(lambda body: Reply(raw=json.dumps({"choices": [choice], "usage": usage}))) as stub:

        async def go() -> Usage:
            client = Client(Settings(base_url=stub.url))
            async with Runner(client, MemoryLedger(), prices=Prices(1.0, 0.0, cached)) as runner:
                await runner.ask(question(1))
                return runner.usage

        spent = asyncio.run(go())
    return spent, str(spent)


def test_cached_tokens_cost_their_own_price_or_the_cost_is_at_most() -> None:
    usage, said = usage_of(cached=0.1)  # 10 tokens at 1 a million, and 90 at .1
    assert usage.cost == pytest.approx(19e-6) and "cost 1.9e-05" in said
    usage, said = usage_of(cached=None)
    assert usage.cost == pytest.approx(100e-6) and "cost at most 0.0001" in said


def test_a_parameter_that_is_left_out_is_named() -> None:
    complaint = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."

    def reply(body: dict[str, Any]) -> str | Reply:
        return Reply(status=400, message=complaint) if {"temperature", "top_p"} <= set(body) else "4"

    with start_stub(reply) as stub:

        async def go() -> Usage:
            async with Runner(Client(Settings(base_url=stub.url)), MemoryLedger()) as runner:
                await runner.ask(replace(question(1), temperature=0.7, top_p=0.9))
                return runner.usage

        assert "top_p left out because the endpoint refuses it" in str(asyncio.run(go()))
    assert stub.bodies[-1]["temperature"] == 0.7 and "top_p" not in stub.bodies[-1]


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
        with pytest.raises(UnansweredError, match=question(2).hash[:12]) as caught:
            await replay.ask(question(2), 3)
        assert "sample 3" in str(caught.value)

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
        (Failure.TIMED_OUT, 2),  # each may be billed
        (Failure.SERVER_ERROR, 4),  # the first and three retries
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


def test_waits_double_and_are_bounded() -> None:
    # 0.5, 1, 2, 4 seconds, halved at the low end of the spread, and never over 20.
    patience = Patience()
    assert [patience.wait(n, None, 1.0) for n in (0, 1, 2, 3, 9)] == [0.5, 1, 2, 4, 20]
    assert patience.wait(0, None, 0.0) == 0.25
    assert patience.wait(0, 3600.0, 0.0) == patience.ceiling


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
    assert 0.045 <= asyncio.run(go()) < 60
    assert len(sender.sent) == 3


# --- over HTTP


@pytest.mark.parametrize("concurrency", [-3, 0])
def test_a_concurrency_below_one_is_refused(concurrency: int) -> None:
    with pytest.raises(InputError, match=f"The concurrency is {concurrency}"):
        build_runner(Settings(), MemoryLedger(), concurrency=concurrency, replay=True)
