"""The design of a study: how drafts are shown, and who sees further columns of instances."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from coeval.domain import CONTEXT_ROLES, Column, ColumnRole, Person, Task
from coeval.errors import InputError
from coeval.rules.arms import Design, check_design, find_telling
from coeval.store import Database
from coeval.store.queries import drafts, people, tasks
from coeval.store.queries.crowd_studies import get_active_plan
from coeval.store.queries.teams import get_team
from coeval.usecases.access import OWNERS, Context, require_task, use_case


@dataclass(frozen=True, slots=True)
class DesignState:
    """A task's design, the time and author of its last change (empty if it never changed), and the items that
    it no longer affects.
    """

    design: Design
    changed_at: str
    changed_by: str
    n_opened: int
    """The number of (annotator, instance) pairs that are already open and keep their arm."""
    has_drafts: bool
    """Whether people see the drafts of a run; without drafts, shares have no effect."""


@use_case(OWNERS)
def get_design(context: Context, person: Person, slug: str) -> DesignState:
    """Return how a task shows its drafts."""
    with context.store.read() as db:
        task = require_task(db, slug)
        changed_at, changed_by = tasks.get_last_design_change(db, task.id) or ("", "")
        design = tasks.get_design(db, task.id)
        n_opened = tasks.count_opened(db, task.id)
        has_drafts = drafts.get_shown_run(db, task.id) is not None
        return DesignState(design, changed_at, changed_by, n_opened, has_drafts)


def count_people(db: Database, task: int) -> int:
    """Return the number of people per instance, from the plan, the team, or the people who can sign in."""
    plan, team = get_active_plan(db, task), get_team(db, task)
    if plan:
        return plan.per_instance
    if team and team.members:
        return team.per_instance or len(team.members)
    return sum(not member.disabled_at for member in people.list_members(db, task))


@use_case(OWNERS)
def set_design(context: Context, person: Person, slug: str, design: Design) -> Design:
    """Set how a task shows its drafts. Items that somebody has opened keep their arm.

    Raises:
        InputError: a share or the idle time is out of range (see ``check_design``).
    """
    design = check_design(design)
    with context.store.write() as db:
        task = require_task(db, slug)
        if design != tasks.get_design(db, task.id):
            tasks.set_design(db, task.id, design, person.name)
    return design


# Columns of a task's instances beyond input and output, and who may see them.


@use_case(OWNERS)
def list_columns(context: Context, person: Person, slug: str) -> list[Column]:
    """Return a task's further columns, and who may see them."""
    with context.store.read() as db:
        task = require_task(db, slug)
        telling = find_telling_columns(db, task)
        return [
            replace(column, withheld=column.name in telling) for column in tasks.list_columns(db, task.id)
        ]


def find_telling_columns(db: Database, task: Task) -> frozenset[str]:
    """Return the columns that are hidden with the systems, because a value names a system.

    Instances are only ever added, so the result is valid until there are more of them.
    """
    seen = frozenset(name for name, role in task.columns.items() if role.people_see)
    if not seen or not tasks.get_design(db, task.id).hide_systems:
        return frozenset()
    key = (tasks.get_seed(db, task.id), tasks.get_last_instance(db, task.id), seen)
    if key not in _FOUND:
        telling = find_telling(tasks.list_instances(db, task.id), seen, tasks.list_systems(db, task.id))
        while len(_FOUND) >= MOST_FOUND:
            _FOUND.pop(next(iter(_FOUND)), None)
        _FOUND[key] = frozenset(telling)
    return _FOUND[key]


MOST_FOUND = 100
"""The number of tasks whose columns a process caches."""

_FOUND: dict[Hashable, frozenset[str]] = {}


@use_case(OWNERS)
def set_columns(context: Context, person: Person, slug: str, roles: Mapping[str, ColumnRole]) -> list[Column]:
    """Set who may see a task's further columns; new drafts use this choice.

    Raises:
        InputError: the task has no such column, or the role is only for fields.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        stored = {column.name: column for column in tasks.list_columns(db, task.id)}
        for name, role in roles.items():
            if name not in stored:
                raise InputError(
                    f"The task has no column “{name[:80]}”; it has {', '.join(stored) or 'none'}."
                )
            if role not in CONTEXT_ROLES:
                raise InputError(f"“{name[:80]}” cannot be {role}: choose one of {', '.join(CONTEXT_ROLES)}.")
        chosen = [Column(name, role, person.name) for name, role in roles.items()]
        tasks.record_columns(db, task.id, [column for column in chosen if column != stored[column.name]])
        return tasks.list_columns(db, task.id)
