"""A small balancer for tests: sends each request to the next server that is ready, and says 502 where one breaks off.

It asks ``/readyz`` twice a second. A request that a server did not answer is not sent again: whoever asked does that.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence

CHECK_SECONDS = 0.5
BROKEN = (
    b"HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\nbroken",
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nnone",
)
Message = tuple[bytes, bytes]
"""A head up to its empty line, and a body."""


class Balancer:
    """``async with Balancer(ports) as balancer``: answers on ``balancer.port`` of this machine."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports, self.ready = list(ports), set[int]()
        self.port = 0
        self.answered: Counter[int] = Counter()
        self.broken = 0
        self._turn = 0

    async def __aenter__(self) -> Balancer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000)
        self.port = self._server.sockets[0].getsockname()[1]
        self._checks = [asyncio.create_task(self._check(port)) for port in self.ports]
        return self

    async def __aexit__(self, *_: object) -> None:
        for check in self._checks:
            check.cancel()
        self._server.close()

    async def _check(self, port: int) -> None:
        asked = b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
        while True:
            try:
                async with asyncio.timeout(5):
                    head, _ = await _ask(port, (asked, b""))
                ready = head.split(b" ", 2)[1] == b"200"
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                ready = False
            (self.ready.add if ready else self.ready.discard)(port)
            await asyncio.sleep(CHECK_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                writer.write(b"".join(await self._pass_on(await _read(reader))))
                await writer.drain()
        writer.close()

    async def _pass_on(self, message: Message) -> tuple[bytes, ...]:
        for _ in range(len(self.ports)):
            ready = sorted(self.ready)
            if not ready:
                break
            self._turn += 1
            port = ready[self._turn % len(ready)]
            try:
                answer = await _ask(port, message)
            except ConnectionRefusedError:
                self.ready.discard(port)
                continue
            except (OSError, asyncio.IncompleteReadError):
                self.broken += 1
                return (BROKEN[0],)
            self.answered[port] += 1
            return answer
        await asyncio.sleep(0.2)
        return (BROKEN[1],)


async def _ask(port: int, message: Message) -> Message:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"".join(message))
        return await _read(reader)
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Message:
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return head, await reader.readexactly(length)
