"""Only some lines are asked of people: those that a judge leaves to them, and nothing else meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coeval.domain import CriteriaSet, Person, Task
from coeval.errors import InputError
from coeval.rules.arms import draw_order
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd.plans import get_plan
from coeval.store.queries.people import teams
from coeval.store.queries.scrutiny import asked, assignments, submissions
from coeval.store.queries.scrutiny.asked import Asking, get_asking
from coeval.study.access import Context
from coeval.study.people.teams import share_asked

__all__ = ["Asking", "ask_people", "ensure_asked", "get_asking", "narrow_criteria"]


def ask_people(
    db: Database, task: Task, current: CriteriaSet, judge_hash: str, lines: Sequence[tuple[int, int]], by: str
) -> None:
    """Make (instance, criterion) pairs the whole of what the team is asked for; without any, all is asked again.

    What a person has opened before stays theirs to finish.

    Raises:
        InputError: a crowd's plan gives the task out.
    """
    if get_plan(db, task.id) is not None:
        raise InputError(
            f"“{task.slug}” is given out by the plan of its crowd: only a team's work can be narrowed to some lines."
        )
    asked.record_asking(db, task.id, judge_hash, lines, by)
    people = teams.list_with_queue(db, task.id)
    if lines:
        for annotator in people:
            teams.drop_unopened(db, task.id, annotator)
    if not share_asked(db, task) and lines:
        for annotator in people:
            _add_asked(db, task, annotator)
    assignments.refresh_states(db, task.id, [criterion.id for criterion in current.criteria])


def ensure_asked(context: Context, person: Person, task: Task) -> bool:
    """Give a person who comes later what is asked for; whether only some lines are."""
    with context.store.read() as db:
        if not asked.is_asking(db, task.id):
            return False
        if assignments.count_assignments(db, person.id, task.id)["total"]:
            return True
    with context.store.write() as db:
        _add_asked(db, task, person.id)
    return True


def _add_asked(db: Database, task: Task, annotator: int) -> None:
    free = set(assignments.list_unassigned(db, annotator, task.id))
    new = [instance for instance in asked.list_asked_instances(db, task.id) if instance in free]
    assignments.add_assignments(
        db, annotator, task.id, draw_order(tasks.get_seed(db, task.id), annotator, new)
    )


def narrow_criteria(
    db: Database, person: Person, task: Task, current: CriteriaSet, instance: int, named: int | None = None
) -> CriteriaSet:
    """The criteria that a person judges an instance by: all, or those asked for, with what they have saved.

    ``named`` is a criterion that is on the screen already, and stays.
    """
    wanted = asked.list_asked_criteria(db, task.id, instance)
    if not wanted:
        return current
    shown = wanted | set(submissions.list_done(db, person.id, instance)) | {named}
    return replace(current, criteria=tuple(one for one in current.criteria if one.id in shown))
