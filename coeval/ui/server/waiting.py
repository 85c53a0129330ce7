"""Where sign-ins wait: passwords are checked on threads of their own, and nobody's tries hold up somebody else's.

A check takes a processor and 64 MiB for a moment. On the threads that answer everything else, a few dozen of them
would leave no thread to save somebody's work.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")
CHECKS_AT_ONCE = max(1, (os.cpu_count() or 2) // 2)


class WaitingRoom:
    """Tries of one name from one address go one by one, and so do the checks of one address."""

    def __init__(self) -> None:
        self._limiter = CapacityLimiter(CHECKS_AT_ONCE)
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}

    async def check(
        self, who: str, address: str, pause: Callable[[], float], work: Callable[[float], T]
    ) -> T:
        """Wait for the turn, then as long as ``pause`` says, then do the work, which is told how long that was."""
        async with self._turn(f"{address}\n{who}"):
            waited = await to_thread.run_sync(pause)
            await asyncio.sleep(waited)
            return await self.work(address, lambda: work(waited))

    async def work(self, address: str, work: Callable[[], T]) -> T:
        """Do what hashes a password, once it is this address's turn."""
        async with self._turn(address):
            return await to_thread.run_sync(work, limiter=self._limiter)

    @asynccontextmanager
    async def _turn(self, key: str) -> AsyncIterator[None]:
        lock, waiting = self._turns.get(key, (asyncio.Lock(), 0))
        self._turns[key] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            waiting = self._turns[key][1] - 1
            if waiting:
                self._turns[key] = lock, waiting
            else:
                del self._turns[key]
