"""The ledger of calls, for caching, resuming, audits and offline replay; and the prices of tokens.

The ledger is keyed by the question's hash, the sample number and the endpoint. An answered question is therefore never
paid for again, and answers of different servers are never confused. In the app, the store implements ``Ledger``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coeval.domain import Call
from coeval.errors import InputError


class Ledger(Protocol):
    """The interface of the runner's storage for calls."""

    def get_answer(self, request_hash: str, sample: int, endpoint: str = "") -> Call | None:
        """Return the successful call at this endpoint, or at any endpoint if it is "", or None if there is no call.

        This runs on the event loop and must not wait for writers.
        """

    def list_recent(self, model: str, endpoint: str) -> Sequence[Call]:
        """Return recent successful calls to a model at an endpoint, newest first."""

    def record_calls(self, calls: Sequence[Call]) -> None:
        """Append successful and failed calls in one durable commit. This runs in a worker thread."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices per million tokens, in the user's currency; 0 means free.

    ``cached`` is the price of prompt tokens from the provider's prefix cache. If it is None, these tokens count as
    other prompt tokens, and the real cost is at most the result.

    >>> Prices(prompt=2.5, completion=10.0).cost(1_000_000, 100_000)
    3.5
    >>> Prices(prompt=2.5, completion=10.0, cached=0.25).cost(1_000_000, 100_000, 800_000)
    1.7
    """

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def __post_init__(self) -> None:
        prices = {"prompt": self.prompt, "completion": self.completion, "cached prompt": self.cached or 0.0}
        for name, price in prices.items():
            if not (math.isfinite(price) and price >= 0):
                raise InputError(f"The price of a million {name} tokens is {price}: it must be 0 or more.")

    def cost(self, prompt_tokens: float, completion_tokens: float, cached_tokens: float = 0.0) -> float:
        cached = self.prompt if self.cached is None else self.cached
        prompt = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * cached
        return (prompt + completion_tokens * self.completion) / 1_000_000

    def is_bound(self, cached_tokens: float) -> bool:
        """Return whether the cost is an upper bound, because the price of its cached tokens is unknown."""
        return bool(cached_tokens and self.prompt and self.cached is None)
