"""A runner without a network: a sender that answers from a queue."""

from __future__ import annotations

import asyncio
from typing import Any

from coeval.domain import Answer, Message, Request
from coeval.llm.client.client import Exchange
from coeval.llm.client.failures import CallError
from coeval.llm.running.runner import Patience, Runner
from tests.support.models.memory_ledger import MemoryLedger

QUICK = Patience(retries=3, first=0.001, longest=0.002, ceiling=0.05)


def question(number: int = 0) -> Request:
    return Request("m", (Message("user", f"Question {number}"),))


class FakeSender:
    """Answers from a queue of texts and errors, then always with "4"; keeps what it was sent."""

    endpoint = "http://127.0.0.1/v1"

    def __init__(self, *replies: str | CallError, seconds: float = 0.0) -> None:
        self.replies, self.seconds = list(replies), seconds
        self.sent: list[Request] = []
        self.running = self.peak = 0
        self.closed = False

    async def send(self, request: Request, answers: int = 1) -> Exchange:
        self.sent.append(request)
        self.running += 1
        self.peak = max(self.peak, self.running)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        reply = self.replies.pop(0) if self.replies else "4"
        if isinstance(reply, CallError):
            raise reply
        answer = Answer(reply, "stop", prompt_tokens=10, completion_tokens=2)
        usage = '{"prompt_tokens": 10, "completion_tokens": 2}'
        received = f'{{"choices": [{{"message": {{"content": "{reply}"}}}}], "usage": {usage}}}'
        return Exchange("{}", received, (answer,))

    def takes_several(self, model: str) -> bool:
        return False

    async def close(self) -> None:
        self.closed = True


def make_runner(sender: FakeSender, ledger: MemoryLedger | None = None, **options: Any) -> Runner:
    return Runner(sender, ledger or MemoryLedger(), patience=QUICK, spread=lambda: 0.0, **options)
