"""Have a model write the criteria of each instance, or judge with existing ones, through the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coeval.domain import Ask, Instance, Person, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.queries import Criterion, Judgment, Run
from coeval.extensions.rubrics.questions import DraftedCriteria, RubricsRun, ask_criteria, ask_judgments
from coeval.extensions.rubrics.reviews import ensure_taken
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.running.pool import UNFORESEEN
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.drafting.item_runs import ItemReport, run_items
from coeval.usecases.drafting.model_requests import ask_further

WAYS = ("instance", "criterion")
LEAST, MOST = 1, 30
"""The range for the number of criteria in one request to a model."""


@use_case(OWNERS)
async def draft_rubrics(context: Context, person: Person, slug: str, settings: RubricsRun) -> ItemReport:
    """Have a model write criteria for each instance of a task that has none.

    Raises:
        ModelError: no model is set up.
        InputError: a setting is out of range.
    """
    if not LEAST <= settings.count <= MOST:
        raise InputError(f"The number of criteria is {settings.count}: choose {LEAST} to {MOST}.")
    task, run, settings = _begin(context, person, slug, settings, "criteria")
    with context.store.read() as db:
        with_criteria = queries.list_task_criteria(db, task.id)
        instances = [
            instance for instance in tasks.list_instances(db, task.id) if instance.id not in with_criteria
        ]

    async def ask_item(ask: Ask, instance: Instance) -> Sequence[DraftedCriteria]:
        return [await ask_criteria(ask, task, instance, settings)]

    def keep(db: Database, drafts: Sequence[DraftedCriteria]) -> int:
        # another run may have written criteria meanwhile
        fresh = [draft for draft in drafts if not queries.list_criteria(db, draft.instance)]
        return sum(
            queries.add_criteria(db, draft.instance, draft.rubrics, run.id, draft.rung) for draft in fresh
        )

    return await run_items(context, settings, instances, ask_item, keep)


@use_case(OWNERS)
async def judge_rubrics(context: Context, person: Person, slug: str, settings: RubricsRun) -> ItemReport:
    """Have a model judge every instance of a task on its own criteria, except for judgments that the run already has.

    Raises:
        ModelError: no model is set up.
        InputError: a setting is out of range, or no instance has criteria.
    """
    task, run, settings = _begin(context, person, slug, settings, "judgments")
    with context.store.read() as db:
        items, attempts = _list_items(db, task, run, settings)
        instances = {instance.id: instance for instance in tasks.list_instances(db, task.id)}
        shown = queries.get_shown_run(db, task.id)
    if settings.show or shown is None:
        with context.store.write() as db:
            queries.show_run(db, task.id, run.id, person.name)

    async def ask_item(ask: Ask, criteria: Sequence[Criterion]) -> Sequence[Judgment]:
        further = ask_further(ask, 1 + max(attempts.get(criterion.id, 0) for criterion in criteria))
        try:
            return await ask_judgments(further, task, instances[criteria[0].instance], criteria, settings)
        except CallError as error:
            if error.kind not in UNREAD:
                raise
            reason, raw = str(error), error.received
        except UNFORESEEN as error:
            reason, raw = f"The answer could not be read ({type(error).__name__}: {str(error)[:200]}).", ""
        return [Judgment(criterion.id, None, reason=reason, raw=raw) for criterion in criteria]

    def keep(db: Database, judgments: Sequence[Judgment]) -> int:
        queries.record_judgments(db, run.id, judgments)
        return sum(judgment.value is not None for judgment in judgments)

    return await run_items(context, settings, items, ask_item, keep)


def _list_items(
    db: Database, task: Task, run: Run, settings: RubricsRun
) -> tuple[list[list[Criterion]], Mapping[int, int]]:
    """Return the criteria of each question, and the run's number of attempts at each criterion."""
    judgments = queries.list_judgments(db, run.id)
    done = {
        number
        for number, judgment in judgments.items()
        if judgment.value is not None or not settings.retry_unscored
    }
    by_instance = queries.list_task_criteria(db, task.id)
    if not by_instance:
        raise InputError(
            f"No instance of “{task.slug}” has its own criteria: import a file with some, or draft them "
            f"with “rubrics draft --task {task.slug}”."
        )
    items: list[list[Criterion]] = []
    for criteria in by_instance.values():
        missing = [criterion for criterion in criteria if criterion.id not in done]
        if missing:
            items += [missing] if run.way == "instance" else [[criterion] for criterion in missing]
    return items, queries.count_attempts(db, run.id)


def _begin(
    context: Context, person: Person, slug: str, settings: RubricsRun, kind: str
) -> tuple[Task, Run, RubricsRun]:
    """Return the task, the run, and the complete settings; create the run if its label is new."""
    if settings.way not in WAYS:
        raise InputError(f"“{settings.way}” is not a way to ask; choose {' or '.join(WAYS)}.")
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_taken(context, task)
    settings = settings.complete(context)
    label, model, way = settings.label, settings.model, settings.way
    with context.store.write() as db:
        run = queries.find_run(db, task.id, kind, label) or queries.add_run(
            db, task.id, kind, label, model, way, person.name
        )
    if (run.model, run.way) != (model, way):
        raise InputError(
            f"The run “{label}” used {run.model} and one question per {run.way}: give another label for "
            "other settings."
        )
    return task, run, settings


@use_case(TEAM)
def list_rubrics_runs(context: Context, person: Person, slug: str) -> list[tuple[Run, bool]]:
    """Return each run that wrote criteria or judged, and whether annotators see it."""
    with context.store.read() as db:
        task = require_task(db, slug)
        shown = queries.get_shown_run(db, task.id)
        return [(run, shown is not None and run.id == shown.id) for run in queries.list_runs(db, task.id)]


@use_case(OWNERS)
def show_rubrics_run(context: Context, person: Person, slug: str, label: str) -> Run:
    """Show annotators the judgments of another run.

    Raises:
        NotFoundError: no run of judgments has that label.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        run = require_judging(db, task, label)
        queries.show_run(db, task.id, run.id, person.name)
        return run


def require_judging(db: Database, task: Task, label: str = "") -> Run:
    """Return the run of judgments with that label, or the one that annotators see.

    Raises:
        NotFoundError: there is no such run; the message lists the existing runs.
    """
    run = queries.find_run(db, task.id, "judgments", label) if label else queries.get_shown_run(db, task.id)
    if run is None:
        labels = ", ".join(each.label for each in queries.list_runs(db, task.id) if each.kind == "judgments")
        named = f" called “{label}”" if label else ""
        raise NotFoundError(
            f"“{task.slug}” has no run of judgments{named}; the runs are: {labels or 'none'}."
        )
    return run
