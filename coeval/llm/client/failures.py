"""Failed calls: the reason for each failure, and whether to try again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from coeval.errors import ModelError

MAX_QUOTED = 300
"""Number of characters of a server's own message that an error repeats."""


class Failure(StrEnum):
    """The kinds of failure. Only this class decides what each kind means for the next attempt."""

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
"""Failures that concern one text, not the endpoint or other texts."""

UNREAD = ABOUT_THE_TEXT | {Failure.UNREADABLE, Failure.EMPTY}
"""Failures that end in an unscored draft with a reason, and are not retried in the next run."""


class CallError(ModelError):
    """A failed call to a model. ``retry_after`` is in seconds; it is None if the endpoint gave no time.

    ``sent`` and ``received`` are the bodies, if any, for the ledger. ``complaint`` is the endpoint's full text if it
    refused the request's parameters.
    """

    complaint = sent = received = ""

    def __init__(
        self, message: str, kind: Failure, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after = kind, status, retry_after

    @property
    def retryable(self) -> bool:
        """True if the same call may succeed a little later."""
        return self.kind in _RETRYABLE

    @property
    def fatal(self) -> bool:
        """True if every other call would fail too until the settings change."""
        return self.kind in _FATAL

    @property
    def outage(self) -> bool:
        """True if the endpoint, not this question, causes the failure."""
        return self.kind in _OUTAGES


def hide(text: str, secret: str) -> str:
    """Return the text without the secret. Texts shorter than any real key are not treated as secrets."""
    return text.replace(secret, "[key]") if len(secret) >= 8 else text


def redact(text: str) -> str:
    """Return a server's message without anything that looks like an API key.

    >>> redact("Incorrect API key provided: sk-abcdefgh1234")
    'Incorrect API key provided: [key]'
    """
    return re.sub(r"\b(sk|hf|gsk|key)[-_][\w*-]{8,}", "[key]", text)


def shorten(text: str) -> str:
    """Return at most ``MAX_QUOTED`` characters on one line."""
    line = " ".join(text[: MAX_QUOTED * 4].split())
    return line if len(line) <= MAX_QUOTED else line[:MAX_QUOTED] + "..."


_WAIT = re.compile(
    r"(?:retry|try again) (?:in|after)\s*(?:(?P<h>\d{1,3})\s*h)?\s*(?:(?P<m>\d{1,3})\s*m(?!s))?\s*"
    r"(?:(?P<s>\d{1,5}(?:\.\d{1,9})?)\s*(?P<unit>ms|s))?|\"?retryDelay\"?\s*:\s*\"(?P<delay>\d{1,5}(?:\.\d{1,9})?)s",
    re.I,
)
_WINDOW = re.compile(r"per[ _-]?minute|per[ _-]?second|per[ _-]?hour|per[ _-]?day|rate limit", re.I)
_KEY = re.compile(
    r"(?:api[ _-]?key|credentials?|token)[^.]{0,40}(?:not valid|invalid|incorrect|expired|missing|not found|revoked)|"
    r"(?:invalid|incorrect|missing|expired|no) api[ _-]?key|api_key_invalid|unauthenticated",
    re.I,
)
_FILTER = re.compile(
    r"content[ _-]?(?:filter|management policy|policy)|responsible ?ai|data_inspection_failed|inappropriate content|"
    r"flagged|moderation|safety (?:system|settings|filter)",
    re.I,
)
_LENGTH = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|max_model_len|prompt is too long|input is too long|"
    r"too many (?:input )?tokens|token count[^.]{0,60}exceed|exceeds? the (?:available|maximum|model)|"
    r"reduce the length|string_above_max_length|request too large|payload too large",
    re.I,
)


_NO_IMAGES = re.compile(
    r"image[^.]{0,60}(?:not (?:yet )?support|unsupported|only supported|not available|not enabled|disabled|mmproj)|"
    r"(?:not|n't|no endpoints?)[^.]{0,60}support[^.]{0,40}(?:image|vision|multi-?modal)|at most 0 image|"
    r"not a (?:multi-?modal|vision)|unsupported_content_type|image_url[^.]{0,60}expected|missing data[^.]{0,40}image|"
    r"(?:content|messages)[^.]{0,80}(?:must be|should be|expected|valid)[^.]{0,20}\bstring",
    re.I,
)
"""The phrases with which servers say that a model accepts only text."""

_BAD_IMAGE = re.compile(r"image|media|picture|download|fetch", re.I)


def read_error_body(text: str) -> tuple[str, str]:
    """Return the message and code of an error body in any dialect, or else the text itself."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return str(error or text)[:2000], ""
    message = error.get("message") or error.get("detail") or ""
    code = error.get("code") or error.get("type") or ""
    words = message if isinstance(message, str) else json.dumps(message)
    inner = error.get("innererror")
    if isinstance(inner, dict) and inner.get("code"):  # Azure names its content filter here
        words = f"{words} ({inner['code']})"
    return words[:2000], str(code)


def parse_retry_after(headers: Mapping[str, str], now: datetime, words: str = "") -> float | None:
    """Return the seconds to wait, from Retry-After (RFC 9110, 10.2.3), OpenAI's milliseconds, or the message.

    >>> parse_retry_after({"retry-after": "2"}, datetime.now(UTC))
    2.0
    >>> parse_retry_after({}, datetime.now(UTC), "You exceeded your current quota. Please retry in 7.5s.")
    7.5
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _seconds(asked)
    if seconds is not None:
        return seconds
    if asked:
        try:
            return max(0.0, (parsedate_to_datetime(asked).astimezone(UTC) - now).total_seconds())
        except ValueError:
            pass
    return _wait_in_words(words)


def _wait_in_words(words: str) -> float | None:
    for match in _WAIT.finditer(words[:4000]):
        if match["delay"]:
            return float(match["delay"])
        if match["h"] or match["m"] or match["s"]:
            part = float(match["s"] or 0) / (1000 if match["unit"] == "ms" else 1)
            return int(match["h"] or 0) * 3600 + int(match["m"] or 0) * 60 + part
    return None


def _seconds(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def status_failure(
    status: int, message: str, code: str, *, place: str, retry_after: float | None
) -> CallError:
    """Return the failure for an HTTP status. ``message`` and ``code`` come from the server and are redacted."""
    kind = _kind_of(status, code, message, retry_after)
    said = f" It said: {shorten(message)}" if message.strip() else ""
    text = f"{place} {_SENTENCES[kind].format(status=status)}{said}"
    return CallError(text, kind, status=status, retry_after=retry_after)


def _kind_of(status: int, code: str, message: str, retry_after: float | None) -> Failure:
    if status == 429 or code in ("insufficient_quota", "rate_limit_exceeded"):
        return Failure.NO_CREDIT if _is_spent(code, message, retry_after) else Failure.RATE_LIMITED
    said = f"{code} {message[:2000]}"
    if status == 413 or status in (400, 422, 500) and _LENGTH.search(said):
        return Failure.TOO_LONG
    if status in (408, 409, 425) or status >= 500:
        return Failure.SERVER_ERROR
    if 300 <= status < 400:
        return Failure.NOT_FOUND
    if status in (400, 403) and _KEY.search(said):
        return Failure.KEY_REFUSED
    if status in (400, 403, 422, 451) and _FILTER.search(said):
        return Failure.FILTERED
    named = {401: Failure.KEY_REFUSED, 402: Failure.NO_CREDIT, 403: Failure.FORBIDDEN, 404: Failure.NOT_FOUND}
    return named.get(status, Failure.BAD_REQUEST)


def image_failure(error: CallError) -> CallError:
    """Return a failure about images if the refusal is about images, or else the unchanged refusal."""
    if _NO_IMAGES.search(error.complaint):
        kind = Failure.NO_IMAGES
    elif error.kind is Failure.BAD_REQUEST and _BAD_IMAGE.search(error.complaint):
        kind = Failure.BAD_IMAGE
    else:
        return error
    told = CallError(f"{error} {_IMAGE_REMEDIES[kind]}", kind, status=error.status)
    told.sent, told.received, told.complaint = error.sent, error.received, error.complaint
    return told


def _is_spent(code: str, message: str, retry_after: float | None) -> bool:
    """Return whether a 429 is about credit rather than a temporary rate limit."""
    if code == "insufficient_quota":
        return True
    waits = retry_after is not None or _WINDOW.search(message)
    return "exceeded your current quota" in message.lower() and not waits


FEWER = "lower “Parallel requests” under More settings (COEVAL_CONCURRENCY)"
"""The remedy if an endpoint receives more requests at the same time than it can answer."""

_SENTENCES: Mapping[Failure, str] = {
    Failure.KEY_REFUSED: "refused the API key ({status}): check OPENAI_API_KEY and that it belongs to this endpoint.",
    Failure.NO_CREDIT: "says that the account has no credit left ({status}): add credit, or use another key.",
    Failure.NOT_FOUND: "does not know this model or address ({status}): check the model's name and "
    "OPENAI_BASE_URL (for most servers it ends in /v1).",
    Failure.FORBIDDEN: "does not allow this request ({status}): check what the key may do.",
    Failure.BAD_REQUEST: "refused the request ({status}): check the model's name and its settings.",
    Failure.TOO_LONG: "refused the request ({status}) because the text is too long for the model: use a model with "
    "a longer context, or shorten the text.",
    Failure.FILTERED: "withheld the answer by its content filter ({status}).",
    Failure.RATE_LIMITED: f"asks for fewer requests ({{status}}): {FEWER}, or run it again later.",
    Failure.SERVER_ERROR: "had an error of its own ({status}): run it again later.",
}


_IMAGE_REMEDIES = {
    Failure.NO_IMAGES: "This model takes no images: choose one that does, or take the column out of “Images” "
    "(Set-up, Tasks, Study design, Visibility of other columns).",
    Failure.BAD_IMAGE: "The endpoint could not use an image: see that its address can be opened from outside, and that "
    "it is a PNG, JPEG, GIF or WebP.",
}


def disguised_error(error: object, place: str) -> CallError:
    """Return the failure for an ``error`` object, which some proxies send with status 200."""
    details: Mapping[str, Any] = error if isinstance(error, dict) else {"message": error}
    code = details.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    message = redact(str(details.get("message") or ""))
    return status_failure(status, message, str(code or ""), place=place, retry_after=_wait_in_words(message))
