"""Why a call gave no answer, in one sentence, and whether to try again."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from coeval.errors import ModelError

MAX_QUOTED = 300
"""Characters of a server's own words that a message repeats."""


class Failure(StrEnum):
    """The kinds of failure; what each one means for the next attempt is decided here, once."""

    KEY_REFUSED = "key refused"
    NO_CREDIT = "no credit"
    NOT_FOUND = "not found"
    FORBIDDEN = "forbidden"
    BAD_REQUEST = "bad request"
    RATE_LIMITED = "rate limited"
    SERVER_ERROR = "server error"
    UNREACHABLE = "unreachable"
    BROKEN_OFF = "broken off"
    TIMED_OUT = "timed out"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    NOT_IN_LEDGER = "not in the ledger"


_OUTAGES = {
    Failure.RATE_LIMITED,
    Failure.SERVER_ERROR,
    Failure.UNREACHABLE,
    Failure.BROKEN_OFF,
    Failure.TIMED_OUT,
}
_RETRYABLE = _OUTAGES | {Failure.UNREADABLE, Failure.EMPTY}
_FATAL = {Failure.KEY_REFUSED, Failure.NO_CREDIT, Failure.NOT_FOUND}


class CallError(ModelError):
    """One call to a model failed; ``retry_after`` is in seconds, None where the endpoint did not say.

    ``sent`` and ``received`` are the bodies, as far as there were any, for the ledger; ``complaint`` is all
    that the endpoint said in refusing the request's parameters.
    """

    complaint = sent = received = ""

    def __init__(
        self, message: str, kind: Failure, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after = kind, status, retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same call may well succeed a little later."""
        return self.kind in _RETRYABLE

    @property
    def fatal(self) -> bool:
        """Whether every other call would fail in the same way until the settings are changed."""
        return self.kind in _FATAL

    @property
    def outage(self) -> bool:
        """Whether the endpoint, rather than this question, is the trouble."""
        return self.kind in _OUTAGES


def hide(text: str, secret: str) -> str:
    """The text without the secret; what is shorter than any real key is left alone."""
    return text.replace(secret, "[key]") if len(secret) >= 8 else text


def redact(text: str) -> str:
    """A server's message without anything that looks like an API key.

    >>> redact("Incorrect API key provided: sk-abcdefgh1234")
    'Incorrect API key provided: [key]'
    """
    return re.sub(r"\b(sk|hf|gsk|key)[-_][\w*-]{8,}", "[key]", text)


def shorten(text: str) -> str:
    """At most ``MAX_QUOTED`` characters on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else line[:MAX_QUOTED] + "..."


def parse_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that Retry-After asks for: a number, a date (RFC 9110, 10.2.3), or milliseconds as OpenAI sends.

    >>> parse_retry_after({"retry-after": "2"}, datetime.now(UTC))
    2.0
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _seconds(asked)
    if seconds is not None or not asked:
        return seconds
    try:
        when = parsedate_to_datetime(asked)
    except ValueError:
        return None
    return max(0.0, (when.astimezone(UTC) - now).total_seconds())


def _seconds(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def status_failure(
    status: int, message: str, code: str, *, place: str, retry_after: float | None
) -> CallError:
    """The failure that an HTTP status stands for; ``message`` and ``code`` are the server's, redacted."""
    kind = _kind_of(status, code, message)
    said = f" It said: {shorten(message)}" if message.strip() else ""
    text = f"{place} {_SENTENCES[kind].format(status=status)}{said}"
    return CallError(text, kind, status=status, retry_after=retry_after)


def _kind_of(status: int, code: str, message: str) -> Failure:
    if status == 429 or code in ("insufficient_quota", "rate_limit_exceeded"):
        spent = code == "insufficient_quota" or "exceeded your current quota" in message.lower()
        return Failure.NO_CREDIT if spent else Failure.RATE_LIMITED
    if status in (408, 409, 425) or status >= 500:
        return Failure.SERVER_ERROR
    if 300 <= status < 400:
        return Failure.NOT_FOUND
    named = {401: Failure.KEY_REFUSED, 402: Failure.NO_CREDIT, 403: Failure.FORBIDDEN, 404: Failure.NOT_FOUND}
    return named.get(status, Failure.BAD_REQUEST)


_SENTENCES = {
    Failure.KEY_REFUSED: "refused the API key ({status}): check OPENAI_API_KEY and that it belongs to this endpoint.",
    Failure.NO_CREDIT: "says that the account has no credit left ({status}): add credit, or use another key.",
    Failure.NOT_FOUND: "does not know this model or address ({status}): check the model's name and "
    "OPENAI_BASE_URL (for most servers it ends in /v1).",
    Failure.FORBIDDEN: "does not allow this request ({status}): check what the key may do, or change the text.",
    Failure.BAD_REQUEST: "refused the request ({status}): check the length of the text and the model's settings.",
    Failure.RATE_LIMITED: "asks for fewer requests ({status}): lower COEVAL_CONCURRENCY, or run it again later.",
    Failure.SERVER_ERROR: "had an error of its own ({status}): run it again later.",
}
