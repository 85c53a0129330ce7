"""A model for tests: a queue of answers and a history of what was asked."""

from __future__ import annotations

from collections import deque

from coeval.domain import Answer, Request
from coeval.errors import ModelError


class FakeAsk:
    """Gives the queued answers in order; texts become answers, errors are raised."""

    def __init__(self, *replies: str | Answer | ModelError) -> None:
        self.queue = deque(replies)
        self.history: list[tuple[Request, int]] = []

    async def __call__(self, request: Request, sample: int) -> Answer:
        self.history.append((request, sample))
        reply = self.queue.popleft()
        if isinstance(reply, ModelError):
            raise reply
        return Answer(reply, "stop") if isinstance(reply, str) else reply

    def words(self, call: int = 0) -> str:
        """The last message of the n-th call."""
        return self.history[call][0].messages[-1].content
