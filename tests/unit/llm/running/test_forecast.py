"""What a run would take, told before it is begun."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from coeval.domain import Call, Message, Request
from coeval.errors import InputError
from coeval.llm.running.ledger import Prices
from coeval.llm.running.progress import CALL_SECONDS, forecast
from tests.support.models.fake_sender import FakeSender, make_runner, question
from tests.support.models.memory_ledger import MemoryLedger


def test_forecast_by_rule_of_thumb() -> None:
    request = Request("m", (Message("user", "word " * 100),), max_tokens=100)
    found = forecast([(request, 0)], 50, Prices(prompt=1.0, completion=2.0), concurrency=5, answer_tokens=220)
    # 100 words are 100 tokens, and 4 for the frame of the message: 50 x 104 = 5,200.
    # The answer is at most 100 tokens: 50 x 100 = 5,000. Cost: (5,200 x 1 + 5,000 x 2) / 1,000,000.
    assert (found.calls, found.cached, found.prompt_tokens, found.completion_tokens) == (50, 0, 5200, 5000)
    assert found.cost == pytest.approx(0.0152)
    assert found.seconds == 50 * CALL_SECONDS / 5
    assert str(found).endswith("40 s if a call takes 4.0 s, 5 at a time")


def test_forecast_of_fewer_calls_than_run_at_once() -> None:
    found = forecast([(question(), 0)], 1, Prices(), concurrency=8, answer_tokens=10)
    assert str(found).endswith("4 s if a call takes 4.0 s"), "one call takes as long as one call"


def sent(question: str, *, again: bool = False, several: int = 1) -> str:
    turns = [{"role": "user", "content": question}]
    turns += [{"role": "assistant", "content": "eh"}, {"role": "user", "content": "Again."}] if again else []
    return json.dumps({"model": "m", "messages": turns} | ({"n": several} if several > 1 else {}))


def past(request: str, prompt: int, completion: int, cached: int = 0) -> Call:
    usage = {"prompt_tokens": prompt, "prompt_tokens_details": {"cached_tokens": cached}}
    response = json.dumps({"choices": [{"message": {"content": "4"}}], "usage": usage})
    return Call("h", 0, "m", "here", request, response, prompt, completion, latency_ms=2000)


def test_forecast_learns_from_the_ledger_and_counts_it_as_free() -> None:
    ledger = MemoryLedger()
    asyncio.run(make_runner(FakeSender(), ledger).ask(question(0)))
    body = json.dumps({"messages": [{"role": "user", "content": "Question 0"}]})
    ledger.calls[0] = replace(ledger.calls[0], latency_ms=2000, request=body)
    sample = [(question(n), 0) for n in range(4)]
    found = forecast(
        sample, 8, Prices(), ledger=ledger, endpoint=FakeSender.endpoint, concurrency=2, answer_tokens=220
    )
    # One of four is known, so 8 x 3/4 = 6 calls are left. "Question 0" is 2 tokens, and 4 for the frame; the
    # endpoint counted 10 for those 6. No question of the kind was asked before (none ends in "Question 1"), so
    # an answer is 220 tokens by the rule of thumb: 6 x 10 and 6 x 220 tokens, 6 x 2 s / 2.
    assert (found.calls, found.cached) == (6, 2)
    assert (found.prompt_tokens, found.completion_tokens) == (60, 1320)
    assert found.seconds == 6.0 and "2 more are in the ledger" in str(found)


def test_forecast_knows_questions_of_a_kind_by_their_end() -> None:
    """Calls of another kind, ones asked again, and a prefix cache are told apart."""
    end = " word" * 40  # more than the characters by which a question is known
    ledger = MemoryLedger()
    ledger.calls = [
        past(sent("One" + end), 90, 30),
        past(sent("Two" + end), 90, 30, cached=54),
        past(sent("Two" + end, again=True), 90, 20),
        past(sent("Something else"), 9000, 900),
    ]
    request = Request("m", (Message("user", "Three" + end),))
    found = forecast([(request, 0)], 10, Prices(), ledger=ledger, endpoint="here", answer_tokens=220)
    # 45 tokens by the rule of thumb (41 and the frame) of which two first questions took 270 with the one asked again:
    # 10 x 45 x 270 / 90. Answers: 80 tokens for two. 54 of 270 came from the cache.
    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens) == (1350, 400, 270)
    assert "(270 from the endpoint's cache)" in str(found)


def test_forecast_of_samples_that_share_a_prompt() -> None:
    ledger = MemoryLedger()
    asked = "word " * 76
    ledger.calls = [
        past(sent(asked, several=4), prompt, tokens) for prompt, tokens in ((80, 40), (0, 0), (0, 0), (0, 0))
    ]
    request = Request("m", (Message("user", "other " + "word " * 75),))
    four = forecast(
        [(request, sample) for sample in range(4)],
        40,
        Prices(),
        ledger=ledger,
        endpoint="here",
        answer_tokens=220,
    )
    # ten questions of 80 tokens, each billed once for its four answers of 10 tokens
    assert (four.prompt_tokens, four.completion_tokens) == (800, 400)
    once = forecast([(request, 0)], 10, Prices(), ledger=ledger, endpoint="here", answer_tokens=220)
    assert once.prompt_tokens == 800


def test_samples_of_a_question_are_one_call_unless_the_model_gives_one_at_a_time() -> None:
    request = Request("m", (Message("user", "word " * 96),))  # 96 tokens, and 4 for the frame
    twenty = [(request, sample) for sample in range(20)]
    found = forecast(twenty, 4_800, Prices(), answer_tokens=10)
    assert (found.calls, found.answers, found.prompt_tokens) == (240, 4_800, 24_000)
    assert found.completion_tokens == 48_000 and found.seconds == 240 * CALL_SECONDS / 8
    assert str(found).startswith(
        "about 240 calls for 4,800 answers, 24,000 prompt tokens and 48,000 answer tokens"
    )
    thirty = [(request, sample) for sample in range(30)]
    assert forecast(thirty, 300, Prices(), answer_tokens=10).calls == 20, "20 answers in one call at most"
    ledger = MemoryLedger()
    ledger.calls = [replace(past(sent("word " * 96), 100, 10), sample=sample) for sample in range(20)]
    alone = forecast(twenty, 4_800, Prices(), ledger=ledger, endpoint="here", answer_tokens=10)
    assert (alone.calls, alone.answers, alone.prompt_tokens) == (4_800, 4_800, 480_000)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_prices_that_are_none(price: float) -> None:
    with pytest.raises(InputError, match="million prompt tokens"):
        Prices(prompt=price)
