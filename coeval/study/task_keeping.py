"""Keeping tasks and runs in order: putting one away, taking it out again, copying a task's set-up."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Person, Run, Task
from coeval.errors import InputError
from coeval.store.queries import archive, criteria, tasks
from coeval.store.queries.drafting import drafts
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.tasks import check_task, make_slug, require_run


@use_case(OWNERS)
def archive_task(context: Context, person: Person, slug: str, typed: str) -> None:
    """Put a task away: it is listed no more, and everything of it is kept.

    What somebody is judging just then is still saved, and commands still reach it by its short name.

    Raises:
        InputError: ``typed`` is neither the task's name nor its short name, or it is put away already.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if typed.strip() not in (task.name.strip(), task.slug):
            raise InputError(
                f"“{typed.strip()[:80]}” is not this task’s name: to archive it, type “{task.name}”."
            )
        if task.id in archive.list_archived_ids(db):
            raise InputError(f"“{task.slug}” is archived already.")
        archive.record_archive(db, task.id, person.name, archived=True)


@use_case(OWNERS)
def restore_task(context: Context, person: Person, slug: str) -> Task:
    """Take a task out of the archive.

    Raises:
        InputError: it is not archived.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if task.id not in archive.list_archived_ids(db):
            raise InputError(f"“{task.slug}” is not archived.")
        archive.record_archive(db, task.id, person.name, archived=False)
        return task


@use_case(OWNERS)
def list_archived(context: Context, person: Person) -> list[Task]:
    """See which tasks are put away."""
    with context.store.read() as db:
        away = archive.list_archived_ids(db)
        return [task for task in tasks.list_tasks(db) if task.id in away]


@use_case(OWNERS)
def copy_setup(context: Context, person: Person, slug: str, name: str) -> Task:
    """Make a new task with the texts, scale, design and established criteria of another, and nothing else of it.

    Raises:
        InputError: the name is empty, or there is a task of its short name already.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        copied = check_task(replace(task, name=name, slug=make_slug(name), id=0, columns={}))
        if tasks.get_task(db, copied.slug):
            raise InputError(
                f"There is a task of the short name “{copied.slug}” already: choose another name."
            )
        new = tasks.add_task(db, copied)
        tasks.set_design(db, new.id, tasks.get_design(db, task.id), person.name)
        current = criteria.get_criteria_set(db, task.id)
        if current is not None:
            criteria.add_criteria_set(
                db, new.id, [replace(criterion, id=0) for criterion in current.criteria], person.name
            )
        return new


@use_case(OWNERS)
def archive_run(context: Context, person: Person, slug: str, typed: str) -> None:
    """Put a run away: its drafts are shown no more, and statistics leave it out; all of it is kept.

    Raises:
        NotFoundError: the task has no run of the label ``typed``.
        InputError: it is archived already.
    """
    with context.store.write() as db:
        run = require_run(db, require_task(db, slug), typed.strip())
        if run.id in archive.list_archived_run_ids(db):
            raise InputError(f"The run “{run.label}” is archived already.")
        archive.record_run_archive(db, run.id, person.name, archived=True)


@use_case(OWNERS)
def restore_run(context: Context, person: Person, slug: str, label: str) -> None:
    """Take a run out of the archive; people see its drafts once they are chosen again.

    Raises:
        NotFoundError: the task has no run of that label.
        InputError: it is not archived.
    """
    with context.store.write() as db:
        run = require_run(db, require_task(db, slug), label)
        if run.id not in archive.list_archived_run_ids(db):
            raise InputError(f"The run “{run.label}” is not archived.")
        archive.record_run_archive(db, run.id, person.name, archived=False)


@use_case(OWNERS)
def list_archived_runs(context: Context, person: Person, slug: str) -> list[Run]:
    """See which runs of a task are put away."""
    with context.store.read() as db:
        away = archive.list_archived_run_ids(db)
        return [run for run in drafts.list_runs(db, require_task(db, slug).id) if run.id in away]
