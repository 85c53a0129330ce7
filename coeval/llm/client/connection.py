"""The openai package's own client for one endpoint: addresses, keys, proxies and headers are its business.

It takes the organisation and the project from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and proxies from HTTP_PROXY
and its like; a model on this machine is asked directly all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from coeval.errors import ModelError
from coeval.llm.client.bounded import ENCODINGS, bound_body

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
NO_KEY = "none"
"""Sent where the user gave no key: servers that want none ignore it."""

NO_MODEL = (
    "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for any OpenAI-compatible server, and start "
    "CoEval again."
)

NO_ADDRESS = "OPENAI_BASE_URL is no web address: it must look like http://localhost:8000/v1."

_DIRECT = ("all://localhost", "all://127.0.0.1", "all://[::1]")
"""Addresses for which no proxy is used."""


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
    """The endpoint's address in full; OpenAI's own where there is a key and no address; empty where there is none."""
    return (settings.base_url.strip() or (OPENAI_URL if settings.api_key.strip() else "")).rstrip("/")


def connect(settings: ClientSettings) -> openai.AsyncOpenAI:
    """The openai package's client, without retries of its own; Azure's where an API version is set.

    openai is imported here, when the first client is made: it takes most of a second.

    Raises:
        ModelError: no model is set up, or the address, key or time-out cannot work.
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
        raise ModelError("OPENAI_API_KEY holds a space or a character that no key has: copy it again.")
    if not timeout > 0:
        raise ModelError(f"The timeout is {timeout} seconds: COEVAL_TIMEOUT must be more than 0.")


def _is_address(address: str) -> bool:
    if not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, a bracket that is left open
        return False
