"""Several samples of one question: one request where the endpoint takes ``n``, one each where it does not."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from coeval.domain import Answer
from coeval.llm.client.client import Client
from coeval.llm.client.failures import CallError
from coeval.llm.running.runner import Runner
from coeval.settings import Settings
from tests.support.models.fake_sender import QUICK, question
from tests.support.models.memory_ledger import MemoryLedger
from tests.support.models.openai_stub import Reply, Stub, start_stub


def counting() -> Any:
    numbers = itertools.count(1)
    return lambda body: f"answer {next(numbers)}"


async def ask_samples(
    stub: Stub, ledger: MemoryLedger, samples: int, rounds: int = 1, **options: Any
) -> list[Any]:
    settings = Settings(base_url=stub.url, api_key="key-0123456789", timeout=2.0)
    runner = Runner(Client(settings), ledger, patience=QUICK, spread=lambda: 0.0, **options)
    async with runner:
        for number in range(rounds):
            answers = await asyncio.gather(
                *(runner.ask(question(number), sample) for sample in range(samples)), return_exceptions=True
            )
    return [answers, runner.usage]


def texts(answers: list[Any]) -> list[str]:
    return sorted(answer.text if isinstance(answer, Answer) else str(answer) for answer in answers)


def test_one_prompt_is_billed_once_and_every_sample_is_in_the_ledger() -> None:
    ledger = MemoryLedger()
    with start_stub(counting(), several=True) as stub:
        answers, usage = asyncio.run(ask_samples(stub, ledger, 5))
        assert stub.received == 1 and stub.bodies[0]["n"] == 5
    assert texts(answers) == [f"answer {n}" for n in range(1, 6)]
    one = len("Question 0") // 4
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, one, 5 * 3)
    assert [call.sample for call in sorted(ledger.calls, key=lambda call: call.sample)] == [0, 1, 2, 3, 4]
    assert sum(call.prompt_tokens for call in ledger.calls) == one
    stored = [json.loads(call.response)["choices"][0]["message"]["content"] for call in ledger.calls]
    assert sorted(stored) == texts(answers)


def test_the_ledger_answers_each_sample_later() -> None:
    ledger = MemoryLedger()
    with start_stub(counting(), several=True) as stub:
        first, _ = asyncio.run(ask_samples(stub, ledger, 4))
        again, usage = asyncio.run(ask_samples(stub, ledger, 6))
        assert stub.received == 2 and stub.bodies[1]["n"] == 2
    assert texts(again)[:4] == texts(first) and usage.cached == 4


def test_an_endpoint_that_passes_n_over_is_asked_once_for_each_sample() -> None:
    ledger = MemoryLedger()
    with start_stub(counting()) as stub:
        answers, usage = asyncio.run(ask_samples(stub, ledger, 4, rounds=2))
        assert [body.get("n") for body in stub.bodies] == [4, None, None, None] + [None] * 4
    assert len(set(texts(answers))) == 4 and usage.calls == 8


@pytest.mark.parametrize(
    "message", ["n must be 1", "Multiple candidates is not enabled for this model", "bad"]
)
def test_an_endpoint_that_refuses_n_is_asked_once_for_each_sample(message: str) -> None:
    ledger = MemoryLedger()
    answer = counting()
    with start_stub(lambda body: Reply(status=400, message=message) if "n" in body else answer(body)) as stub:
        answers, usage = asyncio.run(ask_samples(stub, ledger, 3, rounds=2))
        assert [body.get("n") for body in stub.bodies] == [3, *[None] * 6]
    assert texts(answers) == ["answer 4", "answer 5", "answer 6"] and not ledger.errors


def test_fewer_answers_than_were_asked_for_are_completed() -> None:
    answer = counting()

    def two_at_most(body: dict[str, Any]) -> Reply:
        return Reply(text=answer(body), more=[answer(body)] if body.get("n", 1) > 1 else [])

    ledger = MemoryLedger()
    with start_stub(two_at_most) as stub:
        answers, _ = asyncio.run(ask_samples(stub, ledger, 5))
        assert [body.get("n") for body in stub.bodies] == [5, 3, None]
    assert len(set(texts(answers))) == 5


def test_a_failure_is_everybodys() -> None:
    ledger = MemoryLedger()
    with start_stub(lambda body: Reply(status=401, message="no"), several=True) as stub:
        answers, _ = asyncio.run(ask_samples(stub, ledger, 3))
        assert stub.received == 1
    assert all(isinstance(answer, CallError) for answer in answers) and len(ledger.errors) == 1


def test_many_samples_go_out_in_requests_of_at_most_twenty() -> None:
    ledger = MemoryLedger()
    with start_stub(counting(), several=True) as stub:
        answers, _ = asyncio.run(ask_samples(stub, ledger, 45))
        assert sorted(body.get("n", 1) for body in stub.bodies) == [5, 20, 20]
    assert len(set(texts(answers))) == 45


def test_whoever_gives_up_takes_nobody_along() -> None:
    async def go(stub: Stub) -> list[Any]:
        settings = Settings(base_url=stub.url, api_key="key-0123456789", timeout=2.0)
        runner = Runner(Client(settings), MemoryLedger(), patience=QUICK)
        async with runner:
            tasks = [asyncio.ensure_future(runner.ask(question(), sample)) for sample in range(3)]
            await asyncio.sleep(0.02)
            tasks[0].cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

    with start_stub(counting(), several=True, latency=0.1) as stub:
        first, *others = asyncio.run(go(stub))
        assert stub.received == 1
    assert isinstance(first, asyncio.CancelledError) and len(texts(others)) == 2
    assert all(isinstance(answer, Answer) for answer in others)
