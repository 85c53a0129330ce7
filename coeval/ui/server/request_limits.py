"""Read the bodies of requests completely, within limits of size and time, before any other code sees them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coeval.domain import Role
from coeval.language import tr
from coeval.ui.server.identity import read_session
from coeval.usecases.access import Context
from coeval.usecases.sessions import get_signed_in

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

    def __init__(self, most: int = HOURLY_BYTES) -> None:
        self.most = most
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
            self._until = now + HOUR
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
    replayed = False

    async def receive_again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
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
