"""Connections: how many there may be, how long the head of a request may take, and which end with the server.

uvicorn waits for the rest of a half-sent head as long as the sender likes, and takes a head of any size; whoever
opens connections and says nothing keeps others out.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
HEAD_BYTES = 64 * 1024
MOST = 4000
"""Connections at once; a browser opens up to six."""

HEARTBEAT = "/gradio_api/heartbeat/"
"""By this request Gradio knows that a page is still open."""

MOST_OF_ONE = 1000
"""Connections from one address at once; a university is one address. Trusted proxies are not counted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server's connections; ``trusted`` are the networks of its proxies."""

    trusted: Sequence[Any]
    most: int
    most_of_one: int
    head_seconds: float
    open_by: Counter[str] = field(default_factory=Counter)
    """How many connections each address has open now; those of proxies are not counted."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection; what is over a limit is closed without an answer."""

    limits: ClassVar[Limits]
    counted = ""
    head_size = 0
    head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        limits, address = self.limits, self.client[0] if self.client else ""
        if not _is_in(address, limits.trusted):
            self.counted = address
            limits.open_by[address] += 1
        if len(self.connections) > limits.most or limits.open_by[self.counted] > limits.most_of_one:
            transport.abort()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        if self.counted:
            open_by = self.limits.open_by
            open_by[self.counted] -= 1
            if not open_by[self.counted]:
                del open_by[self.counted]
            self.counted = ""
        super().connection_lost(exc)

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
        # else the server waits in vain: this request has no end while its page is open
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
    most: int = MOST,
    most_of_one: int = MOST_OF_ONE,
    head_seconds: float = HEAD_SECONDS,
) -> type[asyncio.Protocol]:
    """uvicorn's protocol with these limits; ``proxies`` are the networks of trusted ones."""
    trusted = [ipaddress.ip_network(proxy) for proxy in proxies]
    limits = Limits(trusted, most, most_of_one, head_seconds)
    return type("BoundedProtocol", (BoundedProtocol,), {"limits": limits})


def _is_in(address: str, networks: Sequence[Any]) -> bool:
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(known in network for network in networks)
