"""Many small writes, few commits: what is ready together goes into one transaction, in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")

GATHER_SECONDS = 0.01
"""How long the first item of a commit waits for others: nothing beside a model's answer, and saves commits."""


class GroupCommit(Generic[T]):
    """Gathers items for a moment, or while a commit is under way, and writes them all in the next one.

    ``write`` is called in a worker thread with a list of at most ``most`` items, never twice at once; it
    must make them durable, or raise and keep none.
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
        """Returns once the item is durable; raises what ``write`` raised. A cancelled wait still writes it."""
        await self._add(item)

    async def hand_over(self, item: T) -> None:
        """Returns at once while fewer than ``most`` items wait; what a write raised, the next call raises."""
        if self._failure is not None:
            raise self._failure
        written = self._add(item)
        written.add_done_callback(self._note)
        if len(self._ready) >= self._most:
            await asyncio.wait((written,))

    async def flush(self) -> None:
        """Wait until everything has been written; raises what a write of items handed over raised."""
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
            error = written.exception()  # asked of each: asyncio logs the ones that nobody asked
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
        """Let more items come, unless somebody waits for the last of them."""
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
