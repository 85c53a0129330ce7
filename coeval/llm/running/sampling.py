"""Samples of one question that are asked for at the same moment go out in one request, where the endpoint takes ``n``.

The prompt is then billed once for all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from coeval.domain import Answer, Request

Send = Callable[[str, Request, Sequence[int]], Awaitable[dict[int, Answer]]]
"""Sends one request, with its hash, for samples of these numbers; gives the answers to one or more of them."""

MOST = 20
"""Answers asked for in one request."""


class Sampling:
    """Gathers samples of a question; ``takes_several`` says of a model whether to try it."""

    def __init__(self, send: Send, takes_several: Callable[[str], bool]) -> None:
        self._send, self._takes_several = send, takes_several
        self._gathering: dict[str, dict[int, asyncio.Future[Answer]]] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    async def ask(self, key: str, request: Request, sample: int) -> Answer:
        """The answer to one sample of the question with this hash.

        Raises:
            CallError: it cannot be had.
        """
        others = self._gathering.get(key)
        if others is not None and len(others) < MOST - 1:
            return await others.setdefault(sample, asyncio.get_running_loop().create_future())
        others = self._gathering[key] = {}
        try:
            await asyncio.sleep(0)  # whoever asks at the same moment joins here
        except asyncio.CancelledError:
            self._leave(key, request, others)
            raise
        self._close(key, others)
        if not others:
            return (await self._send(key, request, [sample]))[sample]
        own: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        others[sample] = own
        self._leave(key, request, others)
        return await own

    def _close(self, key: str, others: dict[int, asyncio.Future[Answer]]) -> None:
        if self._gathering.get(key) is others:
            del self._gathering[key]

    def _leave(self, key: str, request: Request, waiting: dict[int, asyncio.Future[Answer]]) -> None:
        """Send what has gathered, in a task that ends when nobody waits for it any more."""
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
