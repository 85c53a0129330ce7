"""Limit the number of connections, the time and size of a request's head, and the wait for a client that reads nothing.

uvicorn limits only the number of all connections: without this protocol, one address could take every one of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

try:
    import fcntl
    import termios
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HEAD_SECONDS = 20.0
HEAD_BYTES = 64 * 1024
WRITE_SECONDS = 20.0
"""Seconds after which a client that has read nothing is disconnected."""
MOST_CONNECTIONS = 4000
"""Largest number of connections, for uvicorn; a browser opens up to six."""

HEARTBEAT = "/gradio_api/heartbeat/"
"""The request that tells Gradio that a page is still open."""

MOST_OF_ONE = 1000
"""Largest number of connections from one address, perhaps a university's; trusted proxies do not count."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server's connections; ``trusted`` are the networks of its proxies."""

    trusted: Sequence[Any]
    most_of_one: int
    head_seconds: float
    write_seconds: float
    open_by: Counter[str] = field(default_factory=Counter)
    """The number of open connections per address, except those of proxies."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. If it exceeds a limit, it ends without an answer."""

    limits: ClassVar[Limits]
    counted = ""
    head_size = 0
    head_timer: asyncio.TimerHandle | None = None
    write_timer: asyncio.TimerHandle | None = None
    unsent = 0
    """Bytes of answers that waited for the client at the latest look."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        limits, address = self.limits, self.client[0] if self.client else ""
        if not _is_in(address, limits.trusted):
            self.counted = address
            limits.open_by[address] += 1
        if limits.open_by[self.counted] > limits.most_of_one:
            transport.abort()
        self._await_head()
        self._await_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        if self.write_timer is not None:
            self.write_timer.cancel()
        if self.counted:
            open_by = self.limits.open_by
            open_by[self.counted] -= 1
            if not open_by[self.counted]:
                del open_by[self.counted]
            self.counted = ""
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unsent = 0  # the client has read most of the waiting data

    def _await_reading(self) -> None:
        """End the connection if the client has read nothing since the last check."""
        waiting = self._count_waiting()
        if waiting and 0 < self.unsent <= waiting:
            _reset(self.transport)
            return
        self.unsent = waiting
        self.write_timer = self.loop.call_later(self.limits.write_seconds, self._await_reading)

    def _count_waiting(self) -> int:
        """Return how many bytes of answers the client has not acknowledged, as far as the system knows."""
        buffered: int = self.transport.get_write_buffer_size()
        connection = self.transport.get_extra_info("socket")
        if fcntl is None or connection is None:
            return buffered
        try:
            # system buffers hide for minutes whether a slow client is still reading
            held = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:
            return buffered
        return buffered + int.from_bytes(held, sys.byteorder)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.head_timer is not None:
            self.head_size += len(data)
            if self.head_size > HEAD_BYTES:
                self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._end_wait()
        super().on_headers_complete()

    def shutdown(self) -> None:
        super().shutdown()
        # otherwise the server waits in vain, because this request does not end while its page is open
        if not self.transport.is_closing() and HEARTBEAT in self.scope["path"]:
            self.transport.close()

    def _await_head(self) -> None:
        if self.head_timer is None:
            self.head_size = 0
            self.head_timer = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _end_wait(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None


def build_protocol(
    proxies: Sequence[str],
    *,
    most_of_one: int = MOST_OF_ONE,
    head_seconds: float = HEAD_SECONDS,
    write_seconds: float = WRITE_SECONDS,
) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with these limits; ``proxies`` are the networks of trusted ones."""
    trusted = [ipaddress.ip_network(proxy) for proxy in proxies]
    limits = Limits(trusted, most_of_one, head_seconds, write_seconds)
    return type("BoundedProtocol", (BoundedProtocol,), {"limits": limits})


def _reset(transport: asyncio.Transport) -> None:
    """End a connection immediately, and drop the data that the system holds for the client."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _is_in(address: str, networks: Sequence[Any]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
