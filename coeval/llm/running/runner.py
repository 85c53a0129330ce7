"""Answer questions from the ledger or else from a model, with limits and retries, and one call per question.

A call is durably in the ledger before its answer is returned. After ``kill -9``, only calls that were in progress are
repeated.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from coeval.clock import now, time_from_now
from coeval.domain import Answer, Call, Instance, Request
from coeval.errors import InputError, ModelError, UnansweredError
from coeval.llm.client.client import Client, Exchange
from coeval.llm.client.completions import answer_of, find_format
from coeval.llm.client.failures import CallError, Failure
from coeval.llm.protocols.protocol import Item
from coeval.llm.protocols.protocol import Protocol as JudgingProtocol
from coeval.llm.running.dispatch import Limiter, Sampling
from coeval.llm.running.ledger import Ledger, Prices
from coeval.llm.running.pool import GroupCommit, Judged, OnResult, judge_item, run_all
from coeval.llm.running.progress import Progress, Summary, Usage
from coeval.settings import Settings

Key = tuple[str, int]


class Sender(Protocol):
    """The interface of senders to one endpoint: the client, or a test double."""

    @property
    def endpoint(self) -> str: ...

    async def send(self, request: Request, answers: int = 1) -> Exchange: ...

    def takes_several(self, model: str) -> bool: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Patience:
    """The retries of failed calls: their largest number for each kind of failure, and the waits in seconds.

    An answer that is empty or no completion was probably billed: it has ``rereads`` retries. A call that timed out may
    be billed too: it has ``timeouts`` retries. A rate-limited call is retried until the endpoint has answered nothing
    for ``limited`` seconds. The wait is Retry-After, up to ``ceiling``. Without Retry-After it starts at ``first`` and
    doubles with each retry, up to ``longest``; a random part of up to a half keeps calls from returning together.
    """

    retries: int = 5
    rereads: int = 2
    timeouts: int = 1
    limited: float = 900.0
    first: float = 0.5
    longest: float = 20.0
    ceiling: float = 60.0

    def allows(self, error: CallError, attempt: int, unanswered: float = 0.0) -> bool:
        """Return whether to try again after this number of failures of this kind.

        ``unanswered`` is the number of seconds since the endpoint's last answer.
        """
        if error.kind is Failure.RATE_LIMITED:
            return unanswered < self.limited
        most = self.retries if error.outage else min(self.rereads, self.retries)
        if error.kind is Failure.TIMED_OUT:
            most = min(self.timeouts, self.retries)
        return error.retryable and attempt < most

    def wait(self, attempt: int, retry_after: float | None, spread: float) -> float:
        """Return the seconds to wait after this attempt (from 0). ``spread`` is a random number from 0 to 1."""
        if retry_after is not None:
            return min(retry_after, self.ceiling) + spread * self.first
        longest: float = min(self.first * 2**attempt, self.longest)
        return longest * (0.5 + 0.5 * spread)


class Runner:
    """Provides ``ask`` for the protocols. One runner serves one endpoint, in one event loop::

        async with Runner(Client(settings), ledger, concurrency=8) as runner:
            draft = await judge(..., runner.ask)

    With ``replay``, it never uses the network: an answer that is not in the ledger raises an error.
    """

    def __init__(
        self,
        client: Sender,
        ledger: Ledger,
        *,
        concurrency: int = 8,
        prices: Prices | None = None,
        patience: Patience | None = None,
        replay: bool = False,
        limiter: Limiter | None = None,
        spread: Callable[[], float] = random.random,
    ) -> None:
        self.usage = Usage()
        self.limiter = limiter or Limiter(concurrency)
        self._client, self._ledger, self._replay = client, ledger, replay
        self._prices, self._patience, self._spread = prices or Prices(), patience or Patience(), spread
        self._answered_at = time.monotonic()
        self._limits_in_a_row = 0
        self._flights: dict[Key, _Flight] = {}
        self._commits = GroupCommit(ledger.record_calls)
        self._sampling = Sampling(self._try, client.takes_several)

    async def ask(self, request: Request, sample: int = 0) -> Answer:
        """Return the answer to a question's n-th sample. Simultaneous equal questions are sent once.

        Raises:
            CallError: there is no answer; every attempt is in the ledger.
        """
        key = (request.hash, sample)
        flight = self._flights.get(key)
        if flight is None:
            flight = _Flight(asyncio.ensure_future(self._answer(key, request)))
            self._flights[key] = flight
            flight.task.add_done_callback(lambda task: self._land(key, task))
        return await flight.join()

    @property
    def judgments(self) -> int:
        """Return the number of simultaneous judgments that keeps the endpoint busy while answers are written."""
        return self.limiter.most + max(2, self.limiter.most // 2)

    async def __aenter__(self) -> Runner:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write the remaining calls, and close the client."""
        await self._commits.flush()
        await self._client.close()

    def _land(self, key: Key, task: asyncio.Future[Answer]) -> None:
        del self._flights[key]
        if not task.cancelled():
            task.exception()  # the callers that still wait get the exception themselves

    async def _answer(self, key: Key, request: Request) -> Answer:
        call = self._ledger.get_answer(*key, self._client.endpoint)
        if call is not None:
            self.usage.cached += 1
            return answer_of(call)
        if self._replay:
            raise UnansweredError(
                f"{request.model} has no saved answer to request {key[0][:12]}, sample {key[1]}: ask the model, or "
                "write the question to a batch file (batch write)."
            )
        return await self._sampling.ask(key[0], request, key[1])

    async def _try(self, key: str, request: Request, samples: Sequence[int]) -> dict[int, Answer]:
        attempts: Counter[Failure] = Counter()
        while True:
            try:
                return await self._attempt(key, request, samples)
            except CallError as error:
                attempt = attempts[error.kind]
                if not self._patience.allows(error, attempt, time.monotonic() - self._answered_at):
                    raise
                attempts[error.kind] += 1
                self.usage.retried[str(error)] += 1
                wait = self._patience.wait(attempt, error.retry_after, self._spread())
            await asyncio.sleep(wait)

    async def _attempt(self, key: str, request: Request, samples: Sequence[int]) -> dict[int, Answer]:
        """Send one request for the answers to these samples. At least the first must arrive."""
        try:
            exchange = await self._send(request, len(samples))
        except CallError as error:
            await self._commits.record(self._failed_call((key, samples[0]), request, error))
            raise
        self.usage.calls += 1
        form = find_format(exchange.sent)
        read = [replace(answer, response_format=form) for answer in exchange.answers]
        answers = dict(zip(samples, read, strict=False))
        bodies = dict(zip(samples, exchange.bodies, strict=False))
        calls = [
            self._answered_call((key, sample), request, exchange.sent, bodies[sample], answer)
            for sample, answer in answers.items()
        ]
        for call, answer in zip(calls, answers.values(), strict=True):
            self.usage.prompt_tokens += call.prompt_tokens
            self.usage.completion_tokens += call.completion_tokens
            self.usage.cost += call.cost
            self.usage.cached_tokens += answer.cached_tokens
            self.usage.at_most |= self._prices.is_bound(answer.cached_tokens)
        self.usage.left_out = tuple(sorted({*self.usage.left_out, *exchange.left_out}))
        if len(calls) > 1:
            await asyncio.gather(*map(self._commits.record, calls[1:]))
        await self._commits.record(calls[0])
        return answers

    async def _send(self, request: Request, answers: int) -> Exchange:
        """Send one request within the endpoint's limit, and adjust the limit to the outcome."""
        async with self.limiter.slot() as number:
            try:
                exchange = await self._client.send(request, answers)
            except CallError as error:
                self._slow_down(error, number)
                raise
            self.limiter.grow()
            self._answered_at, self._limits_in_a_row = time.monotonic(), 0
            return exchange

    def _slow_down(self, error: CallError, number: int) -> None:
        """Delay all calls as long as the endpoint demands, or longer after each refusal."""
        if error.kind is Failure.TIMED_OUT:
            self.usage.timed_out += 1
        if error.kind is Failure.RATE_LIMITED and self.limiter.cut(number):
            if error.retry_after is None:
                self._pause(self._patience.wait(self._limits_in_a_row, None, 1.0))
                if self._limits_in_a_row:
                    self.limiter.shut()
            self._limits_in_a_row += 1
        if error.retryable and error.retry_after is not None:
            self._pause(min(error.retry_after, self._patience.ceiling))

    def _pause(self, seconds: float) -> None:
        """Send nothing for this time, and let the run's progress say so."""
        self.limiter.pause(seconds)
        self.usage.waits_until = max(self.usage.waits_until, time_from_now(timedelta(seconds=seconds)))

    def _answered_call(self, key: Key, request: Request, sent: str, received: str, answer: Answer) -> Call:
        return Call(
            request_hash=key[0],
            sample=key[1],
            model=request.model,
            endpoint=self._client.endpoint,
            request=sent,
            response=received,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            cost=self._prices.cost(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens),
            latency_ms=answer.latency_ms,
            created_at=now(),
        )

    def _failed_call(self, key: Key, request: Request, error: CallError) -> Call:
        return Call(
            request_hash=key[0],
            sample=key[1],
            model=request.model,
            endpoint=self._client.endpoint,
            request=error.sent,
            response=error.received,
            error=str(error),
            created_at=now(),
        )


class _Flight:
    """A call in progress, with the number of its waiters. It is cancelled when the last waiter leaves."""

    def __init__(self, task: asyncio.Future[Answer]) -> None:
        self.task, self._waiting = task, 0

    async def join(self) -> Answer:
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1
            if not self._waiting and not self.task.done():
                self.task.cancel()


async def judge_all(
    protocol: JudgingProtocol,
    runner: Runner,
    instances: Mapping[int, Instance],
    remedy: str,
    *,
    on_result: OnResult[Item, Judged],
    protocol_of: Callable[[Instance], JudgingProtocol] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Judge every instance on every criterion of the protocol's brief; see ``run_all``.

    ``protocol_of`` returns the protocol for an instance, if they differ.
    """

    async def judge(item: Item) -> Judged:
        instance = instances[item.instance]
        chosen = protocol_of(instance) if protocol_of else protocol
        return await judge_item(chosen, runner.ask, item, instance, remedy)

    items = protocol.group((instance, by) for instance in instances for by in protocol.brief.criteria)
    return await run_all(
        items,
        judge,
        concurrency=runner.judgments,
        on_result=on_result,
        should_stop=should_stop,
        on_progress=on_progress,
        total=len(items),
        usage=runner.usage,
        unread=Judged.unread,
    )


def build_runner(
    settings: Settings,
    ledger: Ledger,
    *,
    concurrency: int,
    prices: Prices | None = None,
    replay: bool = False,
    endpoint: str = "",
) -> Runner:
    """Return a runner for the endpoint in the settings. ``replay`` needs no model.

    A replay uses the answers of ``endpoint``, or of any endpoint if it is "".

    Raises:
        ModelError: no model is set up.
        InputError: the concurrency is below 1.
    """
    if concurrency < 1:
        raise InputError(
            f"The concurrency is {concurrency}: give the number of simultaneous calls, at least 1."
        )
    client: Sender = _NoNetwork(endpoint) if replay else Client(settings)
    return Runner(client, ledger, concurrency=concurrency, prices=prices, replay=replay)


class _NoNetwork:
    """A sender that refuses every request, for runs whose answers must all come from the ledger."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    async def send(self, request: Request, answers: int = 1) -> Exchange:
        raise ModelError(
            f"A replay sends nothing to {request.model}: ask the model, or write a batch file (batch write)."
        )

    def takes_several(self, model: str) -> bool:
        return False

    async def close(self) -> None:
        """Do nothing, because nothing is open."""
