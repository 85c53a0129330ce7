"""Carry out a run, and say how its scores were obtained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from coeval.domain import (
    Ask,
    Draft,
    DraftStatus,
    ImportedDraft,
    Instance,
    Person,
)
from coeval.errors import UnreachableError
from coeval.llm.protocols.protocol import Item, Items, Judgment
from coeval.llm.running.pool import UNFORESEEN, Judged, Outcome, judge_item, run_all
from coeval.llm.running.progress import Progress, Usage
from coeval.llm.running.runner import Runner
from coeval.rules.answer_forms import tell_forms, tell_sameness
from coeval.store import IntegrityError
from coeval.store.engines.database import outlast
from coeval.store.queries import drafts as comparisons
from coeval.store.queries import tasks
from coeval.store.queries.drafts import NO_RUNG, UNSCORED
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.drafting.model_requests import (
    ask_further,
    ask_until_new,
    build_runner,
    write_plan,
    write_steps,
)
from coeval.usecases.drafting.preparation import Prepared, needs_plan, prepare_run, require_ready
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.leases import Hold
from coeval.usecases.tasks import require_run

# Carries out a pre-fill: requests every missing pair, and stores each result at once.

RETRY = "Send the unscored drafts again."


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a pre-fill."""

    label: str
    total: int
    done: int
    failed: int
    drafted: int
    unscored: int
    usage: Usage
    message: str
    """The reason that it ended early, or its failures; empty if nothing went wrong."""
    failures: str = ""
    """The reasons of its failures, with their numbers."""
    unreachable: bool = False
    """True if the database became unreachable."""
    forms: tuple[str, ...] = ()
    """Sentences on the form of the run's answers; see ``describe_forms``."""

    @property
    def complete(self) -> bool:
        """Return whether everything was drafted and at least one draft has a score."""
        return self.done == self.total and not (self.total and self.unscored == self.drafted)

    def __str__(self) -> str:
        done = f"{self.drafted - self.unscored:,} drafted" if self.total else "all drafts exist already"
        if self.unscored:
            done += f", {self.unscored:,} in no form (they can be sent again)"
        left = self.total - self.done - self.failed
        said = f"{self.label}: {done}{f', {left:,} not asked' if left else ''}, {self.usage}"
        if self.failed:
            said += f"; {self.failed:,} failed; start the run again to continue"
        return " ".join(filter(None, (f"{said}.", self.message, *self.forms)))


@use_case(OWNERS)
async def run_drafting(
    context: Context,
    person: Person,
    slug: str,
    settings: RunSettings,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    job: int | None = None,
    only: tuple[int, int] | None = None,
) -> RunReport:
    """Draft the missing evaluations of a run, or ``only`` that of an instance by a criterion.

    A run has one worker at a time: the job ``job``, or a command.

    Raises:
        ModelError: no model is set up.
        NotFoundError, InputError: see ``prepare_run``; or another worker carries out this run.
    """
    with Hold(context, job=job) as hold:
        return await _draft_held(context, person, slug, settings, hold, on_progress, should_stop, only)


async def _draft_held(
    context: Context,
    person: Person,
    slug: str,
    settings: RunSettings,
    hold: Hold,
    on_progress: Callable[[Progress], None] | None,
    should_stop: Callable[[], bool],
    only: tuple[int, int] | None,
) -> RunReport:
    settings = settings.complete(context.settings)
    runner = build_runner(
        context,
        concurrency=settings.concurrency,
        prices=settings.prices,
        replay=settings.replay,
        endpoint=settings.endpoint,
    )
    async with runner:
        # before any request: the plan and the steps are paid for as well
        await asyncio.to_thread(hold.take, f"run {slug}: {settings.label}", f"The run “{settings.label}”")
        settings = await _write_what_is_missing(context, slug, settings, runner)
        prepared = prepare_run(context, person, slug, settings, holder=hold.holder)
        if only is not None:
            left = (item for item in prepared.items if item.instance == only[0] and only[1] in item.criteria)
            prepared = replace(prepared, items=Items(left))
        work = _Work(context, prepared, runner.ask, hold)
        summary = await run_all(
            prepared.items,
            work.judge,
            concurrency=runner.judgments,
            on_result=work.store,
            should_stop=should_stop,
            on_progress=on_progress,
            total=len(prepared.items),
            usage=runner.usage,
            unread=_Judged.unread,
        )
    failures = "; ".join(f"{n} x {said}" for said, n in summary.errors.most_common(3))
    return RunReport(
        prepared.run.label,
        len(prepared.items),
        summary.done,
        summary.failed,
        work.drafted,
        work.unscored,
        summary.usage,
        summary.stopped or failures,
        failures,
        work.unreachable is not None,
        () if work.unreachable else tuple(describe_forms(context, person, slug, prepared.run.label)),
    )


async def _write_what_is_missing(
    context: Context, slug: str, settings: RunSettings, runner: Runner
) -> RunSettings:
    """Let the model write missing steps and a missing plan; return the settings with the plan."""
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        opened = comparisons.get_run(db, task.id, settings.label) is not None
    if settings.steps:
        await ask_until_new(runner, lambda ask: write_steps(context, task, current, settings, ask))
    if needs_plan(settings) and not opened:
        plan = await ask_until_new(runner, lambda ask: write_plan(context, task, current, settings, ask))
        return replace(settings, plan=plan)
    return settings


class _Work:
    """One pass over the items of a run, which asks the model and stores the results."""

    def __init__(self, context: Context, prepared: Prepared, ask: Ask, hold: Hold) -> None:
        self.context, self.prepared, self.ask, self.hold = context, prepared, ask, hold
        self.drafted = self.unscored = 0
        self.unreachable: UnreachableError | None = None

    async def judge(self, item: Item) -> _Judged:
        if self.unreachable is not None:
            raise self.unreachable
        try:
            return await self._judge(item)
        except UnreachableError as error:
            self.unreachable = error
            raise

    async def _judge(self, item: Item) -> _Judged:
        instance, attempts = outlast(lambda: self._read(item))
        ask = ask_further(self.ask, max(attempts.values()))
        judged = await judge_item(self.prepared.beside(instance), ask, item, instance, RETRY)
        return _Judged(item.instance, attempts, judged)

    def _read(self, item: Item) -> tuple[Instance, dict[int, int]]:
        """Return the instance, and the number of the next attempt for each criterion."""
        with self.context.store.read() as db:
            instance = tasks.get_instance(db, item.instance)
            run = self.prepared.run.id
            count = (
                comparisons.next_comparison_attempt
                if self.prepared.protocol.compares
                else comparisons.next_attempt
            )
            attempts = {number: count(db, run, item.instance, number) for number in item.criteria}
        assert instance is not None
        return instance, attempts

    def store(self, outcomes: Sequence[Outcome[Item, _Judged]]) -> None:
        """Store the results. A judgment that cannot be stored becomes unscored and does not delay others."""
        judged = [outcome.result for outcome in outcomes if outcome.result is not None]
        try:
            self._write_once(judged)
        except UNFORESEEN:
            for judgment in judged:
                self._write_alone(judgment)

    def _write_once(self, judged: Sequence[_Judged]) -> None:
        """Write despite an outage of the database.

        If it interrupts a commit, check whether the commit succeeded.
        """
        cut_off = False

        def write() -> None:
            nonlocal cut_off
            try:
                self._write(judged)
            except UnreachableError:
                cut_off = True
                raise
            except IntegrityError:
                if not cut_off:
                    raise

        outlast(write)
        self._count(judged)

    def _write_alone(self, judged: _Judged) -> None:
        try:
            self._write_once([judged])
        except UNFORESEEN as error:
            said = f"The draft could not be stored ({type(error).__name__}). {RETRY}"
            blank = ImportedDraft("", "", None, reason=said)
            judgment = Judgment(dict.fromkeys(judged.judgment.drafts, blank))
            self._write_once([replace(judged, judged=Judged(judgment))])

    def _write(self, judged: Sequence[_Judged]) -> None:
        new = [draft for each in judged for draft in each.drafts()]
        run = self.prepared.run.id
        with self.context.store.write() as db:
            self.hold.confirm(db)
            for draft in new:
                comparisons.record_draft(db, run, draft)
            if any(draft.status is DraftStatus.OK for draft in new):
                comparisons.show_first(db, self.prepared.task.id, run)
            for each in judged:
                if (whole := each.judgment.overall) is not None:
                    comparisons.record_overall(db, run, each.instance, whole.score, whole.reason)
                if each.judgment.comparisons:
                    attempt = max(each.attempts.values())
                    comparisons.record_comparisons(db, run, each.judgment.comparisons, attempt)

    def _count(self, judged: Sequence[_Judged]) -> None:
        new = [draft for each in judged for draft in each.drafts()]
        compared = [comparison for each in judged for comparison in each.judgment.comparisons]
        self.drafted += len(new) + len(compared)
        self.unscored += sum(draft.status is DraftStatus.UNSCORED for draft in new)
        self.unscored += sum(comparison.preference is None for comparison in compared)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The result for an item, with the attempt number of each of its criteria."""

    instance: int
    attempts: Mapping[int, int]
    judged: Judged

    @property
    def judgment(self) -> Judgment:
        return self.judged.judgment

    def unread(self) -> str:
        return self.judged.unread()

    def drafts(self) -> list[Draft]:
        return [
            draft.to_draft(self.instance, criterion, self.attempts[criterion])
            for criterion, draft in self.judgment.drafts.items()
        ]


# How the scores of a run were obtained.


@use_case(OWNERS)
def describe_forms(context: Context, person: Person, slug: str, label: str) -> list[str]:
    """Return sentences on the form of a run's answers, and a warning if its scores hardly differ."""
    with context.store.read() as db:
        run = require_run(db, require_task(db, slug), label)
        counts = comparisons.count_by_rung(db, run.id)
        scores = comparisons.count_scores(db, run.id)
    if set(counts) == {NO_RUNG}:
        return []
    return [*tell_forms(counts, counts.get(UNSCORED, 0)), *tell_sameness(scores)]
