"""Requests to the model through this file's ledger: criteria, evaluation steps and plans for assistants."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TypeVar

from coeval.domain import MAX_REMARK, Answer, Ask, CriteriaSet, JobState, Person, Proposal, Request, Task
from coeval.errors import InputError, ModelError, SupersededError, UnreadableAnswerError
from coeval.llm.client.client import Client
from coeval.llm.prompting.template_files import JudgeOptions, find_templates
from coeval.llm.proposals import MAX_EXAMPLES
from coeval.llm.proposals import draft_criteria as ask_for_criteria
from coeval.llm.proposals import draft_steps as ask_for_steps
from coeval.llm.protocols.protocol import get_protocol
from coeval.llm.running import runner
from coeval.llm.running.ledger import Prices
from coeval.llm.running.progress import Meter, Progress
from coeval.store.queries import criteria, jobs, tasks
from coeval.store.queries.calls import StoredLedger
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.criteria_rounds import RoundState, get_next_version, receive_draft
from coeval.usecases.drafting.preparation import require_ready
from coeval.usecases.drafting.run_settings import RunSettings

MAX_TOKENS = 4096
"""Default limit of an answer, so that a small model that repeats itself ends; with room for reasoning."""

SAMPLES_PER_ATTEMPT = 1000
"""The distance between the sample numbers of two attempts."""

DECISION = "decision"

DECISIONS_OFFERED = (
    "{place} gives typed decisions for {model}: with the protocol decision it returns the probability of each score, "
    "in one request for all criteria and without words to pay for."
)

T = TypeVar("T")


def build_runner(
    context: Context,
    *,
    concurrency: int,
    prices: Prices | None = None,
    replay: bool = False,
    endpoint: str = "",
) -> runner.Runner:
    """Return a runner with this file's ledger; see ``coeval.llm.running.runner.build_runner``.

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


@use_case(OWNERS)
def suggest_decisions(context: Context, person: Person, settings: RunSettings) -> str:
    """Return advice to use typed decisions if the endpoint lists them for the model, or else ""."""
    if settings.protocol == DECISION or settings.replay:
        return ""
    settings = settings.complete(context.settings)

    async def lists() -> bool:
        client = Client(context.settings)
        try:
            return await client.lists_decisions(settings.model)
        finally:
            await client.close()

    try:
        offered = asyncio.run(lists())
    except ModelError:
        return ""
    return DECISIONS_OFFERED.format(model=settings.model, place=settings.endpoint) if offered else ""


def ask_further(ask: Ask, attempt: int) -> Ask:
    """Return a request for samples that no earlier attempt (from 1) has used."""
    first = (attempt - 1) * SAMPLES_PER_ATTEMPT
    return lambda request, sample: ask(request, first + sample)


async def ask_until_new(asking: runner.Runner, draft: Callable[[Ask], Awaitable[T]]) -> T:
    """Return the result of ``draft``, which asks the model for further samples until one answer is new.

    The ledger repeats an unreadable answer to the same request. If all answers came from the ledger, the next
    attempt requests further samples, so that a retry reaches the model.

    Raises:
        UnreadableAnswerError: the model gave a new answer, which could not be read.
        ModelError: no answer could be obtained.
    """
    for attempt in count(1):
        before = asking.usage.calls
        try:
            return await draft(ask_further(asking.ask, attempt))
        except UnreadableAnswerError:
            if asking.usage.calls > before:
                raise
    raise AssertionError("attempts have no end")


# Texts that the model writes before it judges: evaluation steps (auto-CoT) and the plan of a fusion.


async def write_steps(
    context: Context, task: Task, current: CriteriaSet, settings: RunSettings, ask: Ask
) -> None:
    """Store evaluation steps for every criterion that has none."""
    with context.store.read() as db:
        stored = criteria.get_steps(db, [criterion.id for criterion in current.criteria])
    for criterion in current.criteria:
        if criterion.id not in stored:
            model, most = settings.model, settings.max_tokens
            text = await ask_for_steps(ask, task, criterion, model, max_tokens=most)
            with context.store.write() as db:
                criteria.record_steps(db, criterion.id, text, origin=model, by=model)


async def write_plan(
    context: Context, task: Task, current: CriteriaSet, settings: RunSettings, ask: Ask
) -> str:
    """Let the model write a plan for the assistants in the settings; return it."""
    protocol = get_protocol(settings.protocol)
    with context.store.read() as db:
        chosen = protocol.choose_assistants([*tasks.list_instances(db, task.id)], task, settings.assistants)
    options = replace(settings, model=settings.plan_model or settings.model).judge_options()
    return await protocol.draft_plan(ask, task, list(current.criteria), chosen, options)


@use_case(OWNERS)
async def draft_steps(context: Context, person: Person, slug: str, model: str = "") -> dict[str, str]:
    """Let the model write evaluation steps for the criteria that have none; return all, by criterion.

    Raises:
        ModelError: no model is set up, or it wrote no steps.
    """
    with context.store.read() as db:
        task, current = require_ready(db, slug)
    async with build_runner(context, concurrency=1) as runner:
        asked = RunSettings(model or context.settings.model)
        await ask_until_new(runner, lambda ask: write_steps(context, task, current, asked, ask))
    return list_steps(context, person, slug)


@use_case(OWNERS)
def list_steps(context: Context, person: Person, slug: str) -> dict[str, str]:
    """Return the current evaluation steps by the text of their criterion."""
    with context.store.read() as db:
        _, current = require_ready(db, slug)
        stored = criteria.get_steps(db, [criterion.id for criterion in current.criteria])
    return {criterion.text: stored.get(criterion.id, "") for criterion in current.criteria}


@use_case(OWNERS)
def save_steps(context: Context, person: Person, slug: str, criterion: str, text: str) -> None:
    """Set the evaluation steps of a criterion; earlier runs keep theirs.

    Raises:
        InputError: the text is too long, or the criterion is not in the current set.
    """
    if len(text) > MAX_REMARK:
        raise InputError(f"The steps have {len(text):,} characters; shorten them to {MAX_REMARK:,}.")
    with context.store.write() as db:
        _, current = require_ready(db, slug)
        number = next((member.id for member in current.criteria if member.text == criterion), None)
        if number is None:
            raise InputError(f"“{criterion[:60]}” is not in the current criteria set: reload the page.")
        criteria.record_steps(db, number, text.strip(), origin="human", by=person.name)


def _counted(meter: Meter, on_progress: Callable[[Progress], None], ask: Ask) -> Ask:
    """Return ``ask``, which also reports progress; a second request for a sample means an answer in no form."""
    answered: set[int] = set()

    async def asking(request: Request, sample: int) -> Answer:
        answer = await ask(request, sample)
        if sample in answered:
            meter.unread += 1
        else:
            meter.count("")
        answered.add(sample)
        on_progress(meter.read())
        return answer

    return asking


@dataclass(frozen=True, slots=True)
class DraftedCriteria:
    """Proposed criteria, and the vote that they opened; None if they wait as suggestions beside another vote."""

    proposals: tuple[Proposal, ...]
    opened: RoundState | None


@use_case(OWNERS)
async def draft_criteria(
    context: Context,
    person: Person,
    slug: str,
    *,
    model: str = "",
    count: int = 5,
    examples: int = 0,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = MAX_TOKENS,
    templates: str = "",
    version: int | None = None,
    job: int | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> DraftedCriteria:
    """Have a model propose criteria for a task, and open a vote on them if none is open.

    ``version`` is the version of the set that they are for, by default the next one. The job ``job`` ends in the same
    transaction, so that a kill repeats nothing.

    Raises:
        ModelError: no model is set up, or it cannot be reached or read.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        shown = list(tasks.list_instances(db, task.id, limit=min(examples, MAX_EXAMPLES)))
        version = version or get_next_version(db, task)
    async with build_runner(context, concurrency=1) as runner:
        options = JudgeOptions(
            model or context.settings.model,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            templates=find_templates(templates),
        )
        counted = partial(_counted, Meter(1, runner.usage), on_progress)
        proposals = await ask_until_new(
            runner,
            lambda ask: ask_for_criteria(counted(ask), task, options, count=count, examples=shown),
        )
    with context.store.write() as db:
        if job is not None:
            stored = jobs.get_job(db, job)
            if stored is None or stored.state is JobState.CANCELLED:
                raise SupersededError("The draft was stopped. Its answers are kept.")
            jobs.update_job(db, job, state=JobState.DONE, message=f"{len(proposals)} criteria drafted")
        return DraftedCriteria(tuple(proposals), receive_draft(db, person, task, proposals, version))
