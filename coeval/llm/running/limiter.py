"""How many requests one endpoint gets at once: additive increase, and a cut on 429 only."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Limiter:
    """A gate for one endpoint; starts at ``most`` requests at once, which is also its ceiling.

    A 429 halves the limit, once for all the requests that were under way together; every ``limit``
    answers in a row then raise it by one. Timeouts and server errors say nothing about the rate and leave
    it alone. ``pause`` holds every new request back, as Retry-After asks.
    """

    def __init__(self, most: int) -> None:
        if most < 1:
            raise ValueError(f"concurrency is {most}: it must be 1 or more")
        self.most, self.limit, self.running = most, most, 0
        self._successes = 0
        self._started = 0
        self._cut_before = 0
        self._resume_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Holds one place at the endpoint; gives the number to report with ``cut``."""
        if self._waiting or not self._free():
            await self._wait()
        else:
            self.running += 1
        self._started += 1
        try:
            yield self._started
        finally:
            self._release()

    def grow(self) -> None:
        """Report an answer."""
        self._successes += 1
        if self.limit < self.most and self._successes >= self.limit:
            self.limit += 1
            self._successes = 0
            self._grant()

    def cut(self, number: int) -> bool:
        """Report a 429 to the request with this number; those that started before a cut do not cut again.

        Tells whether this one did.
        """
        self._successes = 0
        if number <= self._cut_before:
            return False
        self.limit = max(1, self.limit // 2)
        self._cut_before = self._started
        return True

    def pause(self, seconds: float) -> None:
        """Start nothing new for so long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if until > self._resume_at:
            self._resume_at = until
            loop.call_at(until, self._grant)

    def _free(self) -> int:
        """Places free now; the clock may call a hair before the time that was asked for."""
        paused = asyncio.get_running_loop().time() < self._resume_at - 0.005
        return 0 if paused else max(0, self.limit - self.running)

    async def _wait(self) -> None:
        """Wait for a place to be handed over, first come first served."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        self.running -= 1
        self._grant()

    def _grant(self) -> None:
        free = self._free()
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                self.running += 1
                free -= 1
                turn.set_result(None)
