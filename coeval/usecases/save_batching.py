"""Simultaneous saves share one transaction, because disks and databases make few commits per second.

Each save is still a separate step: a refused save is undone alone, and every answer waits for the commit
(group commit: Gray and Reuter, *Transaction Processing*, 1993, 9.4.6).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context as Variables
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, TypeVar

from coeval.errors import CoevalError, StorageError
from coeval.store import Storage

MOST = 25
"""The largest number of saves in one transaction, because the first waits for the last."""

T = TypeVar("T")


class _FailedError(Exception):
    """Raised if a save in a batch failed in a way that may have ended the transaction."""


@dataclass(frozen=True, slots=True)
class _Save(Generic[T]):
    make: Callable[[], T]
    variables: Variables
    """The context variables of the request, such as its language."""
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[T]

    def run(self) -> T:
        return self.variables.run(self.make)


class Together(Generic[T]):
    """Executes saves in one thread, with up to ``most`` simultaneous saves in one transaction."""

    def __init__(self, store: Storage, *, most: int = MOST) -> None:
        self._store, self._most = store, most
        self._waiting: deque[_Save[T]] = deque()
        self._thread = ThreadPoolExecutor(1, "saves")

    async def save(self, make: Callable[[], T]) -> T:
        """Return the result of ``make`` after the commit. It is repeated if another save breaks the batch.

        Raises:
            CoevalError: raised by ``make``; its writes are undone.
            StorageError: the transaction could not begin or commit; nothing was written.
        """
        loop = asyncio.get_running_loop()
        mine = _Save(make, copy_context(), loop, loop.create_future())
        self._waiting.append(mine)
        self._thread.submit(self._make_waiting)
        return await mine.answer

    def _make_waiting(self) -> None:
        """Execute the saves that are waiting, unless an earlier call has already executed them."""
        taken = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        saves = [save for save in taken if not save.answer.cancelled()]
        if not saves:
            return
        answers = list(zip(saves, self._make_all(saves), strict=True))
        for loop in {save.loop for save in saves}:
            with suppress(RuntimeError):  # the event loop has ended, and nobody waits there any more
                loop.call_soon_threadsafe(_give, [(s, got) for s, got in answers if s.loop is loop])

    def _make_all(self, saves: Sequence[_Save[T]]) -> Sequence[T | Exception]:
        try:
            with self._store.write():
                return [self._make_part(save) for save in saves]
        except _FailedError:
            return [self._make_alone(save) for save in saves]
        except Exception as error:
            return [error] * len(saves)

    def _make_part(self, save: _Save[T]) -> T | Exception:
        """Return the outcome of one save in a batch. A refused save does not affect the others."""
        outcome = self._make_alone(save)
        refused = isinstance(outcome, CoevalError) and not isinstance(outcome, StorageError)
        if isinstance(outcome, Exception) and not refused:
            raise _FailedError from outcome
        return outcome

    def _make_alone(self, save: _Save[T]) -> T | Exception:
        try:
            with self._store.write():
                return save.run()
        except Exception as error:
            return error


def _give(answers: Sequence[tuple[_Save[T], T | Exception]]) -> None:
    """Give the waiting callers their results, each in its own event loop."""
    for save, outcome in answers:
        if save.answer.done():
            continue
        if isinstance(outcome, Exception):
            save.answer.set_exception(outcome)
        else:
            save.answer.set_result(outcome)
