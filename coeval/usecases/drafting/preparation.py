"""Prepare a run: its protocol, examples, record and remaining items; and preview its requests and its cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from coeval.domain import CriteriaSet, Instance, Person, Request, Run, Task
from coeval.domain.runs import RunExample
from coeval.errors import InputError, NotFoundError
from coeval.llm.prompting.questions import Example, with_examples
from coeval.llm.prompting.template_files import JUDGE_SETTINGS
from coeval.llm.protocols.protocol import (
    Assistant,
    Brief,
    Item,
    Items,
    Protocol,
    Questions,
    build_protocol,
    get_protocol,
)
from coeval.llm.running.progress import Forecast, forecast
from coeval.store import Database
from coeval.store.queries import criteria, drafts, jobs, tasks
from coeval.store.queries.calls import StoredLedger
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.images import ShownImage, show_images


class Beside:
    """Returns the protocol for an instance, which is ``protocol`` itself if the run has no examples."""

    def __init__(self, protocol: Protocol, examples: Sequence[RunExample] = ()) -> None:
        self.protocol = protocol
        self._examples = tuple(
            (example.document, Example.model_validate_json(example.json)) for example in examples
        )
        self._known: dict[str, Protocol] = {}

    def __call__(self, instance: Instance) -> Protocol:
        if not self._examples:
            return self.protocol
        document = instance.document or instance.external_id
        documents = {document for document, _ in self._examples}
        key = document if document in documents else ""
        if key not in self._known:
            self._known[key] = self._build(
                [example for document, example in self._examples if document != key]
            )
        return self._known[key]

    def _build(self, shown: Sequence[Example]) -> Protocol:
        return show_examples(self.protocol, shown)


def show_examples(protocol: Protocol, shown: Sequence[Example]) -> Protocol:
    """Return the protocol with examples in the guides of their criteria."""
    brief = protocol.brief
    criteria = {
        number: with_examples(
            criterion, [example for example in shown if example.criterion == criterion.text], brief.task
        )
        for number, criterion in brief.criteria.items()
    }
    return build_protocol(replace(brief, criteria=criteria))


# A prepared run: its protocol, its record, and the items that are still to be judged.


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared pre-fill: the run, its protocol, and the remaining items.

    ``beside`` returns the protocol for an instance, with the run's examples if it has any.
    """

    task: Task
    run: Run
    protocol: Protocol
    items: Items
    beside: Beside


@use_case(OWNERS)
def prepare_run(
    context: Context, person: Person, slug: str, settings: RunSettings, *, holder: str = ""
) -> Prepared:
    """Open a run, or continue the run with the same label. ``holder`` is the worker that holds its lease.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
        InputError: there is no description, a fusion has no plan, or this run is in use with other settings.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        stored = drafts.get_run(db, task.id, settings.label)
    require_description(task)
    if stored is not None and needs_plan(settings):
        settings = replace(settings, plan=str(stored.params.get("plan", "")))
    if needs_plan(settings):
        raise InputError("Fusion needs a plan: let the model write one, check it, and start the run with it.")
    protocol = prepare_protocol(context, task, current, settings)
    with context.store.write() as db:
        run = _ensure_run(db, task, current, settings, protocol, holder)
        items = protocol.group(list_left(db, task, run, current, settings))
        shown = criteria.list_run_examples(db, task.id).get(run.id, ())
    return Prepared(task, run, protocol, items, Beside(protocol, shown))


def needs_plan(settings: RunSettings) -> bool:
    """Return whether the protocol needs a plan that the settings lack."""
    return get_protocol(settings.protocol).uses_assistants and not (settings.plan or settings.ablation)


def require_description(task: Task) -> None:
    """Check that the task has a description for the judge.

    Raises:
        InputError: the task has no description.
    """
    if not task.description.strip():
        raise InputError(
            f"The task “{task.slug}” has no description, so a judge would know only its name. Describe the systems' "
            "task: under Tasks in Set-up, or with python -m coeval import FILE --task "
            f"{task.slug} --description TEXT.",
            told=f"The task “{task.slug}” has no description, so a judge would know only its name. Write under Tasks "
            "the task that the systems got.",
        )


def require_ready(db: Database, slug: str) -> tuple[Task, CriteriaSet]:
    """Return the task and its criteria set if both are ready for drafts."""
    task = require_task(db, slug)
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(f"“{slug}” has no established criteria: vote on them first, or import them.")
    if not tasks.count_instances(db, task.id):
        raise NotFoundError(f"“{slug}” has no instances: import some first.")
    return task, current


def prepare_protocol(context: Context, task: Task, current: CriteriaSet, settings: RunSettings) -> Protocol:
    """Return the protocol of a run's settings, with its steps. Compute and store the scores of its assistants.

    Raises:
        InputError: the protocol or an assistant does not exist.
    """
    by_id = {criterion.id: criterion for criterion in current.criteria}
    protocol = get_protocol(settings.protocol)
    assisted = protocol.uses_assistants and not settings.ablation
    with context.store.read() as db:
        if protocol.compares and not any(drafts.list_uncompared(db, task.id, 0, by_id, most=1)):
            raise InputError(
                "There is nothing to compare: no document has two outputs. Import the outputs with a "
                "column “document” that names their input."
            )
        steps = criteria.get_steps(db, by_id) if settings.steps else {}
        instances = list(tasks.list_instances(db, task.id)) if assisted else []
    options = settings.judge_options({by_id[criterion].text: text for criterion, text in steps.items()})
    chosen = protocol.choose_assistants(instances, task, settings.assistants) if assisted else ()
    scores = {
        assistant.name: _ensure_scores(context, task, protocol, assistant, instances) for assistant in chosen
    }
    rivals = partial(_list_rivals, context)
    return build_protocol(Brief(task, by_id, options, settings.plan, chosen, scores, rivals))


def _ensure_scores(
    context: Context,
    task: Task,
    protocol: type[Protocol],
    assistant: Assistant,
    instances: Sequence[Instance],
) -> dict[str, float]:
    """Return an assistant's scores by the instance's external id; compute and store missing ones."""
    with context.store.read() as db:
        stored = drafts.get_assistant_scores(db, task.id, assistant.name)
    left = [instance for instance in instances if instance.external_id not in stored]
    computed = protocol.score_assistants([assistant], left)[assistant.name] if left else []
    new = {
        instance.external_id: None if math.isnan(score) else score
        for instance, score in zip(left, computed, strict=True)
    }
    with context.store.write() as db:
        drafts.record_assistant_scores(db, task.id, assistant.name, new)
    return stored | {name: score for name, score in new.items() if score is not None}


def _list_rivals(context: Context, instance: Instance) -> list[Instance]:
    with context.store.read() as db:
        return drafts.list_rivals(db, instance)


def questions_of(context: Context, protocol: Protocol | Beside, item: Item) -> Questions:
    """Return the requests for an item, from ``Protocol.render_calls``."""
    with context.store.read() as db:
        instance = tasks.get_instance(db, item.instance)
    assert instance is not None
    chosen = protocol(instance) if isinstance(protocol, Beside) else protocol
    return chosen.render_calls(item, instance)


_RECORDED = ("model", "protocol", "samples", "temperature", "persona", "logprobs")
"""The settings of a judge that every run records. The others are recorded where they differ from the default."""


def _params(settings: RunSettings, protocol: Protocol) -> dict[str, object]:
    """Return the run's recorded parameters except protocol, model and prompt."""
    params: dict[str, object] = {
        "samples": protocol.answers,
        "temperature": settings.temperature,
        "persona": settings.persona,
        "logprobs": settings.logprobs,
        "steps": dict(protocol.options.steps),
    }
    if settings.endpoint:
        params["endpoint"] = settings.endpoint
    params |= {
        name: value
        for name, default in JUDGE_SETTINGS.items()
        if name not in _RECORDED and (value := getattr(settings, name)) != default
    }
    if protocol.uses_assistants:
        names = [assistant.name for assistant in protocol.brief.assistants]
        params |= {"plan": protocol.brief.plan, "assistants": names}
    return params


def _ensure_run(
    db: Database,
    task: Task,
    current: CriteriaSet,
    settings: RunSettings,
    protocol: Protocol,
    holder: str,
) -> Run:
    params = _params(settings, protocol)
    new = Run(settings.protocol, settings.model, settings.label, protocol.prompt_hash, params)
    stored = drafts.get_run(db, task.id, settings.label)
    if stored is None:
        return drafts.add_run(db, task.id, new, current.id)
    before = {"endpoint": settings.endpoint} | dict(stored.params)  # earlier runs did not record the endpoint
    if settings.replay:
        params["endpoint"] = before["endpoint"]
    same = (stored.protocol, stored.model, stored.prompt_hash) == (new.protocol, new.model, new.prompt_hash)
    if not same or before != {"endpoint": ""} | params:
        if _is_unused(db, task, stored, holder):
            return drafts.restate_run(db, stored, new, current.id)
        said = (
            f"The run “{settings.label}” has another model, endpoint, prompt or settings, and drafts never "
            "change: give this run another label"
        )
        raise InputError(f"{said} with --label.", told=f"{said}, under More settings.")
    return stored


def _is_unused(db: Database, task: Task, run: Run, holder: str) -> bool:
    """Return whether a run has no drafts, and nobody but ``holder`` is making some or waits for a batch."""
    has_drafts = any([*drafts.count_drafts(db, run.id).values(), *drafts.count_comparisons(db, run.id)])
    lease = jobs.get_live_lease(db, f"run {task.slug}: {run.label}")
    is_busy = lease is not None and lease.holder != holder
    active = (job for kind in jobs.PREFILLS for job in jobs.list_active(db, task.id, kind))
    return not (has_drafts or is_busy or any(job.label == run.label for job in active))


def list_left(
    db: Database, task: Task, run: Run | None, current: CriteriaSet, settings: RunSettings
) -> Iterator[tuple[int, int]]:
    """Return the (instance, criterion) pairs that the run still has to draft under its settings.

    A run that was not opened yet (None) has to draft all of them.
    """
    ids = [criterion.id for criterion in current.criteria]
    compares = get_protocol(settings.protocol).compares
    list_missing = drafts.list_uncompared if compares else drafts.list_undrafted
    again, most = settings.retry_unscored, settings.limit
    return list_missing(db, task.id, run.id if run else 0, ids, retry_unscored=again, most=most)


# Previews of a run: the full text of a request, and the estimated cost.

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
                [f"--- {turn.role} ---", turn.content, *(f"[image: {image[:200]}]" for image in turn.images)]
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
    instance = tasks.find_instance(db, task, external_id)
    if instance is None:
        raise NotFoundError(f"There is no instance “{external_id[:80]}”: use the id of the imported file.")
    return instance
