"""Previews of a run's requests and costs, and a comparison of two ways to ask on a pilot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from statistics import fmean

from coeval.domain import Instance, Job, Person, Request, Task
from coeval.errors import InputError, NotFoundError
from coeval.llm.protocols.protocol import Item, Protocol
from coeval.llm.running.forecast import Forecast, forecast
from coeval.llm.running.progress import Progress
from coeval.stats.estimates import Estimate
from coeval.stats.judges.two_judges import ScoreShift, compare_scores
from coeval.store import Database
from coeval.store.queries import drafts, tasks
from coeval.store.queries.calls import StoredLedger, get_answer
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.drafting.execution import RunReport, run_drafting
from coeval.usecases.drafting.jobs import start_job
from coeval.usecases.drafting.preparation import list_left, prepare_protocol, questions_of, require_ready
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.images import ShownImage, show_images

ESTIMATED_FROM = 200


@use_case(OWNERS)
def estimate_run(context: Context, person: Person, slug: str, settings: RunSettings) -> Forecast:
    """Return the estimated calls, tokens, cost and time of a pre-fill. Nothing is written.

    The estimate is based on about ``ESTIMATED_FROM`` items, spread over the task.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        stored = drafts.get_run(db, task.id, settings.label)
        pairs = list(list_left(db, task, stored, current, settings))
    protocol = prepare_protocol(context, task, current, settings)
    items = protocol.group(pairs)
    some = items[:: max(1, len(items) // ESTIMATED_FROM)]
    sample = [question for item in some for question in questions_of(context, protocol, item)]
    return forecast(
        sample,
        round(len(items) * len(sample) / len(some)) if some else 0,
        settings.prices,
        ledger=StoredLedger(context.store),
        endpoint=settings.endpoint,
        concurrency=settings.concurrency,
        answer_tokens=fmean(map(protocol.answer_length, some)) if some else protocol.answer_tokens,
    )


# The full text of a request to the judge, before anything is paid.


@dataclass(frozen=True, slots=True)
class Question:
    """One question before it is sent: its instance, its criteria, and its texts by role."""

    instance: str
    criteria: tuple[str, ...]
    request: Request
    answers: int
    """The number of answers that the run requests for it."""
    images: tuple[ShownImage, ...] = ()
    """Its images, as people see them."""

    def __str__(self) -> str:
        turns = [
            "\n".join(
                [f"--- {turn.role} ---", turn.content, *(f"[image: {one[:200]}]" for one in turn.images)]
            )
            for turn in self.request.messages
        ]
        if self.request.schema is not None:
            turns.append(
                f"--- JSON schema of the answer ---\n{json.dumps(self.request.schema, default=dict)}"
            )
        for question in self.request.questions:
            levels = [f"{label}: {meaning}" if meaning else label for label, meaning in question.levels]
            turns.append("\n".join([f"--- {question.kind} {question.id} ---", question.text, *levels]))
        return "\n\n".join(turns)


@use_case(OWNERS)
def show_question(
    context: Context,
    person: Person,
    slug: str,
    settings: RunSettings,
    *,
    instance: str = "",
    criterion: int = 1,
) -> Question:
    """Return the first prompt to a judge for an instance and a criterion. Nothing is sent.

    ``instance`` is an external id; if it is empty, the first instance is used. ``criterion`` is the number in
    the set.

    Raises:
        NotFoundError: the instance or the criterion does not exist.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        chosen = _find_instance(db, task.id, instance)
        images = show_images(db, task, chosen)
    if not 1 <= criterion <= len(current.criteria):
        raise NotFoundError(f"There is no criterion {criterion}: the set has {len(current.criteria)}.")
    protocol = prepare_protocol(context, task, current, settings)
    numbers = [member.id for member in current.criteria]
    items = protocol.group((chosen.id, number) for number in numbers)
    item = next(item for item in items if numbers[criterion - 1] in item.criteria)
    calls = protocol.render_calls(Item(chosen.id, item.criteria), chosen)
    if not calls:
        raise NotFoundError(
            f"Instance “{chosen.external_id}” has no second output of its document to compare with: "
            "choose another instance."
        )
    request, _ = calls[0]
    texts = {member.id: member.text for member in current.criteria}
    return Question(
        chosen.external_id,
        tuple(texts[number] for number in item.criteria),
        request,
        protocol.answers,
        images,
    )


def _find_instance(db: Database, task: int, external_id: str) -> Instance:
    if not external_id:
        return next(iter(tasks.list_instances(db, task, limit=1)))
    known = tasks.find_instance(db, task, external_id)
    if known is None:
        raise NotFoundError(f"There is no instance “{external_id[:80]}”: use the id of the imported file.")
    return known


# A pilot that compares one criterion per request with several: the effect on scores and costs.

PILOT = 20
"""Default number of instances in a pilot."""

ALL = "all criteria"


@dataclass(frozen=True, slots=True)
class WayCost:
    """The cost of a pilot's requests in one way, with the endpoint's token counts."""

    label: str
    questions: int
    prompt_tokens: int
    completion_tokens: int

    def __str__(self) -> str:
        tokens = f"{self.prompt_tokens:,} prompt tokens and {self.completion_tokens:,} answer tokens"
        return f"{self.label}: {self.questions:,} answers, {tokens}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both ways on the same instances: scores by criterion and overall, and the cost of each way."""

    instances: int
    shifts: list[tuple[str, ScoreShift]]
    one_by_one: WayCost
    together: WayCost

    @property
    def share(self) -> float | None:
        """Return the combined way's prompt tokens as a share of the other way's; None if none were counted."""
        before = self.one_by_one.prompt_tokens
        return self.together.prompt_tokens / before if before else None

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row of text cells for each criterion, and one for all criteria."""
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
        """Return a line that compares the cost of one criterion per request with that of several."""
        said = f"{self.one_by_one}; {self.together}"
        return said if self.share is None else f"{said} ({self.share:.0%} of the prompt tokens)"

    def __str__(self) -> str:
        lines = ["\t".join(COLUMNS), *("\t".join(row) for row in self.rows())]
        return "\n".join([*lines, f"{self.instances:,} instances; {self.costs}"])


COLUMNS = ("criterion", "n", "one by one", "together", "shift", "same score", "alpha")
"""The columns of ``Comparison.rows``; intervals are 95%, over documents."""


def both_ways(settings: RunSettings) -> tuple[RunSettings, RunSettings]:
    """Return the settings with one criterion per request, and the given settings.

    Raises:
        InputError: the given settings already ask for one criterion at a time.
    """
    if settings.criteria_per_call == 1:
        raise InputError("A comparison needs several criteria in one question: choose how many, or all.")
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
    """Draft a pilot, spread over the task, in both ways; full runs with these settings continue from it.

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
    """Return the effect on scores of several criteria in one request, for instances drafted in both ways.

    Raises:
        NotFoundError: one of the two runs does not exist yet, or no instance was scored in both.
    """
    ways = [way.complete(context.settings) for way in both_ways(_piloted(settings))]
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        runs = [drafts.get_run(db, task.id, way.label) for way in ways]
        if runs[0] is None or runs[1] is None:
            missing = next(way.label for way, run in zip(ways, runs, strict=True) if run is None)
            raise NotFoundError(f"There is no run “{missing}” yet: run a pilot both ways first.")
        pairs = drafts.list_score_pairs(db, runs[0].id, runs[1].id)
    if not pairs:
        raise NotFoundError("No instance was scored both ways yet: wait until the pilot is done.")
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
    # an instance without a document is its own document
    clusters = [
        document or f"instance {number}" for number, document in zip(instances, documents, strict=True)
    ]
    return compare_scores(first, second, clusters)


def _cost(
    context: Context, task: Task, protocol: Protocol, settings: RunSettings, instances: Iterable[int]
) -> WayCost:
    """Return the cost of the first requests about these instances, from the ledger."""
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
    """Return an estimate with its interval, if it has one."""
    if not estimate.defined:
        return "undefined"
    low, high = estimate.ci
    shown = format(float(estimate), form)
    return shown if low != low or high != high else f"{shown} [{format(low, form)}, {format(high, form)}]"
