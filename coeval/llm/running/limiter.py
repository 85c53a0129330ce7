"""How many requests one endpoint gets at once: additive increase, and a cut on 429 only."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

FASTER, SLOWER, FASTER_AFTER = 0.9, 1.25, 30
"""What a pace is multiplied by after so many answers in a row, and after a refusal."""


class Limiter:
    """A gate for one endpoint; starts at ``most`` requests at once, which is also its ceiling.

    A 429 halves the limit, once for all the requests that were under way together; every ``limit``
    answers in a row then raise it by one. Timeouts and server errors say nothing about the rate and leave
    it alone. ``pause`` holds every new request back, as Retry-After asks.

    An endpoint that says no again after a pause, with nothing else under way, has a window, such as 15 requests a
    minute: ``shut`` reports it. How many answers it gave before, and how long it took until it gave the next,
    is its pace, and from then on requests start that far apart. After ``FASTER_AFTER`` answers in a row the pace is
    tried a little faster; a refusal slows it down again.
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
        self.interval = 0.0
        self._is_shut = False
        self._streak, self._streak_began = 0, 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Holds one place at the endpoint; gives the number to report with ``cut``."""
        if self._waiting or not self._free():
            await self._wait()
        else:
            self._take()
        self._started += 1
        try:
            yield self._started
        finally:
            self._release()

    def grow(self) -> None:
        """Report an answer."""
        self._successes += 1
        self._pace()
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

    def shut(self) -> None:
        """Report a refusal that outlasted a pause."""
        if self.running <= 1:
            self._is_shut = True

    def _pace(self) -> None:
        """Learn the window when it opens again, and try a little faster after a long while without a refusal."""
        now = asyncio.get_running_loop().time()
        if self._is_shut:
            learnt = (now - self._streak_began) / self._streak if self._streak else 0.0
            self.interval = max(learnt, self.interval * SLOWER)
            self._is_shut, self._streak = False, 0
        if not self._streak:
            self._streak_began = now
        self._streak += 1
        if self.interval and self._streak % FASTER_AFTER == 0:
            self.interval *= FASTER

    def pause(self, seconds: float) -> None:
        """Start nothing new for so long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if until > self._resume_at:
            self._resume_at = until
            loop.call_at(until, self._grant)

    def _take(self) -> None:
        """Take a place; the next one is to be had after the interval."""
        self.running += 1
        if self.interval:
            self.pause(self.interval)

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
        while self._waiting and self._free():
            turn = self._waiting.popleft()
            if not turn.done():
                self._take()
                turn.set_result(None)
