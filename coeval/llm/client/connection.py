"""Set up the openai package's client for one endpoint: addresses, keys, proxies, and a limit on response sizes.

The client reads the organisation and project from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and proxies from HTTP_PROXY and
similar variables. It never uses a proxy for a model on this machine.

A few kilobytes can unpack to gigabytes. Therefore only the requested encodings, gzip and deflate, are unpacked, and
only up to the size limit.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from coeval.errors import ModelError
from coeval.llm.client.failures import CallError, Failure

if TYPE_CHECKING:
    import openai


MAX_BODY = 2_000_000
"""Largest response that is accepted, in bytes after unpacking."""

KEPT_OF_TOO_LONG = 10_000
"""Number of bytes of an overlong response that are kept."""

ENCODINGS = "gzip, deflate"
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""The zlib window of each encoding (https://docs.python.org/3/library/zlib.html#zlib.decompress)."""


async def bound_body(response: Any) -> None:
    """Limit the size of a response. This is a response hook for the package's HTTP client."""
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
    """Yield the unpacked blocks.

    Raises:
        CallError: the body is too long, damaged, or in an encoding that was not requested.
    """
    if encoding not in ("", "identity", *_WINDOWS):
        raise _unreadable(f"{place} sent an answer packed as {encoding[:20]!r}, which was not asked for")
    unpacker = zlib.decompressobj(_WINDOWS[encoding]) if encoding in _WINDOWS else None
    size, beginning = 0, b""
    async for block in blocks:
        try:
            # unpack one byte more than allowed, to see whether the body is too long
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


OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
NO_KEY = "none"
"""The key to send if the user gave none. Servers without keys ignore it."""

NO_MODEL = (
    "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for any OpenAI-compatible server, and start "
    "CoEval again."
)

NO_ADDRESS = "OPENAI_BASE_URL is no web address: it must look like http://localhost:8000/v1."

_DIRECT = ("all://localhost", "all://127.0.0.1", "all://[::1]")
"""Addresses that are reached without a proxy."""


class ClientSettings(Protocol):
    """The part of the settings that the client reads."""

    @property
    def base_url(self) -> str: ...
    @property
    def api_key(self) -> str: ...
    @property
    def api_version(self) -> str: ...
    @property
    def timeout(self) -> float: ...


def resolve_address(settings: ClientSettings) -> str:
    """Return the endpoint's full address: OpenAI's if only a key is set, or "" if neither is set."""
    return (settings.base_url.strip() or (OPENAI_URL if settings.api_key.strip() else "")).rstrip("/")


def connect(settings: ClientSettings) -> openai.AsyncOpenAI:
    """Return the openai package's client without retries, or its Azure client if an API version is set.

    openai is imported here, with the first client, because the import takes most of a second.

    Raises:
        ModelError: no model is set up, or the address, key or time-out is invalid.
    """
    import openai

    address, key = resolve_address(settings), settings.api_key.strip()
    _check(address, key, settings.timeout)
    http = openai.DefaultAsyncHttpxClient(
        mounts=dict.fromkeys(_DIRECT),
        follow_redirects=False,
        headers={"Accept-Encoding": ENCODINGS},
        event_hooks={"response": [bound_body]},
    )
    timeout = openai.Timeout(settings.timeout, connect=min(CONNECT_SECONDS, settings.timeout))
    if settings.api_version:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=address,
            api_version=settings.api_version,
            api_key=key or NO_KEY,
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )
    return openai.AsyncOpenAI(
        base_url=address, api_key=key or NO_KEY, max_retries=0, timeout=timeout, http_client=http
    )


def _check(address: str, key: str, timeout: float) -> None:
    if not address:
        raise ModelError(NO_MODEL)
    if not _is_address(address):
        raise ModelError(NO_ADDRESS)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError("OPENAI_API_KEY contains a space or another invalid character: copy it again.")
    if not timeout > 0:
        raise ModelError(f"The timeout is {timeout} seconds: COEVAL_TIMEOUT must be more than 0.")


def _is_address(address: str) -> bool:
    if not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, an unclosed bracket
        return False
