"""The ledger of calls, for caching, resuming, audits and offline replay; and grouped commits of small writes.

The ledger is keyed by the question's hash, the sample number and the endpoint. An answered question is therefore never
paid for again, and answers of different servers are never confused. In the app, the store implements ``Ledger``.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from coeval.domain import Answer, Call
from coeval.errors import InputError
from coeval.llm.client.completions import parse_completion

# Many small writes need few commits: simultaneous writes share one transaction, in a thread.

T = TypeVar("T")

GATHER_SECONDS = 0.01
"""Seconds that the first item of a commit waits for others."""


class GroupCommit(Generic[T]):
    """Gathers items for a moment, or during a commit, and writes them together in the next commit.

    ``write`` runs in a worker thread with at most ``most`` items, never twice at once. It must make all of them
    durable, or raise and keep none.
    """

    def __init__(
        self, write: Callable[[Sequence[T]], None], *, most: int = 500, gather: float = GATHER_SECONDS
    ) -> None:
        self._write, self._most, self._gather = write, most, gather
        self._ready: list[tuple[T, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._hurry = asyncio.Event()

    async def record(self, item: T) -> None:
        """Return once the item is durable, or raise the error of ``write``. A cancelled wait still writes it."""
        await self._add(item)

    async def hand_over(self, item: T) -> None:
        """Return at once if fewer than ``most`` items wait. The next call raises an error of ``write``."""
        if self._failure is not None:
            raise self._failure
        written = self._add(item)
        written.add_done_callback(self._note)
        if len(self._ready) >= self._most:
            await asyncio.wait((written,))

    async def flush(self) -> None:
        """Wait until all items are written, and raise any error of an earlier ``write``."""
        self._hurry.set()
        while self._writing is not None:
            await asyncio.shield(self._writing)
        self._hurry.clear()
        if self._failure is not None:
            raise self._failure

    def _add(self, item: T) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._ready.append((item, written))
        if self._writing is None:
            self._writing = loop.create_task(self._drain())
        return written

    def _note(self, written: asyncio.Future[None]) -> None:
        if not written.cancelled():
            error = written.exception()  # retrieve every exception: asyncio logs those that nobody retrieves
            self._failure = self._failure or error

    async def _drain(self) -> None:
        try:
            while self._ready:
                await self._pause()
                batch, self._ready = self._ready[: self._most], self._ready[self._most :]
                await self._commit(batch)
        finally:
            self._writing = None

    async def _pause(self) -> None:
        """Wait for more items, unless ``flush`` waits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._gather):
                await self._hurry.wait()

    async def _commit(self, batch: list[tuple[T, asyncio.Future[None]]]) -> None:
        error: Exception | None = None
        try:
            await asyncio.to_thread(self._write, [item for item, _ in batch])
        except Exception as raised:
            error = raised
        for _, written in batch:
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)


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


def answer_of(call: Call) -> Answer:
    """Return a call's original answer, from the body in the ledger."""
    answer = parse_completion(call.response, place=call.endpoint, latency_ms=call.latency_ms)
    return replace(answer, response_format=find_format(call.request))


_FORMAT = re.compile(r'"response_format": ?\{"type": ?"(json_schema|json_object)"')


def find_format(body: str) -> str:
    """Return the form that a sent request demanded. A sample cannot imitate it: its quotation marks are escaped."""
    found = _FORMAT.search(body)
    return found[1] if found else ""
