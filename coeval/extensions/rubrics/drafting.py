"""Have a model write the criteria of each instance, or judge with existing ones, through the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coeval.datasets.text import check_text
from coeval.domain import Ask, Instance, Person, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.queries import Criterion, Judgment, Run
from coeval.extensions.rubrics.questions import Asking, ask_criteria, ask_judgments
from coeval.extensions.rubrics.reviews import ensure_taken
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.running.ledger import Prices
from coeval.llm.running.pool import UNFORESEEN, Outcome, run_all
from coeval.llm.running.progress import Progress, Usage
from coeval.rules.answer_forms import tell_forms
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.drafting.model_requests import ask_further, build_runner

WAYS = ("instance", "criterion")
MAX_LABEL = 200
LEAST, MOST = 1, 30
"""The range for the number of criteria in one request to a model."""


@dataclass(frozen=True, slots=True)
class RubricsRun:
    """The settings of a run. A run with an existing label continues with the missing items."""

    model: str = ""
    label: str = ""
    way: str = "instance"
    count: int = 8
    temperature: float | None = None
    max_tokens: int | None = None
    reference: bool = False
    retry_unscored: bool = False
    show: bool = False
    """True to show these judgments to annotators; those of a task's first run are always shown."""
    concurrency: int | None = None
    prices: Prices = Prices()


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of a run.

    ``written`` counts criteria, or judgments with a value; ``unscored`` counts instances without criteria, or judgments
    without a value.
    """

    label: str
    asked: int
    written: int
    unscored: int
    failed: int
    usage: Usage
    message: str = ""
    forms: tuple[str, ...] = ()
    """Sentences on the form of the answers; see ``tell_forms``."""

    @property
    def complete(self) -> bool:
        return not self.failed and not self.message

    def __str__(self) -> str:
        said = f"{self.label}: {self.written:,} written, {self.unscored:,} unscored, {self.failed:,} questions failed"
        return " ".join(filter(None, (f"{said}.", self.message, *self.forms)))


Found = tuple[int, tuple[Any, ...], str, str]
"""The id of an instance, its criteria or judgments, the reason if there are none, and the rung of criteria."""


@use_case(OWNERS)
async def draft_rubrics(
    context: Context,
    person: Person,
    slug: str,
    settings: RubricsRun,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunReport:
    """Have a model write criteria for each instance of a task that has none.

    Raises:
        ModelError: no model is set up.
        InputError: a setting is out of range.
    """
    if not LEAST <= settings.count <= MOST:
        raise InputError(f"The number of criteria is {settings.count}: choose {LEAST} to {MOST}.")
    task, asking, run = _begin(context, person, slug, settings, "criteria")
    with context.store.read() as db:
        known = queries.list_task_criteria(db, task.id)
        instances = {one.id: one for one in tasks.list_instances(db, task.id) if one.id not in known}
    unread: list[str] = []
    rungs: Counter[str] = Counter()

    async def ask_one(ask: Ask, item: int) -> Found:
        reply = await ask_criteria(ask, task, instances[item], settings.count, asking)
        return item, reply.value, reply.reason, reply.rung

    def write(db: Database, found: Iterable[Found]) -> int:
        count = 0
        for instance, rubrics, why, rung in found:
            rungs[rung] += 1
            if why:
                unread.append(why)
            elif not queries.list_criteria(db, instance):  # another run may have written criteria meanwhile
                count += queries.add_criteria(db, instance, rubrics, run.id, rung)
        return count

    report = await _carry_out(context, settings, run.label, list(instances), ask_one, write, on_progress)
    if unread:
        report = replace(
            report, message=f"{report.message} The last answer without criteria: {unread[-1]}.".strip()
        )
    return replace(report, unscored=len(unread), forms=tuple(tell_forms(rungs, len(unread))))


@use_case(OWNERS)
async def judge_rubrics(
    context: Context,
    person: Person,
    slug: str,
    settings: RubricsRun,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunReport:
    """Have a model judge every instance of a task on its own criteria, except for judgments that the run already has.

    Raises:
        ModelError: no model is set up.
        InputError: a setting is out of range, or no instance has criteria.
    """
    task, asking, run = _begin(context, person, slug, settings, "judgments")
    with context.store.read() as db:
        items, attempts = _list_items(db, task, run, settings)
        instances = {one.id: one for one in tasks.list_instances(db, task.id)}
        shown = queries.get_shown_run(db, task.id)
    if settings.show or shown is None:
        with context.store.write() as db:
            queries.show_run(db, task.id, run.id, person.name)
    rungs: Counter[str] = Counter()

    async def ask_one(ask: Ask, item: int) -> Found:
        criteria = items[item]
        instance: Instance = instances[criteria[0].instance]
        further = ask_further(ask, 1 + max(attempts.get(one.id, 0) for one in criteria))
        try:
            judged = await ask_judgments(further, task, instance, criteria, asking)
        except CallError as error:
            if error.kind not in UNREAD:
                raise
            judged = _unscored(criteria, str(error), error.received)
        except UNFORESEEN as error:
            judged = _unscored(
                criteria, f"The answer could not be read ({type(error).__name__}: {str(error)[:200]})."
            )
        return instance.id, tuple(judged), "", ""

    def write(db: Database, found: Iterable[Found]) -> int:
        count = 0
        for _, judged, _, _ in found:
            queries.record_judgments(db, run.id, judged)
            rungs.update(one.rung for one in judged)
            count += sum(one.value is not None for one in judged)
        return count

    report = await _carry_out(context, settings, run.label, range(len(items)), ask_one, write, on_progress)
    return replace(report, unscored=rungs[""], forms=tuple(tell_forms(rungs, rungs[""])))


def _unscored(criteria: Sequence[Criterion], reason: str, raw: str = "") -> list[Judgment]:
    return [Judgment(one.id, None, reason=reason, raw=raw) for one in criteria]


def _list_items(
    db: Database, task: Task, run: Run, settings: RubricsRun
) -> tuple[list[list[Criterion]], Mapping[int, int]]:
    """Return one item per question, and the run's number of attempts at each criterion."""
    held = queries.list_judgments(db, run.id)
    done = {key for key, one in held.items() if one.value is not None or not settings.retry_unscored}
    known = queries.list_task_criteria(db, task.id)
    if not known:
        raise InputError(
            f"No instance of “{task.slug}” has its own criteria: import a file with some, or draft them "
            f"with “rubrics draft --task {task.slug}”."
        )
    items: list[list[Criterion]] = []
    for criteria in known.values():
        missing = [one for one in criteria if one.id not in done]
        if missing:
            items += [missing] if run.way == "instance" else [[one] for one in missing]
    return items, queries.count_attempts(db, run.id)


def _begin(
    context: Context, person: Person, slug: str, settings: RubricsRun, kind: str
) -> tuple[Task, Asking, Run]:
    """Return the task, the model's settings, and the run; create the run if its label is new."""
    if settings.way not in WAYS:
        raise InputError(f"“{settings.way}” is not a way to ask; choose {' or '.join(WAYS)}.")
    model = settings.model or context.settings.model
    label = check_text(" ".join((settings.label or model).split()), "The label")
    if not label or len(label) > MAX_LABEL:
        raise InputError(f"The label of the run needs 1 to {MAX_LABEL} characters: give a shorter one.")
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_taken(context, task)
    build_runner(context, concurrency=1)  # raises an error before anything is written if no model is set up
    with context.store.write() as db:
        run = queries.find_run(db, task.id, kind, label) or queries.add_run(
            db, task.id, kind, label, model, settings.way, person.name
        )
    if (run.model, run.way) != (model, settings.way):
        raise InputError(
            f"The run “{label}” used {run.model} and one question per {run.way}: give another label for "
            "other settings."
        )
    asking = Asking(model, settings.temperature, settings.max_tokens, settings.reference)
    return task, asking, run


async def _carry_out(
    context: Context,
    settings: RubricsRun,
    label: str,
    items: Sequence[int],
    ask_one: Callable[[Ask, int], Any],
    write: Callable[[Database, Iterable[Found]], int],
    on_progress: Callable[[Progress], None] | None,
) -> RunReport:
    """Ask about every item, and store each result as soon as it arrives."""
    written = 0

    def keep(outcomes: Sequence[Outcome[int, Found]]) -> None:
        nonlocal written
        found = [one.result for one in outcomes if one.result is not None]
        with context.store.write() as db:
            written += write(db, found)

    concurrency = settings.concurrency or context.settings.concurrency
    async with build_runner(context, concurrency=concurrency, prices=settings.prices) as runner:
        summary = await run_all(
            items,
            lambda item: ask_one(runner.ask, item),
            concurrency=runner.judgments,
            on_result=keep,
            on_progress=on_progress,
            total=len(items),
            usage=runner.usage,
            unread=_find_unread,
        )
    message = summary.stopped or (summary.errors.most_common(1)[0][0] if summary.errors else "")
    return RunReport(label, len(items), written, 0, summary.failed, summary.usage, message)


def _find_unread(found: Found) -> str:
    """Return why an answer is unreadable; empty if a part of it was read."""
    _, made, why, _ = found
    if why:
        return why
    judged = [one for one in made if isinstance(one, Judgment)]
    return judged[0].reason if judged and all(one.value is None for one in judged) else ""


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
        known = ", ".join(one.label for one in queries.list_runs(db, task.id) if one.kind == "judgments")
        named = f" called “{label}”" if label else ""
        raise NotFoundError(f"“{task.slug}” has no run of judgments{named}; the runs are: {known or 'none'}.")
    return run
