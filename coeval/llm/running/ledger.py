"""The ledger of calls: cache, resume, audit and offline replay in one.

It is keyed by the question's hash, the number of the sample and the endpoint, so a question that an endpoint
answered once is never paid for again, and no answer is taken for that of another server. Whoever keeps it (the
store, in the app) implements ``Ledger``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coeval.domain import Answer, Call
from coeval.errors import InputError
from coeval.llm.client.completions import parse_completion


class Ledger(Protocol):
    """What the runner needs of the place where calls are kept."""

    def get_answer(self, request_hash: str, sample: int, endpoint: str = "") -> Call | None:
        """The successful call at this endpoint, or at any where none is named, if there is one.

        Called on the event loop: it must not wait for writers.
        """

    def list_recent(self, model: str, endpoint: str) -> Sequence[Call]:
        """Some of the latest successful calls to a model at an endpoint, newest first."""

    def record_calls(self, calls: Sequence[Call]) -> None:
        """Append calls, successes and failures, in one durable commit. Called in a worker thread."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in whatever currency the user thinks in; 0 where nothing is charged.

    >>> Prices(prompt=2.5, completion=10.0).cost(1_000_000, 100_000)
    3.5
    """

    prompt: float = 0.0
    completion: float = 0.0

    def __post_init__(self) -> None:
        for name, price in (("prompt", self.prompt), ("completion", self.completion)):
            if not (math.isfinite(price) and price >= 0):
                raise InputError(f"The price of a million {name} tokens is {price}: it must be 0 or more.")

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


def answer_of(call: Call) -> Answer:
    """The answer as it was given when the call was made, from the body kept in the ledger."""
    return parse_completion(call.response, place=call.endpoint, latency_ms=call.latency_ms)
