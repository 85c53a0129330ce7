"""A run made ready: its protocol, the run on record, and the items that are still to be judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from coeval.domain import CriteriaSet, Instance, Person, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.llm.protocols.protocol import Brief, Item, Items, Protocol, Questions
from coeval.llm.protocols.registry import build_protocol, get_protocol
from coeval.store import Database
from coeval.store.queries import archive, criteria, tasks
from coeval.store.queries.drafting import comparisons, drafts, judge_helps
from coeval.store.queries.judging import corrections
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.drafting.assistants import choose_assistants, ensure_scores
from coeval.study.drafting.run_settings import RunSettings
from coeval.study.drafting.shown_examples import Beside


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pre-fill ready to go: the run, its protocol, and the items still to be judged.

    ``beside`` gives the protocol for an instance: with the run's examples, where it shows any.
    """

    task: Task
    run: Run
    protocol: Protocol
    items: Items
    beside: Beside


@use_case(OWNERS)
def prepare_run(context: Context, person: Person, slug: str, settings: RunSettings) -> Prepared:
    """Open a run, or take up the one of the same label where it was left.

    Raises:
        NotFoundError: the task has no criteria set or no instances.
        InputError: a run of that label was made with other settings, or fusion has no plan yet.
    """
    settings = settings.complete(context.settings)
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        stored = drafts.get_run(db, task.id, settings.label)
    if stored is not None and needs_plan(settings):
        settings = replace(settings, plan=str(stored.params.get("plan", "")))
    if needs_plan(settings):
        raise InputError(
            "Fusion needs a plan: have the model write one, look at it, and start the run with it."
        )
    protocol = prepare_protocol(context, task, current, settings)
    with context.store.write() as db:
        run = _ensure_run(db, task, current, settings, protocol)
        items = protocol.group(list_left(db, task, run, current, settings))
        shown = corrections.list_run_examples(db, task.id).get(run.id, ())
    return Prepared(task, run, protocol, items, Beside(protocol, shown))


def needs_plan(settings: RunSettings) -> bool:
    """Whether the protocol follows a plan and the settings hold none."""
    return get_protocol(settings.protocol).uses_assistants and not (settings.plan or settings.ablation)


def require_ready(db: Database, slug: str) -> tuple[Task, CriteriaSet]:
    """The task and its criteria set, where there is something to draft by it."""
    task = require_task(db, slug)
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(f"“{slug}” has no established criteria: vote on them first, or import them.")
    if not tasks.count_instances(db, task.id):
        raise NotFoundError(f"“{slug}” has no instances: import some first.")
    return task, current


def prepare_protocol(context: Context, task: Task, current: CriteriaSet, settings: RunSettings) -> Protocol:
    """The protocol that the settings name, with its steps; assistants' scores are computed and stored here.

    Raises:
        InputError: there is no such protocol or assistant.
    """
    by_id = {criterion.id: criterion for criterion in current.criteria}
    assisted = get_protocol(settings.protocol).uses_assistants and not settings.ablation
    with context.store.read() as db:
        if get_protocol(settings.protocol).compares and not any(
            comparisons.list_uncompared(db, task.id, 0, by_id)
        ):
            raise InputError(
                "There is nothing to compare: no document has two outputs. Import them with a column “document” that "
                "names what they are outputs for."
            )
        steps = judge_helps.get_steps(db, by_id) if settings.steps else {}
        chosen = choose_assistants(db, task, settings.assistants) if assisted else []
    options = settings.judge_options({by_id[criterion].text: text for criterion, text in steps.items()})
    scores = ensure_scores(context, task, chosen) if chosen else {}  # it needs pandas, which takes 50 MB
    rivals = partial(_list_rivals, context)
    return build_protocol(Brief(task, by_id, options, settings.plan, chosen, scores, rivals))


def _list_rivals(context: Context, instance: Instance) -> list[Instance]:
    with context.store.read() as db:
        return comparisons.list_rivals(db, instance)


def questions_of(context: Context, protocol: Protocol | Beside, item: Item) -> Questions:
    """The questions of an item, as ``Protocol.render_calls`` gives them."""
    with context.store.read() as db:
        instance = tasks.get_instance(db, item.instance)
    assert instance is not None
    chosen = protocol(instance) if isinstance(protocol, Beside) else protocol
    return chosen.render_calls(item, instance)


_LATER = {
    "top_p": None,
    "max_tokens": None,
    "reasoning_effort": "",
    "reference": False,
    "criteria_per_call": 1,
}
"""Parameters that runs of an earlier version do not record, with what those runs were made with."""


def _params(settings: RunSettings, protocol: Protocol) -> dict[str, object]:
    """What a run records of how it was made, beside protocol, model and prompt."""
    params: dict[str, object] = {
        "samples": protocol.answers,
        "temperature": settings.temperature,
        "persona": settings.persona,
        "logprobs": settings.logprobs,
        "steps": dict(protocol.options.steps),
    }
    if settings.endpoint:
        params["endpoint"] = settings.endpoint
    params |= {name: value for name in _LATER if (value := getattr(settings, name)) != _LATER[name]}
    if protocol.uses_assistants:
        names = [assistant.name for assistant in protocol.brief.assistants]
        params |= {"plan": protocol.brief.plan, "assistants": names}
    return params


def _ensure_run(
    db: Database, task: Task, current: CriteriaSet, settings: RunSettings, protocol: Protocol
) -> Run:
    params = _params(settings, protocol)
    shown = not protocol.compares  # annotators are shown drafts
    new = Run(settings.protocol, settings.model, settings.label, protocol.prompt_hash, params, shown=shown)
    stored = drafts.get_run(db, task.id, settings.label)
    if stored is None:
        return drafts.add_run(db, task.id, new, current.id)
    if stored.id in archive.list_archived_run_ids(db):
        raise InputError(
            f"The run “{settings.label}” is archived: restore it to go on with it, or give this one another label."
        )
    before = {"endpoint": settings.endpoint} | dict(stored.params)  # runs did not always record it
    if settings.replay:
        params["endpoint"] = before["endpoint"]
    same = (stored.protocol, stored.model, stored.prompt_hash) == (new.protocol, new.model, new.prompt_hash)
    if not same or before != {"endpoint": ""} | params:
        raise InputError(
            f"The run “{settings.label}” was made with another model, endpoint, prompt or settings, and drafts "
            "are never changed: give this one another label."
        )
    return stored


def list_left(
    db: Database, task: Task, run: Run | None, current: CriteriaSet, settings: RunSettings
) -> Iterator[tuple[int, int]]:
    """(instance, criterion) pairs that the run has still to draft, as far as the settings go.

    A run that was not opened yet (None) has to draft them all.
    """
    ids = [criterion.id for criterion in current.criteria]
    compares = get_protocol(settings.protocol).compares
    list_missing = comparisons.list_uncompared if compares else drafts.list_undrafted
    left = list_missing(db, task.id, run.id if run else 0, ids, retry_unscored=settings.retry_unscored)
    if settings.pilot:
        chosen = _list_pilot(db, task, settings.pilot)
        left = (pair for pair in left if pair[0] in chosen)
    return islice(left, settings.limit)


def _list_pilot(db: Database, task: Task, size: int) -> set[int]:
    """The instances of a pilot: so many, spread evenly over the task."""
    total = tasks.count_instances(db, task.id)
    return set(
        tasks.list_ids_at(db, task.id, [1 + place * total // size for place in range(min(size, total))])
    )
