"""Create, change, list and archive tasks; return state and language."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from coeval.domain import MAX_TEXT, CriteriaSet, Job, Person, Role, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.language import SOURCE, choose_language, list_languages
from coeval.settings import SignIn
from coeval.store import Database
from coeval.store.queries import assignments, criteria, drafts, jobs, submissions, tasks, teams
from coeval.usecases.access import EVERYONE, OWNERS, TEAM, Context, require_task, use_case

# Creating, changing and listing tasks.

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class TaskState:
    """The state of a task: its imported, established and drafted items."""

    task: Task
    n_instances: int
    version: int
    """The newest established version of the criteria set; 0 before the first."""
    n_criteria: int
    runs: tuple[tuple[Run, int, int], ...]
    """Each run with its numbers of scored and unscored drafts."""
    n_drafted: int = 0
    """The number of runs with drafts, without that of ``prefill``."""
    prefill: Job | None = None
    """The newest pre-fill if it is under way, or ended before its last draft."""
    has_drafts: bool = False
    """True if any run, also that of ``prefill``, has drafts."""
    has_scores: bool = False
    """True if anybody has saved a score."""
    in_progress: bool = False
    """True if somebody who has judged has instances left."""
    can_draft: bool = True
    """False if the server has no model."""


def check_slug(slug: str) -> str:
    """Check a task's short name for commands and addresses, and return it.

    Raises:
        InputError: it contains anything but a-z, 0-9 and inner hyphens, or has more than 64 characters.
    """
    if not SLUG.fullmatch(slug):
        raise InputError(
            f"“{slug[:80]}” cannot be a task's short name: use 1 to 64 of a-z, 0-9 and hyphens, such as eli5."
        )
    return slug


def make_slug(name: str) -> str:
    """Return a short name from a title.

    >>> make_slug("Explain like I'm five!")
    'explain-like-i-m-five'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-") or "task"


def check_task(task: Task) -> Task:
    """Return the task with its texts stripped.

    Raises:
        InputError: a name is missing, a text is too long, the scale has fewer than 2 or more than 11 steps,
            or the language has no catalogue.
    """
    if not task.name.strip():
        raise InputError("The task has no name: give it a few words.")
    for name in ("name", "description", "input_field", "output_field", "guidelines"):
        text = getattr(task, name)
        if len(text) > MAX_TEXT:
            raise InputError(f"The task's {name} has {len(text):,} characters; shorten it to {MAX_TEXT:,}.")
    if not 1 <= task.scale.high - task.scale.low <= 10:
        raise InputError(f"The scale {task.scale} must have 2 to 11 steps, such as 1-5.")
    if task.language not in list_languages():
        languages = ", ".join(list_languages())
        raise InputError(f"The language “{task.language[:20]}” is not available: choose one of {languages}.")
    return replace(
        task,
        slug=check_slug(task.slug),
        name=task.name.strip(),
        description=task.description.strip(),
        input_field=task.input_field.strip() or "Input",
        output_field=task.output_field.strip() or "Output",
    )


@use_case(EVERYONE)
def list_tasks(context: Context, person: Person) -> list[Task]:
    """Return the active tasks; for annotators, only those that they may work on."""
    with context.store.read() as db:
        away = tasks.list_archived_ids(db)
        if person.role is Role.ANNOTATOR:
            away |= teams.list_hidden(db, person.id)
        return [task for task in tasks.list_tasks(db) if task.id not in away]


@use_case(EVERYONE)
def get_task(context: Context, person: Person, slug: str) -> Task:
    """Return a task's texts and settings."""
    with context.store.read() as db:
        return require_task(db, slug)


@use_case(EVERYONE)
def get_revision(context: Context, person: Person, slug: str) -> str:
    """Return a text that changes with the votes, criteria, messages, jobs and drafts of a task."""
    with context.store.read() as db:
        revision = tasks.get_revision(db, require_task(db, slug).id)
        if context.settings.sign_in is not SignIn.LINKS:
            return revision
        # the page of a review shows how far its two people agree
        return f"{revision} {submissions.get_newest(db)}"


@use_case(TEAM)
def get_task_state(context: Context, person: Person, slug: str, *, counted: bool = True) -> TaskState:
    """Return the state of a task; ``counted`` includes the numbers of drafts, which can take long."""
    with context.store.read() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        runs, prefill = drafts.list_runs(db, task.id), jobs.get_prefill(db, task.id)
        counts = [(run, _count(db, run) if counted else (0, 0)) for run in runs]
        filled = next((run for run in runs if prefill and run.label == prefill.label), None)
        if prefill and filled and current and _is_complete(db, prefill, filled, current):
            prefill = filled = None
        drafted = [
            run for run in runs if drafts.has_readable(db, run.id) or drafts.has_preference(db, run.id)
        ]
        return TaskState(
            task=task,
            n_instances=tasks.count_instances(db, task.id),
            version=current.version if current else 0,
            n_criteria=len(current.criteria) if current else 0,
            runs=tuple((run, ok, unscored) for run, (ok, unscored) in counts),
            n_drafted=sum(run != filled for run in drafted),
            prefill=prefill,
            has_drafts=bool(drafted),
            has_scores=tasks.has_submissions(db, task.id),
            in_progress=tasks.is_in_progress(db, task.id),
            can_draft=context.settings.has_model,
        )


def _is_complete(db: Database, job: Job, run: Run, current: CriteriaSet) -> bool:
    """Return whether a pre-fill that ended has all drafts, perhaps from the command line."""
    list_missing = (
        drafts.list_uncompared if any(drafts.count_comparisons(db, run.id)) else drafts.list_undrafted
    )
    ids = [criterion.id for criterion in current.criteria]
    return not job.is_busy and (
        job.done >= job.total or not any(list_missing(db, job.task, run.id, ids, most=1))
    )


def _count(db: Database, run: Run) -> tuple[int, int]:
    """Return the number of drafts or comparisons of a run, and of unreadable ones."""
    drafted, compared = drafts.count_drafts(db, run.id), drafts.count_comparisons(db, run.id)
    return drafted["ok"] + compared[0], drafted["unscored"] + compared[1]


@use_case(OWNERS)
def add_task(context: Context, person: Person, task: Task) -> Task:
    """Create a new task.

    Raises:
        InputError: a text or the scale cannot be used, or the short name is taken.
    """
    task = check_task(task)
    with context.store.write() as db:
        if tasks.get_task(db, task.slug):
            raise InputError(f"The task “{task.slug}” already exists: choose another short name.")
        return tasks.add_task(db, task)


@use_case(OWNERS)
def update_task(context: Context, person: Person, task: Task) -> Task:
    """Change a task's texts, and its scale if nothing has been judged on it yet.

    Raises:
        InputError: a text or the scale cannot be used, or the scale is already in use.
    """
    task = check_task(task)
    with context.store.write() as db:
        stored = require_task(db, task.slug)
        if task.scale != stored.scale:
            _check_scale_free(db, stored)
        tasks.update_task(db, replace(task, id=stored.id))
        return replace(task, id=stored.id, origin=stored.origin)


def _check_scale_free(db: Database, task: Task) -> None:
    """Refuse another scale once there are criteria or drafts: scores on two scales are not comparable."""
    current = criteria.get_criteria_set(db, task.id)
    if current is not None or drafts.list_runs(db, task.id):
        what = f"version {current.version} of its criteria" if current else "its drafts"
        raise InputError(
            f"The scale of “{task.slug}” stays {task.scale}: it is used by {what}, and scores on two scales cannot "
            "be compared. To use another scale, create a new task and import its instances there."
        )


@use_case(OWNERS)
def show_run(context: Context, person: Person, slug: str, label: str) -> None:
    """Choose the run whose drafts annotators see.

    Raises:
        NotFoundError: the task has no run with that label.
        InputError: the run has no draft that people can review.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        run = require_run(db, task, label)
        if not drafts.has_readable(db, run.id):
            raise InputError(f"The run “{label}” has no readable draft: draft some before you show it.")
        drafts.show_run(db, task.id, run.id)


def require_run(db: Database, task: Task, label: str) -> Run:
    """Return the task's run with that label.

    Raises:
        NotFoundError: it does not exist.
    """
    run = drafts.get_run(db, task.id, label)
    if run is None:
        labels = ", ".join(run.label for run in drafts.list_runs(db, task.id)) or "none yet"
        raise NotFoundError(f"The task has no run “{label}”; its runs are: {labels}.")
    return run


@use_case(OWNERS)
def list_progress(context: Context, person: Person, slug: str) -> list[dict[str, object]]:
    """Return everybody's progress in a task."""
    with context.store.read() as db:
        return assignments.list_progress(db, require_task(db, slug).id)


# Archiving and restoring tasks.


@use_case(OWNERS)
def archive_task(context: Context, person: Person, slug: str, typed: str) -> None:
    """Archive a task: it leaves the lists, but all its data is kept.

    Work in progress can still be saved, and commands can still use its short name.

    Raises:
        InputError: ``typed`` is neither the task's name nor its short name, or the task is already archived.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if typed.strip() not in (task.name.strip(), task.slug):
            raise InputError(
                f"“{typed.strip()[:80]}” is not this task’s name: to archive it, type “{task.name}”."
            )
        if task.id in tasks.list_archived_ids(db):
            raise InputError(f"“{task.slug}” is archived already.")
        tasks.record_archive(db, task.id, person.name, archived=True)


@use_case(OWNERS)
def restore_task(context: Context, person: Person, slug: str) -> Task:
    """Restore a task from the archive.

    Raises:
        InputError: the task is not archived.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if task.id not in tasks.list_archived_ids(db):
            raise InputError(f"“{task.slug}” is not archived.")
        tasks.record_archive(db, task.id, person.name, archived=False)
        return task


@use_case(OWNERS)
def list_archived(context: Context, person: Person) -> list[Task]:
    """Return the archived tasks."""
    with context.store.read() as db:
        away = tasks.list_archived_ids(db)
        return [task for task in tasks.list_tasks(db) if task.id in away]


@use_case(TEAM)
def list_tools(context: Context, person: Person, slug: str) -> frozenset[str]:
    """Return the ids of the tools that an owner turned on for a task."""
    with context.store.read() as db:
        return tasks.get_tools(db, require_task(db, slug).id)


@use_case(OWNERS)
def set_tool(context: Context, person: Person, slug: str, tool: str, *, on: bool) -> None:
    """Turn a tool of a task on or off. Its data does not change."""
    with context.store.write() as db:
        task = require_task(db, slug).id
        tasks.set_tools(db, task, tasks.get_tools(db, task) - {tool} | ({tool} if on else set()))


def get_language(context: Context, slug: str, person: Person | None = None) -> str:
    """Return the language of a task's screens: the owner's choice for annotators and guests, or else English."""
    if person is not None and person.role is not Role.ANNOTATOR:
        return SOURCE
    with context.store.read() as db:
        return choose_language(tasks.get_language(db, slug))


def list_in_use(context: Context) -> list[str]:
    """Return the languages of all active tasks, for pages outside tasks; English if there are none."""
    with context.store.read() as db:
        return sorted({choose_language(code) for code in tasks.list_languages(db)}) or [SOURCE]
