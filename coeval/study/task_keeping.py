"""Keeping tasks in order: putting one away, taking it out again, copying its set-up."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Person, Task
from coeval.errors import InputError
from coeval.store.queries import archive, criteria, tasks
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.tasks import check_task, make_slug


@use_case(OWNERS)
def archive_task(context: Context, person: Person, slug: str, typed: str) -> None:
    """Put a task away: it is listed no more, and everything of it is kept.

    What somebody is judging just then is still saved, and commands still reach it by its short name.

    Raises:
        InputError: ``typed`` is not the task's short name, or it is put away already.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if typed.strip() != task.slug:
            raise InputError(f"To archive this task, type its short name: {task.slug}.")
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
