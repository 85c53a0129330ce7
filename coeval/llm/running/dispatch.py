"""Dispatch requests to one endpoint: limit their number, and combine samples.

If the endpoint accepts ``n``, samples of one question that are requested at the same moment share one request. The
prompt is then billed only once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from coeval.domain import Answer, Request

# The limit on simultaneous requests to an endpoint rises additively, and falls only after a 429.

FASTER, SLOWER, FASTER_AFTER = 0.9, 1.25, 30
"""Factors for the interval after ``FASTER_AFTER`` consecutive answers, and after a refusal."""


class Limiter:
    """Limits the simultaneous requests to one endpoint. It starts at ``most`` requests, which is also the maximum.

    A 429 halves the limit, but only once for all requests that were in flight together. Then every ``limit``
    consecutive answers raise it by one. Time-outs and server errors say nothing about the rate and do not change it.
    ``pause`` delays all new requests, as Retry-After demands.

    An endpoint that refuses again after a pause, with no other request in flight, has a rate window, such as 15
    requests per minute; ``shut`` reports this. The time until its next answer, divided by the answers before, is then
    the interval between requests. After ``FASTER_AFTER`` consecutive answers the interval shrinks a little; a refusal
    makes it longer again.
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
        """Wait for a place at the endpoint and hold it. Yield the number of the request, for ``cut``."""
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
        """Report a 429 for the request with this number; return whether it lowered the limit.

        Requests that started before a cut do not lower the limit again.
        """
        self._successes = 0
        if number <= self._cut_before:
            return False
        self.limit = max(1, self.limit // 2)
        self._cut_before = self._started
        return True

    def shut(self) -> None:
        """Report a refusal that lasted longer than a pause."""
        if self.running <= 1:
            self._is_shut = True

    def _pace(self) -> None:
        """Learn the interval when the window opens again; shorten it after many answers without a refusal."""
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
        """Start no new request for this many seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if until > self._resume_at:
            self._resume_at = until
            loop.call_at(until, self._grant)

    def _take(self) -> None:
        """Take a place. The next one becomes free after the interval."""
        self.running += 1
        if self.interval:
            self.pause(self.interval)

    def _free(self) -> int:
        """Return the number of free places. The timer may fire slightly early, hence the tolerance."""
        paused = asyncio.get_running_loop().time() < self._resume_at - 0.005
        return 0 if paused else max(0, self.limit - self.running)

    async def _wait(self) -> None:
        """Wait for a place: first come, first served."""
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


Send = Callable[[str, Request, Sequence[int]], Awaitable[dict[int, Answer]]]
"""A function that sends one request, with its hash, for some sample numbers, and returns at least one answer."""

MOST = 20
"""Largest number of answers in one request."""


class Sampling:
    """Combines samples of a question into one request. ``takes_several`` returns whether a model may support this."""

    def __init__(self, send: Send, takes_several: Callable[[str], bool]) -> None:
        self._send, self._takes_several = send, takes_several
        self._gathering: dict[str, dict[int, asyncio.Future[Answer]]] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    async def ask(self, key: str, request: Request, sample: int) -> Answer:
        """Return the answer to one sample of the question with this hash.

        Raises:
            CallError: there is no answer.
        """
        others = self._gathering.get(key)
        if others is not None and len(others) < MOST - 1:
            return await others.setdefault(sample, asyncio.get_running_loop().create_future())
        others = self._gathering[key] = {}
        try:
            await asyncio.sleep(0)  # let simultaneous callers join
        except asyncio.CancelledError:
            self._leave(key, request, others)
            raise
        self._close(key, others)
        if not others:
            return (await self._send(key, request, [sample]))[sample]
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        others[sample] = future
        self._leave(key, request, others)
        return await future

    def _close(self, key: str, others: dict[int, asyncio.Future[Answer]]) -> None:
        if self._gathering.get(key) is others:
            del self._gathering[key]

    def _leave(self, key: str, request: Request, waiting: dict[int, asyncio.Future[Answer]]) -> None:
        """Send the collected samples, in a task that is cancelled if nobody waits for it any more."""
        self._close(key, waiting)
        if not waiting:
            return
        task = asyncio.ensure_future(self._answer(key, request, waiting))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

        def end_if_alone(_: asyncio.Future[Answer]) -> None:
            if all(future.cancelled() for future in waiting.values()):
                task.cancel()

        for future in waiting.values():
            future.add_done_callback(end_if_alone)

    async def _answer(self, key: str, request: Request, waiting: dict[int, asyncio.Future[Answer]]) -> None:
        left = sorted(waiting)
        try:
            while len(left) > 1 and self._takes_several(request.model):
                answers = await self._send(key, request, left)
                self._give(waiting, answers)
                left = [sample for sample in left if sample not in answers]
        except Exception as error:
            for sample in left:
                if not waiting[sample].done():
                    waiting[sample].set_exception(error)
            return
        await asyncio.gather(*(self._answer_one(key, request, sample, waiting[sample]) for sample in left))

    async def _answer_one(
        self, key: str, request: Request, sample: int, future: asyncio.Future[Answer]
    ) -> None:
        if future.done():
            return
        try:
            answers = await self._send(key, request, [sample])
        except Exception as error:
            if not future.done():
                future.set_exception(error)
            return
        self._give({sample: future}, answers)

    @staticmethod
    def _give(waiting: dict[int, asyncio.Future[Answer]], answers: dict[int, Answer]) -> None:
        for sample, answer in answers.items():
            if not waiting[sample].done():
                waiting[sample].set_result(answer)
