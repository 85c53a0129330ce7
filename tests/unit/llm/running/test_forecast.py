"""What a run would take, told before it is begun."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from coeval.domain import Message, Request
from coeval.errors import InputError
from coeval.llm.running.forecast import CALL_SECONDS, forecast
from coeval.llm.running.ledger import Prices
from tests.support.models.fake_sender import FakeSender, make_runner, question
from tests.support.models.memory_ledger import MemoryLedger


def test_forecast_by_rule_of_thumb() -> None:
    request = Request("m", (Message("user", "x" * 400),), max_tokens=100)
    found = forecast([(request, 0)], 50, Prices(prompt=1.0, completion=2.0), concurrency=5, answer_tokens=220)
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
    found = forecast(sample, 8, Prices(), ledger=ledger, concurrency=2, answer_tokens=220)
    # One of four is known, so 8 x 3/4 = 6 calls are left. "Question 0" is 10 characters, 3 tokens, and 4 for
    # the frame; the endpoint counted 10 for those 7. Six calls: 6 x 10 and 6 x 2 tokens, 6 x 2 s / 2.
    assert (found.calls, found.cached) == (6, 2)
    assert (found.prompt_tokens, found.completion_tokens) == (60, 12)
    assert found.seconds == 6.0 and "2 more are in the ledger" in str(found)


def test_forecast_without_a_sample() -> None:
    found = forecast([], 10, Prices(), answer_tokens=220)
    assert (found.calls, found.completion_tokens) == (10, 2200)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_prices_that_are_none(price: float) -> None:
    with pytest.raises(InputError, match="million prompt tokens"):
        Prices(prompt=price)
