"""Run any number of judgments with limited concurrency, report each result, and stop if answers are unreadable."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from coeval.domain import Ask, ImportedDraft, Instance
from coeval.errors import CoevalError, UnreachableError
from coeval.llm.client.failures import ABOUT_THE_TEXT, UNREAD, CallError
from coeval.llm.protocols.protocol import Item, Judgment, Protocol
from coeval.llm.running.progress import Meter, Progress, Summary, Usage
from coeval.rules.column_roles import ImageError

Result = TypeVar("Result")
Subject = TypeVar("Subject")
"""The type of what is judged."""

Entry = TypeVar("Entry")

# Many small writes need few commits: simultaneous writes share one transaction, in a thread.

COMMIT_SECONDS = 0.01
"""Seconds that the first item of a commit waits for others."""


class GroupCommit(Generic[Entry]):
    """Gathers items for a moment, or during a commit, and writes them together in the next commit.

    ``write`` runs in a worker thread with at most ``most`` items, never twice at once. It must make all of them
    durable, or raise and keep none.
    """

    def __init__(
        self, write: Callable[[Sequence[Entry]], None], *, most: int = 500, gather: float = COMMIT_SECONDS
    ) -> None:
        self._write, self._most, self._gather = write, most, gather
        self._ready: list[tuple[Entry, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._hurry = asyncio.Event()

    async def record(self, item: Entry) -> None:
        """Return once the item is durable, or raise the error of ``write``. A cancelled wait still writes it."""
        await self._add(item)

    async def hand_over(self, item: Entry) -> None:
        """Return at once if fewer than ``most`` items wait. The next call raises an error of ``write``."""
        if self._failure is not None:
            raise self._failure
        written = self._add(item)
        written.add_done_callback(self._note)
        if len(self._ready) >= self._most:
            await asyncio.wait((written,))

    async def flush(self) -> None:
        """Wait until all items are written, and raise any error of an earlier ``write``."""
        self._hurry.set()
        while self._writing is not None:
            await asyncio.shield(self._writing)
        self._hurry.clear()
        if self._failure is not None:
            raise self._failure

    def _add(self, item: Entry) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._ready.append((item, written))
        if self._writing is None:
            self._writing = loop.create_task(self._drain())
        return written

    def _note(self, written: asyncio.Future[None]) -> None:
        if not written.cancelled():
            error = written.exception()  # retrieve every exception: asyncio logs those that nobody retrieves
            self._failure = self._failure or error

    async def _drain(self) -> None:
        try:
            while self._ready:
                await self._pause()
                batch, self._ready = self._ready[: self._most], self._ready[self._most :]
                await self._commit(batch)
        finally:
            self._writing = None

    async def _pause(self) -> None:
        """Wait for more items, unless ``flush`` waits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._gather):
                await self._hurry.wait()

    async def _commit(self, batch: list[tuple[Entry, asyncio.Future[None]]]) -> None:
        error: Exception | None = None
        try:
            await asyncio.to_thread(self._write, [item for item, _ in batch])
        except Exception as raised:
            error = raised
        for _, written in batch:
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)


# The run.

AT_FIRST = 6
"""A run ends if this number of results at its start are all unreadable."""

RECENT, SHARE = 40, 0.9
"""Later, a run ends if, of the last ``RECENT`` results, at least this ``SHARE`` is unreadable."""


class Breaker(Generic[Result]):
    """Checks each result. ``unread`` returns the reason why a result is unreadable, or "" if it is readable."""

    def __init__(self, unread: Callable[[Result], str]) -> None:
        self._unread = unread
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._any_read = False

    def is_unread(self, result: Result) -> bool:
        return bool(self._unread(result))

    def look_at(self, result: Result) -> str:
        """Return the reason to stop the run after this result, or "" if it should continue."""
        reason = self._unread(result)
        self._recent.append(bool(reason))
        self._any_read = self._any_read or not reason
        failed = sum(self._recent)
        hopeless = not self._any_read and failed >= AT_FIRST
        if reason and (hopeless or len(self._recent) == RECENT and failed >= SHARE * RECENT):
            return (
                f"{failed} of the latest {len(self._recent)} judgments could not be read, so the run was stopped; "
                f"the last one: {reason}"
            )
        return ""


CANCELLED = "cancelled"
OUTAGE = 20
"""A run ends after this number of consecutive endpoint failures."""

GATHER_SECONDS = 0.1
"""Seconds that a result may wait to be written with others. After a crash, the ledger restores it."""

POLL_SECONDS = 0.2
PROGRESS_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Subject, Result]):
    """The outcome of one item: a result, or the error."""

    item: Subject
    result: Result | None = None
    error: str = ""


OnResult = Callable[[Sequence[Outcome[Subject, Result]]], None]
"""A function that writes a group of outcomes durably. It runs in a worker thread, never twice at once."""


async def run_all(
    items: Iterable[Subject],
    judge: Callable[[Subject], Awaitable[Result]],
    *,
    concurrency: int,
    on_result: OnResult[Subject, Result],
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
    total: int | None = None,
    usage: Usage | None = None,
    grace: float = 5.0,
    unread: Callable[[Result], str] = lambda result: "",
) -> Summary:
    """Judge every item, at most ``concurrency`` at once, and draw items only when needed.

    A judgment that raises becomes a failed outcome, and the others continue. A refused key, an unknown model, an
    account without credit, or ``OUTAGE`` consecutive endpoint failures end the run early, because every further call
    would fail too. Too many unreadable results also end it (see ``Breaker``). After ``should_stop``, no new judgment
    starts, and those in progress, which are paid for, have ``grace`` seconds to finish.

    Raises:
        Exception: an error of ``items``, ``on_result`` or ``should_stop``; earlier results are kept.
    """
    run = _Run(iter(items), judge, on_result, Meter(total, usage or Usage()), Breaker(unread))
    workers = [asyncio.ensure_future(run.work()) for _ in range(concurrency)]
    watch = asyncio.ensure_future(run.watch(should_stop, on_progress, grace))
    work = asyncio.gather(*workers)
    try:
        await asyncio.wait((work, watch), return_when=asyncio.FIRST_COMPLETED)
        if watch.done():
            watch.result()
        elif work.done():
            work.result()
    finally:
        await _end([*workers, work, watch])
        await run.commits.flush()
    if on_progress is not None:
        on_progress(run.meter.read())
    return run.meter.summarise(run.stopped)


async def _end(tasks: Sequence[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Run(Generic[Subject, Result]):
    """The shared state of one run's workers."""

    def __init__(
        self,
        items: Iterator[Subject],
        judge: Callable[[Subject], Awaitable[Result]],
        on_result: OnResult[Subject, Result],
        meter: Meter,
        breaker: Breaker[Result],
    ) -> None:
        self.items, self.judge, self.on_result, self.meter = items, judge, on_result, meter
        self.breaker = breaker
        self.commits: GroupCommit[Outcome[Subject, Result]] = GroupCommit(self._write, gather=GATHER_SECONDS)
        self.stopped = ""
        self._failed_in_a_row = 0

    async def work(self) -> None:
        """Judge one item after another until none is left or the run must stop."""
        while not self.stopped:
            try:
                item = next(self.items)
            except StopIteration:
                return
            await self.commits.hand_over(await self._judge(item))

    def _write(self, outcomes: Sequence[Outcome[Subject, Result]]) -> None:
        self.on_result(outcomes)
        for outcome in outcomes:
            result = outcome.result
            self.meter.count(outcome.error, unread=result is not None and self.breaker.is_unread(result))

    async def _judge(self, item: Subject) -> Outcome[Subject, Result]:
        """Return the outcome of one judgment. Its errors do not end the run."""
        try:
            result = await self.judge(item)
        except Exception as error:
            self._note(error)
            said = str(error) if isinstance(error, CoevalError) else f"{type(error).__name__}: {error}"
            return Outcome(item, error=said)
        self._failed_in_a_row = 0
        self.stopped = self.stopped or self.breaker.look_at(result)
        return Outcome(item, result)

    def _note(self, error: Exception) -> None:
        """Stop the run if the error means that every other call would fail too."""
        if isinstance(error, CallError) and error.fatal:
            self.stopped = self.stopped or str(error)
        if isinstance(error, UnreachableError):
            self.stopped = self.stopped or str(error)
        if isinstance(error, CallError) and error.outage:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= OUTAGE:
                self.stopped = self.stopped or f"{OUTAGE} judgments in a row failed; the last one: {error}"

    async def watch(
        self,
        should_stop: Callable[[], bool],
        on_progress: Callable[[Progress], None] | None,
        grace: float,
    ) -> None:
        """Report progress until the run must stop, and return when the grace period is over."""
        shown, waiting = time.monotonic(), ""
        while not self.stopped:
            await asyncio.sleep(POLL_SECONDS)
            if should_stop():
                self.stopped = self.stopped or CANCELLED
            if on_progress is None:
                continue
            progress = self.meter.read()
            begins_to_wait = progress.waiting not in ("", waiting)
            if begins_to_wait or time.monotonic() - shown >= PROGRESS_SECONDS:
                shown, waiting = time.monotonic(), progress.waiting
                on_progress(progress)
        await asyncio.sleep(grace)


# Judge items with a protocol. Unreadable answers become unscored drafts with a reason.

UNFORESEEN = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""Errors that an unexpected answer may raise. They leave only that item unscored."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The result for an item: a draft for each of its criteria, scored or not."""

    judgment: Judgment
    about_the_text: bool = False
    """True if the failure concerns only this text."""

    def unread(self) -> str:
        """Return the reason why no answer could be read, or "" if one could."""
        if compared := self.judgment.comparisons:
            return compared[0].reason if all(comparison.preference is None for comparison in compared) else ""
        unscored = [draft for draft in self.judgment.drafts.values() if draft.score is None]
        if self.about_the_text or len(unscored) < len(self.judgment.drafts):
            return ""
        raw = " ".join(unscored[0].raw[:200].split())
        return f"{unscored[0].reason} What came: {raw}" if raw else unscored[0].reason


async def judge_item(protocol: Protocol, ask: Ask, item: Item, instance: Instance, remedy: str) -> Judged:
    """Return the drafts of an item. ``remedy`` is the last sentence in the reason of unscored drafts.

    Raises:
        CallError: the endpoint gave no answer, but may give one later.
    """
    try:
        return Judged(await protocol.judge(ask, item, instance))
    except CallError as error:
        if error.kind not in UNREAD:
            raise
        judgment = unscored(item, instance, f"{error} {remedy}", error.received)
        return Judged(judgment, error.kind in ABOUT_THE_TEXT)
    except ImageError as error:
        return Judged(unscored(item, instance, f"{error} {remedy}"), about_the_text=True)
    except UNFORESEEN as error:
        said = f"The answer could not be read ({type(error).__name__}: {str(error)[:200]}). {remedy}"
        return Judged(unscored(item, instance, said))


def unscored(item: Item, instance: Instance, reason: str, raw: str = "") -> Judgment:
    """Return an unscored draft for every criterion of an item."""
    blank = ImportedDraft(instance.external_id, "", None, reason=reason, raw=raw)
    return Judgment(dict.fromkeys(item.criteria, blank))
