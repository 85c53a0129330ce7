"""What a run would take, before it is begun: calls, tokens, cost at the user's prices, time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from coeval.domain import Call, Request
from coeval.llm.client.failures import CallError
from coeval.llm.running.estimate import estimate_sent, estimate_tokens
from coeval.llm.running.ledger import Ledger, Prices, answer_of
from coeval.llm.running.progress import show_seconds

CALL_SECONDS = 4.0
"""Seconds a call takes where the ledger does not tell."""

KNOWN_BY = 200
"""Characters at the end of a question, by which earlier ones of its kind are known: how to answer stands there."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """``calls`` are the answers to be paid for; ``cached`` those the ledger gives; ``seconds`` of wall time.

    ``cached_tokens`` are those of ``prompt_tokens`` that the provider is likely to serve from its prefix cache.
    """

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    seconds: float
    cached_tokens: int = 0
    images: int = 0
    """Images that would be sent; their tokens are known only as far as earlier calls had them."""

    def __str__(self) -> str:
        free = f" ({self.cached:,} more are in the ledger)" if self.cached else ""
        served = f" ({self.cached_tokens:,} from the provider's cache)" if self.cached_tokens else ""
        tokens = f"{self.prompt_tokens:,}{served} + {self.completion_tokens:,} tokens"
        cost = f", cost {self.cost:.4g}" if self.cost else ""
        about = f"about {self.calls:,} calls{free}, {tokens}{cost}, {show_seconds(self.seconds)}"
        if not self.images:
            return about
        return f"{about}; with {self.images:,} images, whose tokens are counted only as far as earlier calls tell"


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

    A share of calls that the ledger already holds is free. What earlier calls to this model took, if they can be those
    of the same kind, tells how many tokens a text really makes, how long an answer is, how often one is asked for
    again, what a prefix cache serves, and the time; without them the rules of thumb stand in.
    """
    known = [_look_up(ledger, request, number, endpoint) for request, number in sample]
    calls = round(n * known.count(None) / len(sample)) if sample else n
    asked = [request for (request, _), call in zip(sample, known, strict=True) if call is None]
    past = _Past(ledger, asked[0], endpoint) if ledger is not None and asked else _Past()
    repeats = len(asked) > len({request.hash for request in asked})
    prompt = round(
        calls * _mean([estimate_tokens(r) for r in asked], 0.0) * past.prompt_ratio(repeats=repeats)
    )
    usual = past.answer_tokens or answer_tokens
    each = _mean([min(usual, request.max_tokens or usual) for request in asked], usual)
    return Forecast(
        calls=calls,
        cached=n - calls,
        prompt_tokens=prompt,
        completion_tokens=round(calls * each),
        cost=prices.cost(prompt, round(calls * each)),
        seconds=calls * past.seconds / concurrency,
        cached_tokens=round(prompt * past.cached_share),
        images=round(calls * _mean([sum(len(turn.images) for turn in one.messages) for one in asked], 0.0)),
    )


def _look_up(ledger: Ledger | None, request: Request, number: int, endpoint: str) -> Call | None:
    return None if ledger is None else ledger.get_answer(request.hash, number, endpoint)


def _mean(values: Sequence[float], default: float) -> float:
    return fmean(values) if values else default


class _Past:
    """What earlier calls to a model took: those whose question ends like this one, or else all of them."""

    def __init__(
        self, ledger: Ledger | None = None, request: Request | None = None, endpoint: str = ""
    ) -> None:
        calls = ledger.list_recent(request.model, endpoint) if ledger and request else ()
        ending = _as_sent(request.messages[-1].content[-KNOWN_BY:]) if request else ""
        alike = [call for call in calls if ending in call.request]
        self.calls = alike or list(calls)
        first = sum(not _asks_again(call) for call in alike)
        self.answer_tokens = sum(call.completion_tokens for call in alike) / first if first else 0.0
        """Tokens for each question's answer, those of asking again among them; 0 where none were counted."""
        latencies = [call.latency_ms / 1000 for call in self.calls if call.latency_ms]
        self.seconds = _mean(latencies, CALL_SECONDS)

    def prompt_ratio(self, *, repeats: bool) -> float:
        """Prompt tokens billed, those of asking again among them, for each one guessed of the first questions.

        With ``repeats`` several samples of one question are asked for: where one request gave several answers
        its prompt was billed once.
        """
        counted = sum(call.prompt_tokens for call in self.calls)
        guessed = sum(
            estimate_sent(call.request)
            for call in self.calls
            if not _asks_again(call) and (call.prompt_tokens or (repeats and '"n": ' in call.request))
        )
        return counted / guessed if counted and guessed else 1.0

    @property
    def cached_share(self) -> float:
        """The share of prompt tokens that came from the provider's prefix cache."""
        counted = sum(call.prompt_tokens for call in self.calls)
        return sum(map(_cached_tokens, self.calls)) / counted if counted else 0.0


def _asks_again(call: Call) -> bool:
    return '"role": "assistant"' in call.request


def _cached_tokens(call: Call) -> int:
    try:
        return answer_of(call).cached_tokens
    except CallError:
        return 0


def _as_sent(text: str) -> str:
    """The text as it stands in the JSON of a request."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
