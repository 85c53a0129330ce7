"""One question to the stub through a real client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from coeval.domain import Answer, Message, Request
from coeval.llm.client.abilities import Lessons
from coeval.llm.client.client import Client
from coeval.llm.client.failures import CallError
from coeval.settings import Settings
from tests.support.models.openai_stub import Reply, Stub

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}
QUESTION = Request("m", (Message("system", "Judge."), Message("user", "A text.")), schema=SCHEMA)
GOOD = '{"score": 4}'


def make_client(stub: Stub, *, lessons: Lessons | None = None, **settings: Any) -> Client:
    values: dict[str, Any] = {"base_url": stub.url, "timeout": 5.0} | settings
    return Client(Settings(**values), lessons=lessons)


def run(client: Client, work: Callable[[Client], Coroutine[Any, Any, Any]]) -> Any:
    async def whole() -> Any:
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(whole())


def ask(stub: Stub, request: Request = QUESTION, **options: Any) -> Answer:
    answer: Answer = run(make_client(stub, **options), lambda client: client.ask(request))
    return answer


def fail(stub: Stub, *replies: Reply, **options: Any) -> CallError:
    stub.script(*replies)
    with pytest.raises(CallError) as caught:
        ask(stub, **options)
    return caught.value
