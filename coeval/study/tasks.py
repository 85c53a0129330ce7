"""Tasks: stating, changing and listing them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from coeval.domain import MAX_TEXT, Person, Role, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.language import list_languages
from coeval.store import Database
from coeval.store.queries import archive, criteria, tasks
from coeval.store.queries.drafting import comparisons, drafts
from coeval.store.queries.people import teams
from coeval.store.queries.scrutiny import assignments
from coeval.study.access import EVERYONE, OWNERS, TEAM, Context, require_task, use_case

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class TaskState:
    """Where a task stands: what is imported, established and drafted."""

    task: Task
    n_instances: int
    version: int
    """Newest established version of the criteria set; 0 before the first."""
    n_criteria: int
    runs: tuple[tuple[Run, int, int], ...]
    """Each run that is not archived, with how many drafts are ok and how many unscored."""


def check_slug(slug: str) -> str:
    """A task's short name for commands and addresses.

    Raises:
        InputError: it holds anything but a-z, 0-9 and inner hyphens, or more than 64 characters.
    """
    if not SLUG.fullmatch(slug):
        raise InputError(
            f"“{slug[:80]}” cannot be a task's short name: use 1 to 64 of a-z, 0-9 and hyphens, such as eli5."
        )
    return slug


def make_slug(name: str) -> str:
    """A short name from a title.

    >>> make_slug("Explain like I'm five!")
    'explain-like-i-m-five'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-") or "task"


def check_task(task: Task) -> Task:
    """The task with its texts stripped.

    Raises:
        InputError: a name is missing, a text too long, the scale has under 2 or over 11 steps, or the language no
            catalogue.
    """
    if not task.name.strip():
        raise InputError("The task has no name: give it a few words.")
    for name in ("name", "description", "input_field", "output_field", "guidelines"):
        text = getattr(task, name)
        if len(text) > MAX_TEXT:
            raise InputError(f"The task's {name} has {len(text):,} characters; shorten it to {MAX_TEXT:,}.")
    if not 1 <= task.scale.high - task.scale.low <= 10:
        raise InputError(f"The scale {task.scale} has to have 2 to 11 steps, such as 1-5.")
    if task.language not in list_languages():
        known = ", ".join(list_languages())
        raise InputError(
            f"There is no catalogue for the language “{task.language[:20]}”; there are: {known}."
        )
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
    """See which tasks there are; not those in the archive, nor, as an annotator, those that others work at."""
    with context.store.read() as db:
        away = archive.list_archived_ids(db)
        if person.role is Role.ANNOTATOR:
            away |= teams.list_hidden(db, person.id)
        return [task for task in tasks.list_tasks(db) if task.id not in away]


@use_case(EVERYONE)
def get_task(context: Context, person: Person, slug: str) -> Task:
    """See a task's card."""
    with context.store.read() as db:
        return require_task(db, slug)


@use_case(TEAM)
def get_task_state(context: Context, person: Person, slug: str, *, counted: bool = True) -> TaskState:
    """See where a task stands; drafts are not counted unless ``counted``, which takes long where there are many."""
    with context.store.read() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        away = archive.list_archived_run_ids(db)
        counts = [
            (run, _count(db, run) if counted else (0, 0))
            for run in drafts.list_runs(db, task.id)
            if run.id not in away
        ]
        return TaskState(
            task=task,
            n_instances=tasks.count_instances(db, task.id),
            version=current.version if current else 0,
            n_criteria=len(current.criteria) if current else 0,
            runs=tuple((run, ok, unscored) for run, (ok, unscored) in counts),
        )


def _count(db: Database, run: Run) -> tuple[int, int]:
    """How many drafts, or comparisons, a run has, and how many of them could not be read."""
    drafted, compared = drafts.count_drafts(db, run.id), comparisons.count_comparisons(db, run.id)
    return drafted["ok"] + compared[0], drafted["unscored"] + compared[1]


@use_case(OWNERS)
def add_task(context: Context, person: Person, task: Task) -> Task:
    """State a new task.

    Raises:
        InputError: a text or the scale cannot be used, or the short name is taken.
    """
    task = check_task(task)
    with context.store.write() as db:
        if tasks.get_task(db, task.slug):
            raise InputError(f"There is a task “{task.slug}” already: choose another short name.")
        return tasks.add_task(db, task)


@use_case(OWNERS)
def update_task(context: Context, person: Person, task: Task) -> Task:
    """Change a task's texts, and its scale while nothing was judged by it yet.

    Raises:
        InputError: a text or the scale cannot be used, or the scale is in use already.
    """
    task = check_task(task)
    with context.store.write() as db:
        stored = require_task(db, task.slug)
        if task.scale != stored.scale:
            _check_scale_free(db, stored)
        tasks.update_task(db, replace(task, id=stored.id))
        return replace(task, id=stored.id, origin=stored.origin)


def _check_scale_free(db: Database, task: Task) -> None:
    """Refuse another scale once there are criteria or drafts: scores on two scales cannot be compared."""
    current = criteria.get_criteria_set(db, task.id)
    if current is not None or drafts.list_runs(db, task.id):
        what = f"version {current.version} of its criteria" if current else "its drafts"
        raise InputError(
            f"The scale of “{task.slug}” stays {task.scale}: {what} rest on it, and scores on two scales cannot be "
            "compared. For another scale make a new task and import its instances there."
        )


@use_case(OWNERS)
def show_run(context: Context, person: Person, slug: str, label: str) -> None:
    """Choose the run whose drafts annotators see.

    Raises:
        NotFoundError: the task has no run of that label.
        InputError: it is archived.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        run = require_run(db, task, label)
        if run.id in archive.list_archived_run_ids(db):
            raise InputError(f"The run “{label}” is archived: restore it before people are shown its drafts.")
        drafts.show_run(db, task.id, run.id)


def require_run(db: Database, task: Task, label: str) -> Run:
    """The task's run of that label.

    Raises:
        NotFoundError: there is none.
    """
    run = drafts.get_run(db, task.id, label)
    if run is None:
        known = ", ".join(run.label for run in drafts.list_runs(db, task.id)) or "none yet"
        raise NotFoundError(f"The task has no run “{label}”; its runs are: {known}.")
    return run


@use_case(OWNERS)
def list_progress(context: Context, person: Person, slug: str) -> list[dict[str, object]]:
    """See how far everybody is with a task."""
    with context.store.read() as db:
        return assignments.list_progress(db, require_task(db, slug).id)
