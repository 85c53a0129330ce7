"""The only access to a model: any server with the OpenAI protocol, through the openai package.

Only this folder imports openai. CoEval stores responses unchanged in the ledger and parses them itself, because the
package's own models fail on the responses of compatible servers.
"""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from coeval.clock import utc_now
from coeval.domain import Answer, Request
from coeval.errors import ModelError
from coeval.llm.client.abilities import Lessons, build_body, list_left_out, step_down, without
from coeval.llm.client.completions import (
    DECISIONS,
    PATHS,
    build_decision,
    is_missing,
    no_decisions,
    parse_choices,
    split_completion,
)
from coeval.llm.client.failures import (
    FEWER,
    CallError,
    Failure,
    hide,
    image_failure,
    parse_retry_after,
    read_error_body,
    redact,
    shorten,
    status_failure,
)
from coeval.settings import Settings, show_address

if TYPE_CHECKING:
    import openai

CHAT = "/chat/completions"

_ABOUT_THE_BODY = (400, 403, 404, 422, 500, 501)
"""HTTP statuses with which servers refuse an unknown parameter."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response: the JSON texts, and the parsed answers.

    ``answers`` holds one answer, or several if several were requested at once.
    """

    sent: str
    received: str
    answers: tuple[Answer, ...]
    left_out: tuple[str, ...] = ()
    """The parameters of the request that were not sent, because the endpoint refuses them."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """The received completions, one per answer."""
        return (self.received,) if len(self.answers) == 1 else split_completion(self.received)

    @property
    def answer(self) -> Answer:
        """The first answer."""
        return self.answers[0]


class Client:
    """Sends calls to one endpoint, once each, without retries.

    A client is bound to the event loop of its first use. ``lessons`` remembers the endpoint's abilities, by default
    for this client alone, so that a run's questions do not depend on earlier runs in the same process.

    Raises:
        ModelError: no model is set up, or the settings are invalid.
    """

    def __init__(self, settings: Settings, *, lessons: Lessons | None = None) -> None:
        self._key = settings.api_key.strip()
        self._timeout = settings.timeout
        self._lessons = Lessons() if lessons is None else lessons
        self._sdk = connect(settings)
        self._decision_paths: dict[str, str] = {}
        self.endpoint = show_address(resolve_address(settings))

    async def ask(self, request: Request) -> Answer:
        """Return the model's answer.

        Raises:
            CallError: there is no answer; the error says why, and whether to try again.
        """
        return (await self.send(request)).answer

    async def send(self, request: Request, answers: int = 1) -> Exchange:
        """Send a request like ``ask`` and return the full exchange; retry without abilities that the endpoint lacks.

        If the endpoint accepts ``n``, one prompt yields up to this many ``answers``.
        """
        if request.questions:
            return await self._decide(request)
        key = (self.endpoint, request.model)
        while True:
            abilities = self._lessons.abilities(key)
            body = build_body(request, abilities, answers=answers)
            try:
                exchange = await self._exchange(body, stream=abilities.stream)
            except CallError as error:
                less = step_down(body, abilities, error.complaint)
                if less is None and "n" in body and error.kind is Failure.BAD_REQUEST:
                    less = without(abilities, "n")  # one answer is always possible
                if less is None:
                    has_images = any(turn.images for turn in request.messages)
                    raise (image_failure(error) if has_images else error) from None
                self._lessons.learn(key, abilities, less)
                continue
            if "n" in body and len(exchange.answers) == 1:
                self._lessons.learn(key, abilities, without(abilities, "n"))  # the endpoint ignored it
            for answer in exchange.answers:
                self._lessons.note_answer(key, body, answer.text, answer.finish_reason)
            return replace(exchange, left_out=list_left_out(request, abilities))

    async def _decide(self, request: Request) -> Exchange:
        """Send a request for typed decisions to the path that the endpoint has for this model."""
        known_path = self._decision_paths.get(request.model)
        failures: list[CallError] = []
        for path in (known_path,) if known_path else PATHS:
            try:
                exchange = await self._exchange(build_decision(request, path), path=path)
            except CallError as error:
                if known_path or not is_missing(error):
                    raise
                failures.append(error)
                continue
            self._decision_paths[request.model] = path
            return exchange
        raise no_decisions(failures, self.endpoint, request.model)

    async def lists_decisions(self, model: str) -> bool:
        """Return whether the endpoint's list of models names typed decisions as the output of this model.

        Only some servers say so (llama.cpp does). Any failure counts as no.
        """
        import httpx2
        import openai

        try:
            async with asyncio.timeout(min(CONNECT_SECONDS, self._timeout)):
                response = await self._sdk.get("/models", cast_to=httpx2.Response)
            listed = json.loads(response.content)["data"]
            outputs = [
                entry["architecture"]["output_modalities"]
                for entry in listed
                if len(listed) == 1 or entry["id"] == model
            ]
        except (TimeoutError, openai.OpenAIError, OSError, CallError, ValueError, LookupError, TypeError):
            return False
        return any("decisions" in kinds for kinds in outputs if isinstance(kinds, list))

    def takes_several(self, model: str) -> bool:
        """Return whether this model can give several answers to one request, as far as CoEval knows."""
        return "n" not in self._lessons.abilities((self.endpoint, model)).refused

    async def _exchange(self, body: dict[str, Any], *, stream: bool = False, path: str = CHAT) -> Exchange:
        sent = json.dumps(body, ensure_ascii=False)
        started = time.perf_counter()
        received = ""
        try:
            content = await self._post(path, body, stream=stream)
            received = hide(content.decode("utf-8", "replace"), self._key)
            latency_ms = round((time.perf_counter() - started) * 1000)
            answers = parse_choices(received, place=self.endpoint, latency_ms=latency_ms)
        except CallError as error:
            error.sent = sent
            error.received = received or hide(error.received, self._key)
            raise
        return Exchange(sent, received, tuple(answers))

    async def _post(self, path: str, body: dict[str, Any], *, stream: bool) -> bytes:
        """Return the unparsed body of the response to one request, or the unparsed events of a stream.

        For chat this uses the package's ``post``, because its ``create`` transforms the request by its types, which
        takes a third of a call's processor time (``python -m tests.benchmarks prefill``).
        """
        import httpx2
        import openai

        extra = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        try:
            async with asyncio.timeout(self._timeout):
                if path == DECISIONS:
                    raw = await self._sdk.decisions.with_raw_response.create(**body)
                    return bytes(raw.content)
                response = await self._sdk.post(path, cast_to=httpx2.Response, body=body | extra)
        except (TimeoutError, openai.APITimeoutError):
            limited = "max_tokens" in body or "max_completion_tokens" in body
            remedy = "" if limited else "set a “Token limit per answer”, "
            text = (
                f"{self.endpoint} gave no answer within {self._timeout:g} seconds: {remedy}{FEWER}, "
                "or raise COEVAL_TIMEOUT."
            )
            raise CallError(text, Failure.TIMED_OUT) from None
        except openai.APIStatusError as error:
            raise self._refused(error) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, CallError):
                raise error.__cause__ from None
            raise self._unreachable(error.__cause__ or error) from None
        except OSError as error:
            raise self._unreachable(error) from None
        return bytes(response.content)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    def _refused(self, error: openai.APIStatusError) -> CallError:
        said = error.response.text[:4000]
        message, code = read_error_body(error.response.text)
        failure = status_failure(
            error.status_code,
            redact(hide(message, self._key)),
            code,
            place=self.endpoint,
            retry_after=parse_retry_after(error.response.headers, utc_now(), said),
        )
        if error.status_code in _ABOUT_THE_BODY:
            failure.complaint = said
        return failure

    def _unreachable(self, error: BaseException) -> CallError:
        why = hide(str(error), self._key)
        causes = {kind.__name__ for kind in type(error).__mro__}
        if not causes & {"ConnectError", "UnsupportedProtocol", "SSLError"}:
            text = f"The connection to {self.endpoint} broke off before the answer came: run it again later."
            return CallError(text, Failure.BROKEN_OFF)
        if "certificate" in why.lower():
            remedy = "install the system's CA certificates, or use the address on its certificate"
        else:
            remedy = "start the server there, or check OPENAI_BASE_URL"
        return CallError(
            f"{self.endpoint} cannot be reached ({shorten(why)}): {remedy}.", Failure.UNREACHABLE
        )


# The connection to one endpoint: addresses, keys, proxies, and a limit on response sizes. The package's client reads
# the organisation and project from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and proxies from HTTP_PROXY and similar
# variables. It never uses a proxy for a model on this machine. A few kilobytes can unpack to gigabytes. Therefore
# only the requested encodings, gzip and deflate, are unpacked, and only up to the size limit.

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


def resolve_address(settings: Settings) -> str:
    """Return the endpoint's full address: OpenAI's if only a key is set, or "" if neither is set."""
    return (settings.base_url.strip() or (OPENAI_URL if settings.api_key.strip() else "")).rstrip("/")


def connect(settings: Settings) -> openai.AsyncOpenAI:
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
