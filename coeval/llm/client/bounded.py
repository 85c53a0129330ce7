"""Bodies of responses that never fill the memory: refused while they arrive, compressed ones while they are unpacked.

A few kilobytes can unpack to gigabytes. Only what was asked for, gzip and deflate, is unpacked, and never further than
an answer may be long.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Any

from coeval.llm.client.failures import CallError, Failure

MAX_BODY = 2_000_000
"""Bytes of the longest response that is read, unpacked."""

KEPT_OF_TOO_LONG = 10_000
"""Bytes kept of a response that is too long to be an answer."""

ENCODINGS = "gzip, deflate"
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""What each encoding is to zlib (https://docs.python.org/3/library/zlib.html#zlib.decompress)."""


async def bound_body(response: Any) -> None:
    """Have a response of the package's HTTP client read within bounds; its hook for responses."""
    from httpx2 import AsyncByteStream

    class Bounded(AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for block in _unpack(stream, encoding, place):
                yield block

        async def aclose(self) -> None:
            await stream.aclose()

    stream, place = response.stream, str(response.url.host)
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    response.stream = Bounded()


async def _unpack(blocks: AsyncIterator[bytes], encoding: str, place: str) -> AsyncIterator[bytes]:
    """The blocks, unpacked.

    Raises:
        CallError: they are too long, or packed in a way that was not asked for, or damaged.
    """
    if encoding not in ("", "identity", *_WINDOWS):
        raise _unreadable(f"{place} sent an answer packed as {encoding[:20]!r}, which was not asked for")
    unpacker = zlib.decompressobj(_WINDOWS[encoding]) if encoding in _WINDOWS else None
    size, beginning = 0, b""
    async for block in blocks:
        try:
            # one byte more than fits tells that there is more
            plain = unpacker.decompress(block, MAX_BODY + 1 - size) if unpacker else block
        except zlib.error as error:
            raise _unreadable(f"{place} sent an answer that cannot be unpacked ({error})") from error
        size += len(plain)
        beginning += plain[: max(0, KEPT_OF_TOO_LONG - len(beginning))]
        if size > MAX_BODY:
            raise _unreadable(
                f"{place} sent more than {MAX_BODY:,} bytes, which is no answer to a question of this kind",
                beginning,
            )
        yield plain


def _unreadable(what: str, received: bytes = b"") -> CallError:
    error = CallError(
        f"{what}: check that OPENAI_BASE_URL is the address of an OpenAI-compatible server.",
        Failure.UNREADABLE,
    )
    error.received = received.decode("utf-8", "replace")
    return error
