"""The progress of a run, for pages and terminals, and the summary at its end."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import timedelta

from coeval.clock import time_from_now

RECENT = 200
"""Number of recent results that determine the rate, so that ledger answers do not distort it for long."""


@dataclass(slots=True)
class Usage:
    """A runner's requests, tokens and cost so far. ``cached`` answers came free from the ledger."""

    calls: int = 0
    cached: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens from the provider's prefix cache."""
    timed_out: int = 0
    """Requests that timed out. A provider may bill them anyway."""
    cost: float = 0.0
    at_most: bool = False
    """True if the cost counts tokens from the prefix cache at the full price, because theirs is unknown."""
    left_out: tuple[str, ...] = ()
    """Parameters that the endpoint refuses, so that they were not sent."""
    waits_until: str = ""
    """The time until which the endpoint asked to send nothing."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __str__(self) -> str:
        said = f"{self.calls:,} calls"
        if self.cached:
            said += f", {self.cached:,} answers from the ledger"
        if self.cached_tokens:
            said += f", {self.cached_tokens:,} prompt tokens from the provider's cache"
        if self.timed_out:
            said += f", {self.timed_out:,} requests timed out (each may be billed)"
        if self.left_out:
            said += f", {' and '.join(self.left_out)} left out because the endpoint refuses it"
        return f"{said}, {show_cost(self.cost, self.at_most)}" if self.cost else said


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot of a run: ``rate`` in results per second, ``eta`` and ``seconds`` in seconds.

    ``done`` and ``failed`` count judgments and do not overlap. ``eta`` is None if it is unknown.
    """

    done: int
    failed: int
    total: int | None
    seconds: float
    rate: float
    eta: float | None
    usage: Usage
    unread: int = 0
    """The number of results in no form that could be read."""
    waiting: str = ""
    """Why the run sends nothing at the moment, and until when; empty if it does not wait."""

    def __str__(self) -> str:
        of = f" of {self.total:,}" if self.total is not None else ""
        failed = f", {self.failed:,} failed" if self.failed else ""
        left = f", {show_seconds(self.eta)} left" if self.eta is not None else ""
        cost = f", {show_cost(self.usage.cost, self.usage.at_most)}" if self.usage.cost else ""
        waiting = f", {self.waiting}" if self.waiting else ""
        results = max(1, self.done + self.failed)
        unread = f", {self.unread:,} ({self.unread / results:.0%}) in no form" if self.unread else ""
        tokens = f"{self.usage.tokens:,} tokens"
        return f"{self.done:,}{of} done{failed}{unread}, {self.rate:.1f}/s{left}, {tokens}{cost}{waiting}"


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a finished run. ``stopped`` is the reason for an early end, or "" if every item was tried.

    ``errors`` counts failed judgments by message.
    """

    done: int
    failed: int
    seconds: float
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)


class Meter:
    """Counts results as they arrive."""

    def __init__(self, total: int | None, usage: Usage) -> None:
        self.done = self.failed = self.unread = 0
        self.total, self.usage = total, usage
        self.errors: Counter[str] = Counter()
        self._started = time.monotonic()
        self._recent = deque([self._started], maxlen=RECENT)

    def count(self, error: str, *, unread: bool = False) -> None:
        """Count a result. ``error`` is "" for a successful judgment; ``unread`` says that it is in no form."""
        self.unread += unread
        self._recent.append(time.monotonic())
        if error:
            self.failed += 1
            self.errors[error] += 1
        else:
            self.done += 1

    def read(self) -> Progress:
        now = time.monotonic()
        rate = (len(self._recent) - 1) / max(now - self._recent[0], 1e-6)
        left = None if self.total is None else max(0, self.total - self.done - self.failed)
        eta = left / rate if left is not None and rate else None
        seconds = now - self._started
        return Progress(
            self.done,
            self.failed,
            self.total,
            seconds,
            rate,
            eta,
            self.usage,
            self.unread,
            show_wait(self.usage.waits_until),
        )

    def summarise(self, stopped: str) -> Summary:
        seconds = time.monotonic() - self._started
        return Summary(self.done, self.failed, seconds, stopped, self.errors, self.usage)


def show_cost(cost: float, at_most: bool) -> str:
    """Return a cost for people.

    >>> show_cost(3.5, at_most=True)
    'cost at most 3.5'
    """
    return f"cost {'at most ' if at_most else ''}{cost:.4g}"


def show_wait(until: str) -> str:
    """Return why a run waits until this time, or "" if the time has passed or the wait is shorter than a second."""
    if until <= time_from_now(timedelta(seconds=0.5)):
        return ""
    return f"waiting until {until[11:19]} UTC because the endpoint asks for fewer requests"


def show_seconds(seconds: float) -> str:
    """Return a duration in words.

    >>> show_seconds(75), show_seconds(4000), show_seconds(200_000)
    ('1 min 15 s', '1 h 6 min', '2 d 7 h')
    """
    whole = round(seconds)
    for size, unit, next_size, next_unit in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // next_size} {next_unit}"
    return f"{whole} s"
