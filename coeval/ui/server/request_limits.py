"""Limit clients' connections, the time of a request's head, and the size and time of its body.

uvicorn limits the number of connections. It waits without limit for the rest of a half-sent head and for a client that
reads no answer, accepts a head of any size, and lets one address take every connection. That is limited here.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from coeval.domain import Role
from coeval.language import tr
from coeval.ui.server.identity import read_session
from coeval.usecases.access import Context
from coeval.usecases.sessions import get_signed_in

# Bodies are read completely, within limits of size and time, before any other code sees them.

STRANGER_BYTES = 64 * 1024
"""Largest request without a session: a sign-in form has a few hundred bytes."""

MEMBER_BYTES = {"/admin/gradio_api/": 16 << 20, "/gradio_api/": 2 << 20, "/api/": 4 << 20, "/": 1 << 20}
"""Largest request with a session, by the beginning of the path; the first match counts."""

ANNOTATOR_BYTES = {"/gradio_api/": STRANGER_BYTES, "/api/": 256 * 1024}
"""Largest request of an annotator, if smaller: a save has a few kilobytes, an event less than one."""

HOUR = 3600.0
HOURLY_BYTES = 16 << 20
"""Largest sum of a person's requests per hour, except owners: a hundred times continuous typing."""

UPLOAD = "/admin/gradio_api/upload"
FILE_BYTES = 200 << 20
"""Largest file of an upload."""

UPLOAD_BYTES = FILE_BYTES + (10 << 20)
"""Largest upload: a file with its form data."""

BODY_SECONDS = 60.0
"""Longest time for a whole request, except uploads."""

CHUNK_SECONDS = 20.0
"""Longest pause of an upload."""


class TooLargeError(Exception):
    """The client sent more than is allowed."""


class TooSlowError(Exception):
    """The announced data did not arrive in time."""


class GoneError(Exception):
    """The client left before all announced data had arrived."""


def has_body(headers: Headers) -> bool:
    """Return whether a request announces a body (RFC 9112, 6.3)."""
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def limit_of(path: str, role: Role | None) -> int:
    """Return the largest request to a path in bytes; ``role`` is None without a session.

    >>> [limit_of("/gradio_api/queue/join", role) >> 10 for role in (Role.RESEARCHER, Role.ANNOTATOR, None)]
    [2048, 64, 64]
    """
    if role is None:
        return STRANGER_BYTES
    if role is Role.ANNOTATOR:
        for start, limit in ANNOTATOR_BYTES.items():
            if path.startswith(start):
                return limit
    return next(limit for start, limit in MEMBER_BYTES.items() if path.startswith(start))


class Quota:
    """The sum of each person's requests to this server in the current hour."""

    def __init__(self, most: int = HOURLY_BYTES, seconds: float = HOUR) -> None:
        self.most, self.seconds = most, seconds
        self._until = 0.0
        self._sent: Counter[int] = Counter()

    def spend(self, person: int, size: int) -> float:
        """Count a person's request; return the seconds to wait if it is too much, else 0.

        >>> quota = Quota(most=100)
        >>> [quota.spend(1, 60) > 0, quota.spend(1, 60) > 0, quota.spend(2, 60) > 0]
        [False, True, False]
        """
        now = time.monotonic()
        if now >= self._until:
            self._sent.clear()
            self._until = now + self.seconds
        self._sent[person] += size
        return self._until - now if self._sent[person] > self.most else 0.0


MOST_PAYERS = 10_000


class Bodies:
    """ASGI middleware that reads each body within the limits, and then calls the app with it."""

    def __init__(
        self, app: ASGIApp, context: Context, seconds: float = BODY_SECONDS, quota: Quota | None = None
    ) -> None:
        self.app, self.context, self.seconds, self.quota = app, context, seconds, quota or Quota()
        self._payers: dict[str, int] = {}
        """The person of each session for the quota; 0 is an owner."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", "")) or "/"
        headers = Headers(scope=scope)
        refusal: Response | None = None
        if path == UPLOAD:
            receive = bounded(receive, UPLOAD_BYTES, CHUNK_SECONDS)
        elif has_body(headers):
            try:
                body = await read_body(receive, headers, path, lambda: self._get_role(scope), self.seconds)
                refusal = self._charge(scope, path, len(body))
                receive = replay(body, receive)
            except TooLargeError:
                refusal = refuse(413, "too_large", tr("The request is too large."), close=True)
            except TooSlowError:
                refusal = refuse(408, "too_slow", tr("The request did not arrive in time."), close=True)
            except GoneError:
                return
        await (refusal or self.app)(scope, receive, send)

    def _get_role(self, scope: Scope) -> Role | None:
        person = get_signed_in(self.context, read_session(self.context, Request(scope)))
        return person.role if person else None

    def _charge(self, scope: Scope, path: str, size: int) -> Response | None:
        """Count what a person saves; refuse saves above the limit of human typing."""
        if not path.startswith("/api/"):
            return None
        token = read_session(self.context, Request(scope)) or ""
        payer = self._payers.get(token)
        if payer is None:
            # looked up once per session: on the event loop, even a short query delays everybody
            person = get_signed_in(self.context, token)
            payer = 0 if person is None or person.role is Role.OWNER else person.id
            if len(self._payers) >= MOST_PAYERS:
                self._payers.clear()
            if person:
                self._payers[token] = payer
        seconds = self.quota.spend(payer, size) if payer else 0.0
        if not seconds:
            return None
        text = tr(
            "You sent {size} MB within an hour, which is over the limit. This browser keeps what you typed: try "
            "again in {n} minutes.",
            size=self.quota.most >> 20,
            n=int(seconds // 60) + 1,
        )
        return refuse(429, "quota", text)


def refuse(status: int, kind: str, message: str, *, close: bool = False) -> Response:
    """Return the answer to a refused request; ``close`` also ends the connection."""
    # unread data cannot be distinguished from the next request, so end the connection
    headers = {"Connection": "close"} if close else None
    return JSONResponse({"error": kind, "message": message, "detail": message}, status, headers=headers)


async def read_body(
    receive: Receive, headers: Headers, path: str, get_role: Callable[[], Role | None], seconds: float
) -> bytes:
    """Return the whole body. The session is only looked up if the body is larger than a stranger's may be.

    Raises:
        TooLargeError: the body is too large; raised as soon as its length is announced or exceeded.
        TooSlowError: the rest did not come within ``seconds``.
        GoneError: the sender left before the body was complete.
    """
    announced = headers.get("content-length", "")
    size = int(announced) if announced.isascii() and announced.isdigit() and len(announced) < 20 else 0
    limit, more, signed_in = STRANGER_BYTES, True, False
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                if size > limit and not signed_in:
                    limit, signed_in = limit_of(path, get_role()), True
                if size > limit:
                    raise TooLargeError
                if not more:
                    return bytes(body)
                message = await receive()
                if message["type"] != "http.request":
                    raise GoneError
                body += message.get("body", b"")
                size = max(size, len(body))
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise TooSlowError from error


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive function for a body that was already read; later messages come from the connection."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def bounded(receive: Receive, limit: int, seconds: float) -> Receive:
    """Return a receive function for a long body in parts. It ends the connection if the body is too long or stalls."""
    read = 0
    ended = False

    async def receive_bounded() -> Message:
        nonlocal read, ended
        if ended:
            return await receive()
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        read += len(message.get("body", b""))
        if read > limit:
            return {"type": "http.disconnect"}
        ended = not message.get("more_body", False)
        return message

    return receive_bounded


# Limits of connections: their number, the time for a request's head, and their end when the server stops.

try:
    import fcntl
    import termios
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HEAD_SECONDS = 20.0
HEAD_BYTES = 64 * 1024
WRITE_SECONDS = 20.0
"""Longest wait for a client to read an answer before the connection ends."""
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
    """One connection. Requests over a limit are closed without an answer."""

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
