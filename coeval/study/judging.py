"""Carries out a pre-fill: every pair a run still lacks is asked for, and stored as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coeval.domain import Criterion, Draft, DraftStatus, ImportedDraft, Instance, Person
from coeval.llm import protocols
from coeval.llm.failures import CallError, Failure
from coeval.llm.pool import Outcome, run_all
from coeval.llm.progress import Progress, Usage
from coeval.llm.request import Ask
from coeval.store import drafts, tasks
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.drafting import (
    Prepared,
    Wish,
    build_runner,
    complete_wish,
    list_left,
    options_of,
    prepare_run,
)

SAMPLES_PER_ATTEMPT = 1000
"""A further attempt at an unscored draft asks for further samples, so that the ledger is not answered from."""

UNREADABLE = {Failure.EMPTY, Failure.UNREADABLE, Failure.TRUNCATED, Failure.FILTERED}
"""Answers that came and hold no evaluation: a draft that says so, not a call to repeat."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a pre-fill ended."""

    label: str
    total: int
    done: int
    failed: int
    unscored: int
    usage: Usage
    message: str
    """Why it stopped early, or what the failures were; empty where nothing went wrong."""

    @property
    def complete(self) -> bool:
        return self.done == self.total

    def __str__(self) -> str:
        said = f"{self.label}: {self.done:,} of {self.total:,} drafted, {self.usage.calls:,} calls"
        if self.usage.cached:
            said += f", {self.usage.cached:,} answers from the ledger"
        if self.unscored:
            said += f"; {self.unscored:,} unscored (send them again with --retry-unscored or in Set-up)"
        if self.failed:
            said += f"; {self.failed:,} failed, start it again to go on"
        return f"{said}. {self.message}".strip()


@use_case(OWNERS)
async def run_drafting(
    context: Context,
    person: Person,
    slug: str,
    wish: Wish,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> RunReport:
    """Draft what a run still lacks.

    Raises:
        ModelError: no model is set up.
        NotFoundError, InputError: see ``prepare_run``.
    """
    wish = complete_wish(context, wish)
    prepared = prepare_run(context, person, slug, wish)
    runner = build_runner(context, concurrency=wish.concurrency, prices=wish.prices, replay=wish.replay)
    work = _Work(context, prepared, wish, runner.ask)
    with context.store.read() as db:
        pairs = list(list_left(db, prepared.task, prepared.run, prepared.criteria, wish))
    async with runner:
        summary = await run_all(
            pairs,
            work.judge,
            concurrency=wish.concurrency,
            on_result=work.store,
            should_stop=should_stop,
            on_progress=on_progress,
            total=prepared.total,
            usage=runner.usage,
        )
    message = summary.stopped or "; ".join(f"{n} x {said}" for said, n in summary.errors.most_common(3))
    return RunReport(
        prepared.run.label,
        prepared.total,
        summary.done,
        summary.failed,
        work.unscored,
        summary.usage,
        message,
    )


class _Work:
    """One pass over the pairs of a run: asks, and stores what comes."""

    def __init__(self, context: Context, prepared: Prepared, wish: Wish, ask: Ask) -> None:
        self.context, self.prepared, self.ask = context, prepared, ask
        self.criteria = {criterion.id: criterion for criterion in prepared.criteria.criteria}
        self.options = options_of(wish)
        self.unscored = 0

    async def judge(self, pair: tuple[int, int]) -> Draft:
        with self.context.store.read() as db:
            instance = tasks.get_instance(db, pair[0])
            attempt = drafts.next_attempt(db, self.prepared.run.id, *pair)
        assert instance is not None
        made = await self._ask(self.criteria[pair[1]], instance, attempt)
        return Draft(
            instance=pair[0],
            criterion=pair[1],
            score=made.score,
            rows=made.rows,
            status=DraftStatus.UNSCORED if made.score is None else DraftStatus.OK,
            reason=made.reason,
            raw=made.raw,
            samples=made.samples,
            attempt=attempt,
        )

    async def _ask(self, criterion: Criterion, instance: Instance, attempt: int) -> ImportedDraft:
        ask = _further(self.ask, attempt)
        try:
            return await protocols.judge(ask, self.prepared.task, criterion, instance, self.options)
        except CallError as error:
            if error.kind not in UNREADABLE:
                raise
            said = f"{error} Send it again from Set-up, or with --retry-unscored."
            return ImportedDraft(instance.external_id, criterion.text, None, reason=said, raw=error.received)

    def store(self, outcomes: Sequence[Outcome[tuple[int, int], Draft]]) -> None:
        made = [outcome.result for outcome in outcomes if outcome.result is not None]
        with self.context.store.write() as db:
            for draft in made:
                drafts.record_draft(db, self.prepared.run.id, draft)
        self.unscored += sum(draft.status is DraftStatus.UNSCORED for draft in made)


def _further(ask: Ask, attempt: int) -> Ask:
    """Ask for samples that no earlier attempt has asked for."""
    first = (attempt - 1) * SAMPLES_PER_ATTEMPT
    return lambda request, sample: ask(request, first + sample)
