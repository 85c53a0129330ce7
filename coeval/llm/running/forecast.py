"""What a run would take, before it is begun: calls, tokens, cost at the user's prices, time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from coeval.domain import Call, Request
from coeval.llm.running.estimate import estimate_tokens
from coeval.llm.running.ledger import Ledger, Prices
from coeval.llm.running.progress import show_seconds

CALL_SECONDS = 4.0
"""Seconds a call takes where the ledger does not tell."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """``calls`` are those to be paid for; ``cached`` those the ledger answers; ``seconds`` of wall time."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    seconds: float

    def __str__(self) -> str:
        free = f" ({self.cached:,} more are in the ledger)" if self.cached else ""
        tokens = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        cost = f", cost {self.cost:.4g}" if self.cost else ""
        return f"about {self.calls:,} calls{free}, {tokens}{cost}, {show_seconds(self.seconds)}"


def forecast(
    sample: Sequence[tuple[Request, int]],
    n: int,
    prices: Prices,
    *,
    ledger: Ledger | None = None,
    endpoint: str = "",
    concurrency: int = 8,
    answer_tokens: float,
) -> Forecast:
    """What ``n`` calls take, judged by some of them, each with the number of its sample.

    A share of calls that the ledger already holds is free, and those it holds tell the length of an answer,
    its time and how many tokens a text really makes; without them the rules of thumb above stand in.
    """
    known = [_look_up(ledger, request, number, endpoint) for request, number in sample]
    calls = round(n * known.count(None) / len(sample)) if sample else n
    answered = [(request, call) for (request, _), call in zip(sample, known, strict=True) if call is not None]
    asked = [request for (request, _), call in zip(sample, known, strict=True) if call is None]
    prompt = round(calls * _mean([estimate_tokens(r) for r in asked], 0.0) * _correction(answered))
    completion = round(calls * _completion_tokens(asked, [call for _, call in answered], answer_tokens))
    latency = _mean([call.latency_ms / 1000 for _, call in answered if call.latency_ms], CALL_SECONDS)
    return Forecast(
        calls=calls,
        cached=n - calls,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=prices.cost(prompt, completion),
        seconds=calls * latency / concurrency,
    )


def _look_up(ledger: Ledger | None, request: Request, number: int, endpoint: str) -> Call | None:
    return None if ledger is None else ledger.get_answer(request.hash, number, endpoint)


def _mean(values: Sequence[float], default: float) -> float:
    return fmean(values) if values else default


def _correction(answered: Sequence[tuple[Request, Call]]) -> float:
    """Tokens that the endpoint counted for each one that the rule of thumb gives."""
    counted = sum(call.prompt_tokens for _, call in answered)
    guessed = sum(estimate_tokens(request) for request, call in answered if call.prompt_tokens)
    return counted / guessed if counted and guessed else 1.0


def _completion_tokens(asked: Sequence[Request], calls: Sequence[Call], answer_tokens: float) -> float:
    usual = _mean([call.completion_tokens for call in calls if call.completion_tokens], answer_tokens)
    return _mean([min(usual, request.max_tokens or usual) for request in asked], usual)
