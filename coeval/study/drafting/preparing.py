"""The model drafts: criteria for a task, and evaluations of every instance by every criterion.

A pre-fill is a job in the database: it goes on without the page that started it, can be cancelled, and after
a crash goes on where it was. What is drafted is derived from the drafts themselves, and what was paid for
from the ledger, so there is no state to lose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice

from coeval.domain import CriteriaSet, Job, JobState, Person, Proposal, Request, Run, Task
from coeval.errors import InputError, ModelError, NotFoundError
from coeval.llm.client.client import Client, Exchange
from coeval.llm.prompting.options import COEVAL, FUSION, JudgeOptions
from coeval.llm.protocols.ideation import draft_criteria as ask_for_criteria
from coeval.llm.running.estimate import ANSWER_TOKENS
from coeval.llm.running.forecast import Forecast, forecast
from coeval.llm.running.ledger import Prices
from coeval.llm.running.runner import Runner, Sender
from coeval.store import Database
from coeval.store.queries import criteria, tasks
from coeval.store.queries.drafting import drafts, jobs, judge_helps
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.drafting.assistants import choose_assistants, ensure_scores
from coeval.study.drafting.judges import ByCriterion, Fused, Item, Judge, Questions

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
    steps: bool = False
    """Whether to give the evaluation steps of each criterion, which are written where there are none."""
    plan: str = ""
    assistants: tuple[str, ...] = ()
    """For fusion: measures by name, or score columns as ``column:low:high``; none stands for all measures."""
    ablation: bool = False
    """For fusion: the same questions without assistants, their scores and the plan."""


def options_of(wish: Wish, steps: Mapping[str, str] | None = None) -> JudgeOptions:
    """How each judgment of a pre-fill is asked for; ``steps`` by the text of their criterion.

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
        steps=steps or {},
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

    async def send(self, request: Request, answers: int = 1) -> Exchange:
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
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        stored = drafts.get_run(db, task.id, wish.label)
        pairs = list(list_left(db, task, stored, current, wish))
    judge = build_judge(context, task, current, wish)
    items = judge.group(pairs)
    with context.store.read() as db:
        sample = []
        for item in items[:: max(1, len(items) // ESTIMATED_FROM)]:
            sample += ask_of(db, judge, item)
    answers = options_of(wish).answers
    return forecast(
        sample,
        len(items) * answers,
        wish.prices,
        ledger=StoredLedger(context.store),
        concurrency=wish.concurrency,
        answer_tokens=ANSWER_TOKENS[wish.protocol]
        if wish.protocol in ANSWER_TOKENS
        else ANSWER_TOKENS[COEVAL],
    )


def ask_of(db: Database, judge: Judge, item: Item) -> Questions:
    """The questions of an item, as ``Judge.questions`` gives them."""
    instance = tasks.get_instance(db, item.instance)
    assert instance is not None
    return judge.questions(item, instance)


def build_judge(context: Context, task: Task, current: CriteriaSet, wish: Wish) -> Judge:
    """The judge that a wish describes; for fusion the assistants' scores are computed and stored here.

    Raises:
        InputError: there is no such protocol or assistant.
    """
    by_id = {criterion.id: criterion for criterion in current.criteria}
    with context.store.read() as db:
        steps = judge_helps.get_steps(db, by_id) if wish.steps else {}
        chosen = (
            [] if wish.ablation or wish.protocol != FUSION else choose_assistants(db, task, wish.assistants)
        )
    options = options_of(wish, {by_id[criterion].text: text for criterion, text in steps.items()})
    if wish.protocol != FUSION:
        return ByCriterion(task, by_id, options)
    scores = ensure_scores(context, task, chosen)
    return Fused(task, by_id, options, wish.plan, chosen, scores)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pre-fill ready to go: the run, the judge, and the items still to be judged."""

    task: Task
    run: Run
    judge: Judge
    items: list[Item]


@use_case(OWNERS)
def prepare_run(context: Context, person: Person, slug: str, wish: Wish) -> Prepared:
    """Open a run, or take up the one of the same label where it was left.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
        InputError: a run of that label was made with other settings, or fusion has no plan yet.
    """
    wish = complete_wish(context, wish)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        stored = drafts.get_run(db, task.id, wish.label)
    if stored is not None and wish.protocol == FUSION and not wish.plan:
        wish = replace(wish, plan=str(stored.params.get("plan", "")))
    if wish.protocol == FUSION and not wish.plan and not wish.ablation:
        raise InputError(
            "Fusion needs a plan: have the model write one, look at it, and start the run with it."
        )
    judge = build_judge(context, task, current, wish)
    with context.store.write() as db:
        run = _ensure_run(db, task, current, wish, judge)
        pairs = list(list_left(db, task, run, current, wish))
    return Prepared(task, run, judge, judge.group(pairs))


def require_ready(db: Database, slug: str) -> tuple[Task, CriteriaSet]:
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
    kind = "ablation" if wish.ablation else "steps" if wish.steps else ""
    expected = "expected score" if wish.logprobs else ""
    parts = [model, wish.protocol, kind, samples, heat, wish.persona, expected]
    return replace(
        wish,
        model=model,
        label=wish.label or " · ".join(part for part in parts if part),
        concurrency=wish.concurrency or context.settings.concurrency,
    )


def _ensure_run(db: Database, task: Task, current: CriteriaSet, wish: Wish, judge: Judge) -> Run:
    options = judge.options
    params: dict[str, object] = {
        "samples": options.answers,
        "temperature": wish.temperature,
        "persona": wish.persona,
        "logprobs": wish.logprobs,
        "steps": dict(options.steps),
    }
    if isinstance(judge, Fused):
        params |= {"plan": judge.plan, "assistants": [one.name for one in judge.assistants]}
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
        _refuse_second(db, prepared)
        return jobs.add_job(
            db,
            Job(
                kind=KIND,
                task=prepared.task.id,
                state=JobState.QUEUED,
                params={"slug": slug, "wish": asdict(complete_wish(context, wish))},
                total=len(prepared.items),
                message=prepared.run.label,
                created_by=person.name,
            ),
        )


def _refuse_second(db: Database, prepared: Prepared) -> None:
    """One job at a time for a run: a second would ask, and pay, for the same."""
    jobs.mark_interrupted(db)
    for job in jobs.list_active(db, prepared.task.id):
        if read_wish(job.params).label == prepared.run.label:
            raise InputError(
                f"The run “{prepared.run.label}” is under way already (job {job.id}, started by {job.created_by}): "
                "wait until it is done, or cancel it first."
            )


def read_wish(params: Mapping[str, object]) -> Wish:
    """The wish that a job was started with."""
    values = dict(params["wish"])  # type: ignore[call-overload]
    values["prices"] = Prices(**values["prices"])
    values["assistants"] = tuple(values["assistants"])
    return Wish(**values)


@use_case(OWNERS)
def list_jobs(context: Context, person: Person, slug: str) -> list[Job]:
    """See a task's pre-fills and how far they are, newest first."""
    with context.store.read() as db:
        task = require_task(db, slug)
        interrupted = jobs.has_interrupted(db)
    if interrupted:
        with context.store.write() as db:
            jobs.mark_interrupted(db)
    with context.store.read() as db:
        return jobs.list_jobs(db, task.id)


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
