"""The one door to a model: any server that speaks the OpenAI protocol. The only importer of openai.

httpx2, which openai 3 sends with, trusts the system's certificates and takes HTTP_PROXY and its like from
the environment; a model on this machine is asked directly all the same.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from coeval.clock import utc_now
from coeval.domain import Answer, Request
from coeval.errors import ModelError
from coeval.llm.client.abilities import Abilities, breaks_form, build_body, next_rung, step_down
from coeval.llm.client.completions import parse_completion
from coeval.llm.client.failures import (
    CallError,
    Failure,
    hide,
    parse_retry_after,
    redact,
    shorten,
    status_failure,
)

if TYPE_CHECKING:
    import httpx2

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
MAX_CONNECTIONS = 512
NO_KEY = "none"
"""Sent where the user gave no key: servers that want none ignore it."""

NO_MODEL = (
    "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for any OpenAI-compatible server, and start "
    "CoEval again."
)

NO_ADDRESS = "OPENAI_BASE_URL is no web address: it must look like http://localhost:8000/v1."

Known = MutableMapping[tuple[str, str], Abilities]
"""What is known of each (endpoint, model)."""

_KNOWN: Known = {}
_DIRECT = ("all://localhost", "all://127.0.0.1", "all://[::1]")
"""Addresses for which no proxy is used."""

_ABOUT_THE_BODY = (400, 403, 422, 500, 501)
"""Statuses with which servers refuse a parameter that they do not have."""


class ClientSettings(Protocol):
    """The part of the settings that the client reads."""

    @property
    def base_url(self) -> str: ...
    @property
    def api_key(self) -> str: ...
    @property
    def timeout(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question as it was sent and the answer as it came: JSON texts, and the answer read from them."""

    sent: str
    received: str
    answer: Answer


class Client:
    """Asks one endpoint, once a call: no retries of its own.

    Bound to the event loop it is first used in. openai is imported when the first client is made: it takes
    most of a second. What the endpoint turned out to support is remembered for the life of the process, or
    in ``known``.
    """

    def __init__(self, settings: ClientSettings, *, known: Known | None = None) -> None:
        self._key = settings.api_key.strip()
        self._url = (settings.base_url.strip() or (OPENAI_URL if self._key else "")).rstrip("/")
        self._timeout = settings.timeout
        self._known = _KNOWN if known is None else known
        _check(self._url, self._key, self._timeout)
        self._http, self._address, self._headers = self._connect()

    @property
    def endpoint(self) -> str:
        """The address without user names, passwords or parameters: what may be shown and stored."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    async def ask(self, request: Request) -> Answer:
        """The model's answer.

        Raises:
            CallError: there is none; it says why, and whether to try again.
        """
        return (await self.send(request)).answer

    async def send(self, request: Request) -> Exchange:
        """Like ``ask``, with both bodies for the ledger; steps down where the endpoint cannot do something."""
        key = (self.endpoint, request.model)
        while True:
            abilities = self._known.get(key, Abilities())
            body = build_body(request, abilities)
            try:
                exchange = await self._exchange(body)
            except CallError as error:
                less = step_down(body, abilities, error.complaint)
                if less is None:
                    raise
                self._learn(key, abilities, less)
                continue
            if breaks_form(body, exchange.answer.text, exchange.answer.finish_reason):
                self._learn(key, abilities, next_rung(abilities))
            return exchange

    def _learn(self, key: tuple[str, str], before: Abilities, after: Abilities) -> None:
        """Take a lesson once, though many requests that were under way together bring it."""
        if self._known.get(key, Abilities()) == before:
            self._known[key] = after

    async def _exchange(self, body: dict[str, Any]) -> Exchange:
        sent = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        started = time.perf_counter()
        received = ""
        try:
            received = hide((await self._post(sent)).decode("utf-8", "replace"), self._key)
            latency_ms = round((time.perf_counter() - started) * 1000)
            answer = parse_completion(received, place=self.endpoint, latency_ms=latency_ms)
        except CallError as error:
            error.sent, error.received = sent.decode(), received
            raise
        return Exchange(sent.decode(), received, answer)

    async def _post(self, content: bytes) -> bytes:
        """The body of the response to one completion request, whatever is in it."""
        import anyio
        import httpx2

        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.post(self._address, content=content, headers=self._headers)
        except (TimeoutError, httpx2.TimeoutException):
            text = (
                f"{self.endpoint} gave no answer within {self._timeout:g} seconds: raise COEVAL_TIMEOUT, or "
                "lower COEVAL_CONCURRENCY."
            )
            raise CallError(text, Failure.TIMED_OUT) from None
        except (httpx2.RequestError, anyio.EndOfStream, OSError) as error:
            raise self._unreachable(error) from None
        if response.status_code != 200:
            raise self._refused(response)
        return bytes(response.content)

    def _connect(self) -> tuple[httpx2.AsyncClient, httpx2.URL, dict[str, str]]:
        """The SDK's HTTP client, the address of completions, and the headers that the SDK would send.

        Requests go to that client directly: the SDK's own layer over it, which copies and checks options and
        builds a model of every answer, costs two thirds as much CPU again and gives nothing that is used.
        """
        import httpx2
        import openai

        limits = httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS)
        timeout = openai.Timeout(self._timeout, connect=min(CONNECT_SECONDS, self._timeout))
        http = openai.DefaultAsyncHttpxClient(
            limits=limits, timeout=timeout, mounts=dict.fromkeys(_DIRECT), follow_redirects=False
        )
        try:
            base = httpx2.URL(self._url)
            sdk = openai.AsyncOpenAI(base_url=base, api_key=self._key or NO_KEY, http_client=http)
        except httpx2.InvalidURL:
            raise ModelError(NO_ADDRESS) from None
        headers = {**sdk.default_headers, **sdk.auth_headers}
        kept = {name: value for name, value in headers.items() if isinstance(value, str)}
        address = base.copy_with(path=base.path.rstrip("/") + "/chat/completions")
        return http, address, {name: kept[name] for name in kept if not name.startswith("X-Stainless-")}

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _refused(self, response: httpx2.Response) -> CallError:
        message, complaint, code = _words(response.text)
        failure = status_failure(
            response.status_code,
            redact(hide(message, self._key)),
            code,
            place=self.endpoint,
            retry_after=parse_retry_after(response.headers, utc_now()),
        )
        if response.status_code in _ABOUT_THE_BODY:
            failure.complaint = complaint
        return failure

    def _unreachable(self, error: Exception) -> CallError:
        import httpx2

        why = hide(str(error), self._key)
        if not isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol | ssl.SSLError):
            text = f"The connection to {self.endpoint} broke off before the answer came: run it again later."
            return CallError(text, Failure.BROKEN_OFF)
        if "certificate" in why.lower():
            remedy = "install the system's CA certificates, or use the address on its certificate"
        else:
            remedy = "start the server there, or check OPENAI_BASE_URL"
        return CallError(
            f"{self.endpoint} cannot be reached ({shorten(why)}): {remedy}.", Failure.UNREACHABLE
        )


def _words(text: str) -> tuple[str, str, str]:
    """The message, everything said, and the error code, of an error body in any dialect."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return str(error or text)[:2000], text[:4000], ""
    message = error.get("message") or error.get("detail") or ""
    code = error.get("code") or error.get("type") or ""
    return (message if isinstance(message, str) else json.dumps(message))[:2000], text[:4000], str(code)


def _check(url: str, key: str, timeout: float) -> None:
    if not url:
        raise ModelError(NO_MODEL)
    if not _is_address(url):
        raise ModelError(NO_ADDRESS)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError("OPENAI_API_KEY holds a space or a character that no key has: copy it again.")
    if not timeout > 0:
        raise ModelError(f"The timeout is {timeout} seconds: COEVAL_TIMEOUT must be more than 0.")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, a bracket that is left open
        return False
