"""Why a call gave no answer, and whether to try again."""

from __future__ import annotations

import re
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
    TOO_LONG = "too long"
    RATE_LIMITED = "rate limited"
    SERVER_ERROR = "server error"
    UNREACHABLE = "unreachable"
    BROKEN_OFF = "broken off"
    TIMED_OUT = "timed out"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    NO_IMAGES = "takes no images"
    BAD_IMAGE = "image not taken"
    NOT_IN_LEDGER = "not in the ledger"


_OUTAGES = {
    Failure.RATE_LIMITED,
    Failure.SERVER_ERROR,
    Failure.UNREACHABLE,
    Failure.BROKEN_OFF,
    Failure.TIMED_OUT,
}
_RETRYABLE = _OUTAGES | {Failure.UNREADABLE, Failure.EMPTY}
_FATAL = {Failure.KEY_REFUSED, Failure.NO_CREDIT, Failure.NOT_FOUND, Failure.FORBIDDEN, Failure.NO_IMAGES}

ABOUT_THE_TEXT = frozenset({Failure.TOO_LONG, Failure.FILTERED, Failure.TRUNCATED, Failure.BAD_IMAGE})
"""Failures of one text that say nothing about the endpoint or about other texts."""

UNREAD = ABOUT_THE_TEXT | {Failure.UNREADABLE, Failure.EMPTY}
"""Failures that become an unscored draft with the reason, rather than a call to repeat in the next run."""


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
    line = " ".join(text[: MAX_QUOTED * 4].split())
    return line if len(line) <= MAX_QUOTED else line[:MAX_QUOTED] + "..."
