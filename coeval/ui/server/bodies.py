"""Reading what is sent: no more than is allowed, no longer than is allowed, and whole before anything sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import Message, Receive

STRANGER_BYTES = 64 * 1024
"""What somebody without a session may send: a sign-in form is a few hundred bytes."""

MEMBER_BYTES = {"/admin/gradio_api/": 16 << 20, "/gradio_api/": 2 << 20, "/api/": 4 << 20, "/": 1 << 20}
"""What somebody with a session may send, by the beginning of the path; the first that fits counts."""

UPLOAD = "/admin/gradio_api/upload"
UPLOAD_BYTES = 210 << 20
"""A file of 200 MB and what a form adds to it."""

BODY_SECONDS = 60.0
"""How long a whole request may take to arrive, uploads aside."""

CHUNK_SECONDS = 20.0
"""How long an upload may stand still."""


class TooLargeError(Exception):
    """More was sent than is allowed."""


class TooSlowError(Exception):
    """What was announced did not arrive in time."""


class GoneError(Exception):
    """The sender left before all that was announced had arrived."""


def has_body(headers: Headers) -> bool:
    """Whether a request announces a body (RFC 9112, 6.3)."""
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def limit_of(path: str) -> int:
    """How many bytes somebody with a session may send to a path.

    >>> limit_of("/admin/gradio_api/queue/join") > limit_of("/gradio_api/queue/join") > limit_of("/s/x/consent")
    True
    """
    return next(limit for start, limit in MEMBER_BYTES.items() if path.startswith(start))


async def read_body(
    receive: Receive, headers: Headers, path: str, is_signed_in: Callable[[], bool], seconds: float
) -> bytes:
    """The whole body. A session is only asked for where the body is larger than a stranger's may be.

    Raises:
        TooLargeError: as soon as it is known, from the announced length or while it arrives.
        TooSlowError: the rest did not come within ``seconds``.
        GoneError: the sender left before it was whole.
    """
    announced = headers.get("content-length", "")
    size = int(announced) if announced.isascii() and announced.isdigit() and len(announced) < 20 else 0
    limit, more = STRANGER_BYTES, True
    chunks: list[bytes] = []
    try:
        async with asyncio.timeout(seconds):
            while True:
                if size > limit == STRANGER_BYTES and is_signed_in():
                    limit = limit_of(path)
                if size > limit:
                    raise TooLargeError
                if not more:
                    return b"".join(chunks)
                message = await receive()
                if message["type"] != "http.request":
                    raise GoneError
                chunks.append(message.get("body", b""))
                size = max(size, sum(map(len, chunks)))
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise TooSlowError from error


def replay(body: bytes, receive: Receive) -> Receive:
    """A way to receive a body that was read already; what comes after it is the connection's own."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def bounded(receive: Receive, limit: int, seconds: float) -> Receive:
    """A way to receive a long body in parts: it ends as a broken connection where it grows too long or halts."""
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
