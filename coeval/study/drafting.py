"""The model drafts: criteria for a task, and evaluations of every instance by every criterion.

A pre-fill is a job in the database: it goes on without the page that started it, can be cancelled, and after
a crash goes on where it was. What is drafted is derived from the drafts themselves, and what was paid for
from the ledger, so there is no state to lose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice

from coeval.domain import CriteriaSet, Job, JobState, Person, Proposal, Run, Task
from coeval.errors import InputError, ModelError, NotFoundError
from coeval.llm.client import Client, Exchange
from coeval.llm.forecast import Forecast, forecast
from coeval.llm.ideation import draft_criteria as ask_for_criteria
from coeval.llm.ledger import Prices
from coeval.llm.options import JudgeOptions
from coeval.llm.protocols import render_calls
from coeval.llm.request import Request
from coeval.llm.runner import Runner, Sender
from coeval.store import Database, criteria, drafts, jobs, tasks
from coeval.store.calls import StoredLedger
from coeval.study.access import OWNERS, Context, require_task, use_case

KIND = "evaluations"
ESTIMATED_FROM = 50


@dataclass(frozen=True, slots=True)
class Wish:
    """What a pre-fill is asked to be. ``limit`` is how many drafts to make at most; None for all."""

    model: str = ""
    protocol: str = "coeval"
    samples: int | None = None
    temperature: float | None = None
    persona: str = ""
    logprobs: bool = False
    label: str = ""
    concurrency: int = 0
    limit: int | None = None
    prices: Prices = field(default_factory=Prices)
    retry_unscored: bool = False
    replay: bool = False


def options_of(wish: Wish) -> JudgeOptions:
    """How each judgment of a pre-fill is asked for.

    Raises:
        InputError: there is no such protocol, or it cannot take so many samples.
    """
    return JudgeOptions(
        model=wish.model,
        protocol=wish.protocol,
        samples=wish.samples,
        temperature=wish.temperature,
        persona=wish.persona,
        logprobs=wish.logprobs,
    )


@use_case(OWNERS)
async def draft_criteria(
    context: Context, person: Person, slug: str, *, model: str = "", samples: int = 1
) -> list[Proposal]:
    """Have a model propose criteria for a task; near-duplicates over the samples are merged.

    Raises:
        ModelError: no model is set up, or it cannot be reached or read.
        InputError: ``samples`` is not 1 to 50.
    """
    if not 1 <= samples <= 50:
        raise InputError(f"{samples} samples cannot be asked for: choose 1 to 50.")
    with context.store.read() as db:
        task = require_task(db, slug)
    async with build_runner(context, concurrency=min(samples, context.settings.concurrency)) as runner:
        return list(await ask_for_criteria(runner.ask, task, model or context.settings.model, samples))


def build_runner(
    context: Context, *, concurrency: int, prices: Prices | None = None, replay: bool = False
) -> Runner:
    """What asks for this file: every call goes through its ledger; ``replay`` needs no model at all.

    Raises:
        ModelError: no model is set up.
    """
    client: Sender = _NoNetwork() if replay else Client(context.settings)
    return Runner(client, StoredLedger(context.store), concurrency=concurrency, prices=prices, replay=replay)


class _NoNetwork:
    """Stands where the client would, when everything is to come from the ledger."""

    endpoint = "ledger"

    async def send(self, request: Request) -> Exchange:
        raise ModelError(
            f"A replay sends nothing to {request.model}: run it without --replay to ask the model."
        )

    async def close(self) -> None:
        """There is nothing to close."""


@use_case(OWNERS)
def estimate_run(context: Context, person: Person, slug: str, wish: Wish) -> Forecast:
    """See what a pre-fill would take: calls, tokens, cost at the prices given, time. Nothing is written.

    Judged by up to ``ESTIMATED_FROM`` of the questions it would ask, spread over the task.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
    """
    wish = complete_wish(context, wish)
    options = options_of(wish)
    with context.store.read() as db:
        task, current = _require_ready(db, slug)
        stored = drafts.get_run(db, task.id, wish.label)
        pairs = list(list_left(db, task, stored, current, wish))
        by_id = {criterion.id: criterion for criterion in current.criteria}
        step = max(1, len(pairs) // ESTIMATED_FROM)
        sample = []
        for instance_id, criterion_id in pairs[::step]:
            instance = tasks.get_instance(db, instance_id)
            assert instance is not None
            sample += render_calls(task, by_id[criterion_id], instance, options)
    return forecast(
        sample,
        len(pairs) * options.answers,
        wish.prices,
        ledger=StoredLedger(context.store),
        concurrency=wish.concurrency,
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pre-fill ready to go: what is to be judged, by which run, in how many drafts."""

    task: Task
    criteria: CriteriaSet
    run: Run
    total: int


@use_case(OWNERS)
def prepare_run(context: Context, person: Person, slug: str, wish: Wish) -> Prepared:
    """Open a run, or take up the one of the same label where it was left.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
        InputError: a run of that label was made with other settings.
    """
    wish = complete_wish(context, wish)
    with context.store.write() as db:
        task, current = _require_ready(db, slug)
        run = _ensure_run(db, task, current, wish)
        left = sum(1 for _ in list_left(db, task, run, current, wish))
    return Prepared(task, current, run, left)


def _require_ready(db: Database, slug: str) -> tuple[Task, CriteriaSet]:
    """The task and its criteria set, where there is something to draft by it."""
    task = require_task(db, slug)
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(f"“{slug}” has no established criteria: vote on them first, or import them.")
    if not tasks.count_instances(db, task.id):
        raise NotFoundError(f"“{slug}” has no instances: import some first.")
    return task, current


def complete_wish(context: Context, wish: Wish) -> Wish:
    """The wish with every blank filled in: model, concurrency, and the label it goes by."""
    model = wish.model or context.settings.model
    samples = f"{wish.samples} samples" if wish.samples else ""
    heat = f"temperature {wish.temperature:g}" if wish.temperature is not None else ""
    parts = [model, wish.protocol, samples, heat, wish.persona, "expected score" if wish.logprobs else ""]
    return replace(
        wish,
        model=model,
        label=wish.label or " · ".join(part for part in parts if part),
        concurrency=wish.concurrency or context.settings.concurrency,
    )


def _ensure_run(db: Database, task: Task, current: CriteriaSet, wish: Wish) -> Run:
    options = options_of(wish)
    params = {
        "samples": options.answers,
        "temperature": wish.temperature,
        "persona": wish.persona,
        "logprobs": wish.logprobs,
    }
    wanted = Run(wish.protocol, wish.model, wish.label, options.prompt_hash, params, shown=True)
    stored = drafts.get_run(db, task.id, wish.label)
    if stored is None:
        return drafts.add_run(db, task.id, wanted, current.id)
    same = (stored.protocol, stored.model, stored.prompt_hash, dict(stored.params)) == (
        wanted.protocol,
        wanted.model,
        wanted.prompt_hash,
        params,
    )
    if not same:
        raise InputError(
            f"The run “{wish.label}” was made with another model, prompt or settings, and drafts are never changed: "
            "give this one another label."
        )
    return stored


def list_left(
    db: Database, task: Task, run: Run | None, current: CriteriaSet, wish: Wish
) -> Iterator[tuple[int, int]]:
    """(instance, criterion) pairs that the run has still to draft, as far as the wish goes.

    A run that was not opened yet (None) has to draft them all.
    """
    ids = [criterion.id for criterion in current.criteria]
    left = drafts.list_undrafted(db, task.id, run.id if run else 0, ids, retry_unscored=wish.retry_unscored)
    return islice(left, wish.limit)


@use_case(OWNERS)
def start_job(context: Context, person: Person, slug: str, wish: Wish) -> Job:
    """Queue a pre-fill; a worker (``study.worker``) carries it out.

    Raises:
        NotFoundError, InputError: see ``prepare_run``.
    """
    prepared = prepare_run(context, person, slug, wish)
    with context.store.write() as db:
        return jobs.add_job(
            db,
            Job(
                kind=KIND,
                task=prepared.task.id,
                state=JobState.QUEUED,
                params={"slug": slug, "wish": asdict(complete_wish(context, wish))},
                total=prepared.total,
                message=prepared.run.label,
                created_by=person.name,
            ),
        )


def read_wish(params: Mapping[str, object]) -> Wish:
    """The wish that a job was started with."""
    values = dict(params["wish"])  # type: ignore[call-overload]
    return Wish(**values | {"prices": Prices(**values["prices"])})


@use_case(OWNERS)
def list_jobs(context: Context, person: Person, slug: str) -> list[Job]:
    """See a task's pre-fills and how far they are, newest first."""
    with context.store.read() as db:
        return jobs.list_jobs(db, require_task(db, slug).id)


@use_case(OWNERS)
def cancel_job(context: Context, person: Person, job: int) -> None:
    """Stop a pre-fill; what it has drafted stays, and it can be started again."""
    with context.store.write() as db:
        found = jobs.get_job(db, job)
        if found and found.state in (JobState.QUEUED, JobState.RUNNING):
            jobs.update_job(db, job, state=JobState.CANCELLED, message="cancelled; what was drafted is kept")


@use_case(OWNERS)
def restart_job(context: Context, person: Person, slug: str, *, retry_unscored: bool = False) -> Job:
    """Queue the newest pre-fill again: what it lacks, or with ``retry_unscored`` what could not be read.

    Raises:
        NotFoundError: nothing was pre-filled before.
    """
    listed = list_jobs(context, person, slug)
    if not listed:
        raise NotFoundError(f"Nothing was pre-filled for “{slug}” yet: start a pre-fill first.")
    wish = replace(read_wish(listed[0].params), retry_unscored=retry_unscored)
    return start_job(context, person, slug, wish)
