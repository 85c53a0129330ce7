"""The progress of a run with its summary, and the forecast before it begins: calls, tokens, time, and cost."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from statistics import fmean

from coeval.clock import time_from_now
from coeval.domain import Call, Request
from coeval.llm.client.completions import SYSTEMONE, answer_of, build_decision
from coeval.llm.client.failures import CallError
from coeval.llm.running.dispatch import MOST
from coeval.llm.running.ledger import Ledger, Prices

LONGEST_REASON = 240
"""Number of characters of a failure's reason in the line of progress."""

RECENT = 200
"""Number of recent results that determine the rate, so that ledger answers do not distort it for long."""


@dataclass(slots=True)
class Usage:
    """A runner's requests, tokens and cost so far. ``cached`` answers came free from the ledger."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens from the provider's prefix cache."""
    retried: Counter[str] = field(default_factory=Counter)
    """The reasons why requests were sent again, with the number of requests."""
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
            said += f", {self.cached_tokens:,} prompt tokens from the endpoint's cache"
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
    why: str = ""
    """The most frequent reason of the failures."""

    def __str__(self) -> str:
        of = f" of {self.total:,}" if self.total is not None else ""
        left = f", {show_seconds(self.eta)} left" if self.eta is not None else ""
        cost = f", {show_cost(self.usage.cost, self.usage.at_most)}" if self.usage.cost else ""
        waiting = f", {self.waiting}" if self.waiting else ""
        results = max(1, self.done + self.failed)
        unread = f", {self.unread:,} ({self.unread / results:.0%}) in no form" if self.unread else ""
        tokens = f"{self.usage.tokens:,} tokens"
        return f"{self.done:,}{of} done{self._trouble()}{unread}, {self.rate:.1f}/s{left}, {tokens}{cost}{waiting}"

    def _trouble(self) -> str:
        """Return the numbers of failures and retries with their most frequent reasons, each reason once."""
        counts: dict[str, list[str]] = {}
        if self.failed:
            counts[self.why] = [f"{self.failed:,} failed"]
        for reason, _ in self.usage.retried.most_common(1):
            again = self.usage.retried.total()
            counts.setdefault(reason, []).append(f"{again:,} {'call' if again == 1 else 'calls'} tried again")
        return "".join(f", {' and '.join(said)} ({why[:LONGEST_REASON]})" for why, said in counts.items())


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
            "".join(error for error, _ in self.errors.most_common(1)),
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


# Forecast a run before it begins: calls, tokens, time, and cost at the user's prices.

PER_MESSAGE = 4
LETTERS, OTHER_LETTERS, SIGNS = 10, 2.5, 2.2
"""Characters per token: in English words, in words with other letters, and in runs of punctuation."""

_PIECE = re.compile(r"[^\W\d_]+|\d{1,3}|\n+|[^\w\s]+|_+")
_IDEOGRAPH = 0x2E80


def estimate_tokens(request: Request) -> int:
    """Estimate the prompt tokens of a request, including its JSON schema but not its images."""
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema, default=dict))
    if request.questions:  # as it is sent, so that earlier calls can correct the estimate
        texts.append(json.dumps(build_decision(request, SYSTEMONE)["questions"], ensure_ascii=False))
    return count_tokens(texts) + PER_MESSAGE * len(request.messages)


def estimate_sent(body: str) -> int:
    """Estimate the prompt tokens of a sent request from its JSON text; return 0 if it is not a request."""
    try:
        sent = json.loads(body)
        if "questions" in sent:
            asked = json.dumps(sent["questions"], ensure_ascii=False)
            return count_tokens([str(sent.get("state", sent.get("input", ""))), asked])
        messages = [_words_of(message["content"]) for message in sent["messages"]]
    except (ValueError, RecursionError, LookupError, TypeError):
        return 0
    form = sent.get("response_format")
    schema = form.get("json_schema", {}).get("schema") if isinstance(form, dict) else None
    texts = [*messages, json.dumps(schema)] if schema else messages
    return count_tokens(texts) + PER_MESSAGE * len(messages)


def _words_of(content: object) -> str:
    """Return the text of a sent message. A message with images is a list of parts."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def count_tokens(texts: Iterable[str]) -> int:
    """Estimate the number of tokens in these texts, without a tokeniser and in linear time.

    One token is up to ten letters of an English word, 2.5 letters of other words, an ideograph, three digits, 2.2
    punctuation marks in a row, or a run of line breaks. The estimate is within 8% of the vocabularies cl100k and o200k
    for English prose, chat, code, CSV and JSON schemas. ``forecast`` corrects it with the counts of earlier calls.

    >>> count_tokens(["The ferry left the island at noon."])
    8
    """
    return math.ceil(sum(_weigh(piece[0]) for text in texts for piece in _PIECE.finditer(text)))


def _weigh(piece: str) -> float:
    if piece.isspace() or piece.isdecimal():
        return 1
    if not piece[0].isalpha():
        return max(1.0, len(piece) / SIGNS)
    if piece.isascii():
        return math.ceil(len(piece) / LETTERS)
    ideographs = sum(ord(letter) >= _IDEOGRAPH for letter in piece)
    return ideographs + math.ceil((len(piece) - ideographs) / OTHER_LETTERS)


CALL_SECONDS = 4.0
"""Seconds per call if the ledger has no data."""

KNOWN_BY = 200
"""Number of characters at the end of a question by which similar earlier questions are found."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast. ``calls`` are requests to send, ``cached`` answers in the ledger, ``seconds`` wall time.

    ``cached_tokens`` are the part of ``prompt_tokens`` that the provider is likely to serve from its prefix cache.
    """

    calls: int
    answers: int
    """Number of answers to pay for. One call can give several answers."""
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    seconds: float
    cached_tokens: int = 0
    call_seconds: float = 0.0
    """The assumed time of one call, from earlier calls if there are any."""
    at_once: int = 1
    """The number of calls that run at the same time."""
    images: int = 0
    """Number of images to send. Their tokens are counted only if earlier calls had images."""
    at_most: bool = False
    """True if the cost counts tokens from the prefix cache at the full price, because theirs is unknown."""

    def __str__(self) -> str:
        free = f" ({self.cached:,} more are in the ledger)" if self.cached else ""
        served = f" ({self.cached_tokens:,} from the endpoint's cache)" if self.cached_tokens else ""
        tokens = f"{self.prompt_tokens:,} prompt tokens{served} and {self.completion_tokens:,} answer tokens"
        cost = f", {show_cost(self.cost, self.at_most)}" if self.cost else ""
        several = f" for {self.answers:,} answers" if self.answers != self.calls else ""
        about = f"about {self.calls:,} calls{several}{free}, {tokens}{cost}, {show_seconds(self.seconds)}"
        about += f" if a call takes {self.call_seconds:.1f} s" if self.call_seconds else ""
        about += f", {self.at_once:,} at a time" if self.at_once > 1 else ""
        if not self.images:
            return about
        return f"{about}; with {self.images:,} images, whose tokens are counted only as far as earlier calls tell"


def forecast(
    sample: Sequence[tuple[Request, int]],
    n: int,
    prices: Prices,
    *,
    ledger: Ledger | None = None,
    endpoint: str = "",
    concurrency: int = 8,
    answer_tokens: float,
) -> Forecast:
    """Forecast ``n`` answers from a sample of requests, each with its sample number.

    Answers in the ledger are free. Samples of one question share one call, unless earlier calls show that this model
    gives one answer at a time. Earlier calls to the model, preferably with similar questions, give the ratio of real to
    estimated tokens, the length of answers, the rate of repeated questions, the share of the prefix cache, and the
    time. Without them, rules of thumb apply.
    """
    past_calls = [_look_up(ledger, request, number, endpoint) for request, number in sample]
    answers = round(n * past_calls.count(None) / len(sample)) if sample else n
    asked = [request for (request, _), call in zip(sample, past_calls, strict=True) if call is None]
    past = _Past(ledger, asked[0], endpoint) if ledger is not None and asked else _Past()
    sent = _gather(asked) if past.gives_several else asked
    calls = round(answers * len(sent) / len(asked)) if asked else answers
    prompt = round(calls * _mean([estimate_tokens(r) for r in sent], 0.0) * past.prompt_ratio)
    usual = past.answer_tokens or answer_tokens
    cached_tokens = round(prompt * past.cached_share)
    each = _mean([min(usual, request.max_tokens or usual) for request in asked], usual)
    at_once = max(1, min(concurrency, calls))
    return Forecast(
        calls=calls,
        answers=answers,
        cached=n - answers,
        prompt_tokens=prompt,
        completion_tokens=round(answers * each),
        cost=prices.cost(prompt, round(answers * each), cached_tokens),
        seconds=calls * past.seconds / at_once,
        cached_tokens=cached_tokens,
        call_seconds=past.seconds,
        at_once=at_once,
        at_most=prices.is_bound(cached_tokens),
        images=round(calls * _mean([sum(len(turn.images) for turn in each.messages) for each in sent], 0.0)),
    )


def _gather(asked: Sequence[Request]) -> list[Request]:
    """Return each request as often as it will be sent, if one call gives up to ``MOST`` answers."""
    by_hash = {request.hash: request for request in asked}
    counts = Counter(request.hash for request in asked)
    return [by_hash[key] for key, count in counts.items() for _ in range(ceil(count / MOST))]


def _look_up(ledger: Ledger | None, request: Request, number: int, endpoint: str) -> Call | None:
    return None if ledger is None else ledger.get_answer(request.hash, number, endpoint)


def _mean(values: Sequence[float], default: float) -> float:
    return fmean(values) if values else default


class _Past:
    """Statistics of earlier calls to a model: calls whose question has the same end, or else all."""

    def __init__(
        self, ledger: Ledger | None = None, request: Request | None = None, endpoint: str = ""
    ) -> None:
        calls = ledger.list_recent(request.model, endpoint) if ledger and request else ()
        ending = _as_sent(request.messages[-1].content[-KNOWN_BY:]) if request else ""
        alike = [call for call in calls if ending in call.request]
        self.calls = alike or list(calls)
        first = sum(not _asks_again(call) for call in alike)
        self.answer_tokens = sum(call.completion_tokens for call in alike) / first if first else 0.0
        """Tokens of each question's answer, including repetitions; 0 if none were counted."""
        latencies = [call.latency_ms / 1000 for call in self.calls if call.latency_ms]
        self.seconds = _mean(latencies, CALL_SECONDS)

    @property
    def gives_several(self) -> bool:
        """True if one call gives several answers, as far as is known."""
        further = [call for call in self.calls if call.sample and not _asks_again(call)]
        return not further or any('"n": ' in call.request for call in further)

    @property
    def prompt_ratio(self) -> float:
        """Return the billed prompt tokens, including repetitions, per estimated token of the first questions.

        If one call gave several answers, only the first carries the prompt's tokens.
        """
        counted = sum(call.prompt_tokens for call in self.calls)
        first = [call for call in self.calls if call.prompt_tokens and not _asks_again(call)]
        guessed = sum(estimate_sent(call.request) for call in first)
        return counted / guessed if counted and guessed else 1.0

    @property
    def cached_share(self) -> float:
        """Return the share of prompt tokens that came from the provider's prefix cache."""
        counted = sum(call.prompt_tokens for call in self.calls)
        return sum(map(_cached_tokens, self.calls)) / counted if counted else 0.0


def _asks_again(call: Call) -> bool:
    return '"role": "assistant"' in call.request


def _cached_tokens(call: Call) -> int:
    try:
        return answer_of(call).cached_tokens
    except CallError:
        return 0


def _as_sent(text: str) -> str:
    """Return the text as JSON encodes it in a request."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
