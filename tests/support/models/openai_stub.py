"""A stand-in for an OpenAI-compatible server, on this machine only, that does what a test tells it to.

In a test::

    with start_stub(latency=0.05, supports=("json_object",)) as stub:
        ...                          # stub.url, stub.paid, stub.bodies, stub.script(Reply(status=500))

As a process of its own: ``python -m tests.support.models.openai_stub --port 8123 --latency 0.2``; it prints its
address, and ``GET /stats`` gives its counts. Written on asyncio's bare protocols so that it takes little of the core
it shares with what is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.models.stub_answers import default_reply, reply_decision

Body = dict[str, Any]

FORMATS = ("json_schema", "json_object")
"""The values of response_format.type that a full server supports."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request gets: an answer, an error status, a raw body, silence or a cut connection."""

    text: str | None = ""
    status: int = 200
    message: str = ""
    code: str = ""
    param: str = ""
    raw: str | None = None
    """Sent as the whole body, in place of a completion or an error."""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float | None = None
    logprobs: Sequence[Mapping[str, Any]] | None = None
    finish_reason: str = "stop"
    more: Sequence[str] = ()
    """Further answers to the same request, where it asked for ``n``."""
    hang: bool = False
    drop: bool = False


ReplyFunction = Callable[[Body], "str | Reply"]

TOO_MANY = Reply(status=429, message="Rate limit reached", code="rate_limit_exceeded")


class Stub:
    """The scripted behaviour and the counts; ``paid`` counts requests taken that a provider would bill."""

    def __init__(
        self,
        reply: ReplyFunction = default_reply,
        *,
        latency: float = 0.0,
        supports: Sequence[str] = FORMATS,
        refuses: Sequence[str] = (),
        api_key: str = "",
        capacity: int = 0,
        retry_after: str = "",
        keep_bodies: bool = True,
        several: bool = False,
        decides: bool = False,
    ) -> None:
        self.reply, self.latency, self.supports, self.refuses = reply, latency, supports, refuses
        self.api_key, self.capacity, self.retry_after = api_key, capacity, retry_after
        self.keep_bodies, self.several = keep_bodies, several
        self.served = ("/chat/completions", *(("/systemone", "/decisions") if decides else ()))
        self.url = ""
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.received = self.paid = self.in_flight = self.peak = 0
        self._script: deque[Reply] = deque()

    def script(self, *replies: Reply) -> None:
        """Give these replies to the next requests, before the reply function is asked again."""
        self._script.extend(replies)

    @property
    def stats(self) -> dict[str, int]:
        return {
            "received": self.received,
            "paid": self.paid,
            "in_flight": self.in_flight,
            "peak": self.peak,
        }

    def note_path(self, path: str) -> None:
        if self.keep_bodies:
            self.paths.append(path)

    def choose(self, body: Body, headers: dict[str, str]) -> Reply:
        """The reply to one request, with the counts kept."""
        self.received += 1
        if self.keep_bodies:
            self.bodies.append(body)
            self.headers.append(headers)
        reply = self._choose(body, headers)
        if reply.status == 200:
            self.paid += 1
        return reply

    def _choose(self, body: Body, headers: dict[str, str]) -> Reply:
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            return Reply(
                status=401, message="Incorrect API key provided: " + headers.get("authorization", "")
            )
        if self.capacity and self.in_flight > self.capacity:
            return replace(TOO_MANY, headers={"retry-after": self.retry_after} if self.retry_after else {})
        if self._script:
            return self._script.popleft()
        refusal = refuse_unsupported(body, self.supports, self.refuses)
        if refusal:
            return refusal
        if "questions" in body and self.reply is default_reply:
            return Reply(raw=reply_decision(body))
        answer = self.reply(body)
        if isinstance(answer, Reply):
            return answer
        further = range(1, body.get("n", 1) if self.several else 1)
        return Reply(text=answer, more=tuple(str(self.reply(body)) for _ in further))


def refuse_unsupported(body: Body, supports: Sequence[str], refuses: Sequence[str]) -> Reply | None:
    """The 400 that OpenAI's own server gives for a format or a parameter it does not have."""
    wanted = (body.get("response_format") or {}).get("type", "text")
    if wanted != "text" and wanted not in supports:
        text = f"Invalid parameter: 'response_format' of type '{wanted}' is not supported with this model."
        return Reply(status=400, message=text, param="response_format")
    for name in refuses:
        if name in body:
            other = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
            text = f"Unsupported parameter: '{name}' is not supported with this model.{other}"
            return Reply(status=400, message=text, code="unsupported_parameter", param=name)
    return None


def render_reply(reply: Reply, body: Body) -> bytes:
    """The HTTP response as bytes."""
    if reply.raw is not None:
        content = reply.raw
    elif reply.status != 200:
        error = {
            "message": reply.message,
            "type": "error",
            "param": reply.param or None,
            "code": reply.code or None,
        }
        content = json.dumps({"error": error})
    else:
        content = json.dumps(_completion(reply, body))
    data = content.encode("utf-8", "surrogatepass")
    lines = [f"HTTP/1.1 {reply.status} {'OK' if reply.status == 200 else 'Error'}"]
    lines += ["content-type: application/json", f"content-length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def _completion(reply: Reply, body: Body) -> Body:
    prompt = sum(len(str(message.get("content"))) for message in body.get("messages", ())) // 4
    texts = [reply.text, *reply.more]
    written = sum(len(text or "") // 4 + 1 for text in texts)
    logprobs = {"content": list(reply.logprobs)} if reply.logprobs and body.get("logprobs") else None
    choices: list[Body] = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "finish_reason": reply.finish_reason,
            "logprobs": logprobs,
        }
        for index, text in enumerate(texts)
    ]
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": choices,
        "usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written},
    }


class _Connection(asyncio.Protocol):
    """One client connection: HTTP/1.1 with keep-alive, one request at a time."""

    def __init__(self, stub: Stub) -> None:
        self.stub, self.buffer = stub, bytearray()
        self.hanging = False
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self.hanging:
            self.stub.in_flight -= 1

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < length:
            return
        content = bytes(self.buffer[end + 4 : length])
        del self.buffer[:length]
        self.on_request(first, headers, content)

    def on_request(self, first: str, headers: dict[str, str], content: bytes) -> None:
        method, path, _ = first.split(" ", 2)
        if method == "GET" and path == "/stats":
            self.transport.write(render_reply(Reply(raw=json.dumps(self.stub.stats)), {}))
        elif method == "POST" and path.partition("?")[0].endswith(self.stub.served):
            self.stub.note_path(path)
            self.on_completion(json.loads(content), headers)
        else:
            self.transport.write(render_reply(Reply(status=404, message=f"Unknown path {path}"), {}))

    def on_completion(self, body: Body, headers: dict[str, str]) -> None:
        stub = self.stub
        stub.in_flight += 1
        stub.peak = max(stub.peak, stub.in_flight)
        reply = stub.choose(body, headers)
        self.hanging = reply.hang
        if self.hanging:
            return
        latency = stub.latency if reply.latency is None else reply.latency
        if latency:
            asyncio.get_running_loop().call_later(latency, self.answer, reply, body)
        else:
            self.answer(reply, body)

    def answer(self, reply: Reply, body: Body) -> None:
        self.stub.in_flight -= 1
        if reply.drop:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.write(render_reply(reply, body))


async def serve(stub: Stub, port: int = 0) -> asyncio.Server:
    """Listen on the loopback address; ``stub.url`` is then what OPENAI_BASE_URL would hold."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(stub), "127.0.0.1", port, backlog=1024)
    stub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    return server


@contextmanager
def start_stub(reply: ReplyFunction = default_reply, **options: Any) -> Iterator[Stub]:
    """A running stub in a thread of its own; see ``Stub`` for the options."""
    stub = Stub(reply, **options)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(stub), loop).result(10)
    try:
        yield stub
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _run(stub: Stub, port: int) -> None:
    server = await serve(stub, port)
    print(stub.url, flush=True)
    await server.serve_forever()


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until stopped; ``--supports ''`` leaves plain text as the only format."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.models.openai_stub", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--supports", default=",".join(FORMATS), help="response formats, comma-separated")
    parser.add_argument("--capacity", type=int, default=0, help="requests at once before 429 (0: no limit)")
    options = parser.parse_args(argv)
    supports = [name for name in options.supports.split(",") if name]
    stub = Stub(latency=options.latency, supports=supports, capacity=options.capacity, keep_bodies=False)
    try:
        asyncio.run(_run(stub, options.port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
