"""One by one, or several criteria in one question: both tried on a pilot, and what that does to the scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from coeval.domain import Job, Person, Task
from coeval.errors import InputError, NotFoundError
from coeval.llm.protocols.protocol import Protocol
from coeval.llm.running.progress import Progress
from coeval.stats.estimates.results import Estimate
from coeval.stats.judges.same_judge import ScoreShift, compare_scores
from coeval.store.queries.drafting import drafts
from coeval.store.queries.drafting.calls import get_answer
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.drafting.execution import RunReport, run_drafting
from coeval.study.drafting.jobs import start_job
from coeval.study.drafting.preparing import prepare_protocol, questions_of, require_ready
from coeval.study.drafting.run_settings import RunSettings

PILOT = 20
"""Instances of a pilot where nobody says how many."""

ALL = "all criteria"


@dataclass(frozen=True, slots=True)
class WayCost:
    """What the questions of a pilot took when they were put in one way; tokens as the endpoint counted them."""

    label: str
    questions: int
    prompt_tokens: int
    completion_tokens: int

    def __str__(self) -> str:
        tokens = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        return f"{self.label}: {self.questions:,} answers, {tokens}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both ways on the same instances: the scores by criterion and over all, and what each way cost."""

    instances: int
    shifts: list[tuple[str, ScoreShift]]
    one_by_one: WayCost
    together: WayCost

    @property
    def share(self) -> float | None:
        """The prompt tokens together as a share of those one by one; None where none were counted."""
        before = self.one_by_one.prompt_tokens
        return self.together.prompt_tokens / before if before else None

    def rows(self) -> list[tuple[str, ...]]:
        """A line of text cells for each criterion and for all of them."""
        return [
            (
                name,
                f"{shift.n:,}",
                f"{shift.mean_first:.2f}",
                f"{shift.mean_second:.2f}",
                _show(shift.shift, "+.2f"),
                _show(shift.same, ".0%"),
                _show(shift.alpha, ".2f"),
            )
            for name, shift in self.shifts
        ]

    @property
    def costs(self) -> str:
        """What both ways cost, in words."""
        said = f"{self.one_by_one}; {self.together}"
        return said if self.share is None else f"{said} ({self.share:.0%} of the prompt tokens)"

    def __str__(self) -> str:
        lines = ["\t".join(COLUMNS), *("\t".join(row) for row in self.rows())]
        return "\n".join([*lines, f"{self.instances:,} instances; {self.costs}"])


COLUMNS = ("criterion", "n", "one by one", "together", "shift", "same score", "alpha")
"""The columns of ``Comparison.rows``; intervals are 95%, over documents."""


def both_ways(settings: RunSettings) -> tuple[RunSettings, RunSettings]:
    """The run that asks one by one beside the one that the settings describe.

    Raises:
        InputError: the settings ask one by one themselves.
    """
    if settings.criteria_per_call == 1:
        raise InputError(
            "One criterion a question is what the other way is compared with: say how many criteria one question is "
            "to cover, or all."
        )
    label = f"{settings.label} · one by one" if settings.label else ""
    return replace(settings, criteria_per_call=1, label=label), settings


@use_case(OWNERS)
async def run_pilot(
    context: Context,
    person: Person,
    slug: str,
    settings: RunSettings,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[RunReport]:
    """Draft some instances, spread over the task, in both ways; full runs of these settings go on from there.

    Raises:
        ModelError, NotFoundError, InputError: see ``run_drafting``.
    """
    ways = both_ways(_piloted(settings))
    return [await run_drafting(context, person, slug, way, on_progress=on_progress) for way in ways]


@use_case(OWNERS)
def start_pilot(context: Context, person: Person, slug: str, settings: RunSettings) -> list[Job]:
    """Queue a pilot in both ways, as two pre-fills; workers carry them out.

    Raises:
        NotFoundError, InputError: see ``start_job``.
    """
    return [start_job(context, person, slug, way) for way in both_ways(_piloted(settings))]


@use_case(OWNERS)
def compare_ways(context: Context, person: Person, slug: str, settings: RunSettings) -> Comparison:
    """See what several criteria in one question do to the scores, on the instances drafted in both ways.

    Raises:
        NotFoundError: one of the two runs is not there yet, or no instance was scored by both.
    """
    ways = [way.complete(context.settings) for way in both_ways(_piloted(settings))]
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        runs = [drafts.get_run(db, task.id, way.label) for way in ways]
        if runs[0] is None or runs[1] is None:
            missing = next(way.label for way, run in zip(ways, runs, strict=True) if run is None)
            raise NotFoundError(f"There is no run “{missing}” yet: try both ways on a pilot first.")
        pairs = drafts.list_score_pairs(db, runs[0].id, runs[1].id)
    if not pairs:
        raise NotFoundError("No instance was scored in both ways yet: wait until the pilot is done.")
    by_criterion: dict[str, list[tuple[int, str, float, float]]] = {}
    for instance, document, criterion, first, second in pairs:
        by_criterion.setdefault(criterion, []).append((instance, document, first, second))
    everything = [row for rows in by_criterion.values() for row in rows]
    shifts = [(name, _shift(rows)) for name, rows in [*by_criterion.items(), (ALL, everything)]]
    compared = {row[0] for row in everything}
    costs = [
        _cost(context, task, prepare_protocol(context, task, current, way), way, compared) for way in ways
    ]
    return Comparison(len(compared), shifts, *costs)


def _piloted(settings: RunSettings) -> RunSettings:
    return settings if settings.pilot else replace(settings, pilot=PILOT)


def _shift(rows: list[tuple[int, str, float, float]]) -> ScoreShift:
    instances, documents, first, second = zip(*rows, strict=True)
    # an instance without a document stands for itself
    clusters = [
        document or f"instance {number}" for number, document in zip(instances, documents, strict=True)
    ]
    return compare_scores(first, second, clusters)


def _cost(
    context: Context, task: Task, protocol: Protocol, settings: RunSettings, instances: Iterable[int]
) -> WayCost:
    """What the ledger holds of the first questions about these instances."""
    pairs = [(instance, number) for instance in sorted(instances) for number in protocol.brief.criteria]
    asked = [question for item in protocol.group(pairs) for question in questions_of(context, protocol, item)]
    with context.store.read() as db:
        known = [get_answer(db, request.hash, sample, settings.endpoint) for request, sample in asked]
    calls = [call for call in known if call is not None]
    return WayCost(
        settings.label,
        len(calls),
        sum(call.prompt_tokens for call in calls),
        sum(call.completion_tokens for call in calls),
    )


def _show(estimate: Estimate, form: str) -> str:
    """An estimate with its interval, where it has one."""
    if not estimate.defined:
        return "undefined"
    low, high = estimate.ci
    shown = format(float(estimate), form)
    return shown if low != low or high != high else f"{shown} [{format(low, form)}, {format(high, form)}]"
