"""What asks a model for this file: every call goes through its ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from coeval.domain import Ask
from coeval.errors import UnreadableAnswerError
from coeval.llm.running import runner
from coeval.llm.running.ledger import Prices
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.study.access import Context

SAMPLES_PER_ATTEMPT = 1000
"""How far apart the numbers of the samples of two attempts are."""

T = TypeVar("T")


def build_runner(
    context: Context,
    *,
    concurrency: int,
    prices: Prices | None = None,
    replay: bool = False,
    endpoint: str = "",
) -> runner.Runner:
    """The runner of this file's ledger; see ``coeval.llm.running.runner.build_runner``.

    Raises:
        ModelError: no model is set up.
    """
    return runner.build_runner(
        context.settings,
        StoredLedger(context.store),
        concurrency=concurrency,
        prices=prices,
        replay=replay,
        endpoint=endpoint,
    )


def ask_further(ask: Ask, attempt: int) -> Ask:
    """Ask for samples that no earlier attempt (from 1) has asked for."""
    first = (attempt - 1) * SAMPLES_PER_ATTEMPT
    return lambda request, sample: ask(request, first + sample)


async def ask_until_new(asking: runner.Runner, draft: Callable[[Ask], Awaitable[T]]) -> T:
    """What ``draft`` reads in the model's answers.

    The ledger repeats an answer that could not be read, whenever the same is asked. Where it alone answered, the
    model is asked for further samples, so that to try again is to ask again.

    Raises:
        UnreadableAnswerError: the model was asked now, and its answers could not be read.
        ModelError: no answer could be had.
    """
    for attempt in count(1):
        before = asking.usage.calls
        try:
            return await draft(ask_further(asking.ask, attempt))
        except UnreadableAnswerError:
            if asking.usage.calls > before:
                raise
    raise AssertionError("attempts have no end")
