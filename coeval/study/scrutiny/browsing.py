"""Looking through a task's instances: what is drafted, who judged them, what was flagged and said."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coeval.datasets.tables.instances import is_made_up
from coeval.domain import Criterion, Draft, Instance, InstanceState, Only, Person, Remark, Submission
from coeval.errors import NotFoundError
from coeval.store.queries import criteria, tasks
from coeval.store.queries.drafting import drafts
from coeval.store.queries.scrutiny import browsing, review
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.hosting.image_hosts import ShownImage, show_images

MOST = 500
"""Instances that are listed at a time; a search or a filter finds the others."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One instance by one criterion: the shown run's draft, and everybody's latest."""

    criterion: Criterion
    draft: Draft | None
    latest: tuple[tuple[str, Submission], ...]


@dataclass(frozen=True, slots=True)
class InstanceView:
    """Everything there is of one instance."""

    instance: Instance
    images: tuple[ShownImage, ...]
    judged: tuple[Judged, ...]
    remarks: tuple[Remark, ...]


@use_case(OWNERS)
def list_instances(
    context: Context, person: Person, slug: str, *, search: str = "", system: str = "", only: Only = Only.ALL
) -> list[InstanceState]:
    """Look through a task's instances: all, or those that hold some words, are of a system, or need a look.

    A document that no column names has none in the list: the name that it is kept under is made from its input.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        run = drafts.get_shown_run(db, task.id)
        states = browsing.list_states(
            db, task.id, run.id if run else None, search=search.strip(), system=system, only=only, limit=MOST
        )
    return [replace(state, document="") if is_made_up(state.document) else state for state in states]


@use_case(OWNERS)
def list_systems(context: Context, person: Person, slug: str) -> list[str]:
    """See who wrote a task's outputs."""
    with context.store.read() as db:
        return browsing.list_systems(db, require_task(db, slug).id)


@use_case(OWNERS)
def view_instance(context: Context, person: Person, slug: str, external_id: str) -> InstanceView:
    """See everything there is of one instance: its texts, drafts, scores, and what people said of it.

    Raises:
        NotFoundError: the task has no such instance.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        instance = tasks.get_instances_by_external_id(db, task.id, [external_id]).get(external_id)
        if instance is None:
            raise NotFoundError(f"The task “{slug}” has no instance “{external_id[:80]}”: search for it.")
        current = criteria.get_criteria_set(db, task.id)
        run = drafts.get_shown_run(db, task.id)
        judged = []
        for criterion in current.criteria if current else ():
            draft = drafts.get_current_draft(db, run.id, instance.id, criterion.id) if run else None
            latest = dict(review.list_saved(db, instance.id, criterion.id))
            judged.append(Judged(criterion, draft, tuple(latest.items())))
        images = show_images(db, task, instance)
        return InstanceView(instance, images, tuple(judged), tuple(browsing.list_remarks(db, instance.id)))
