"""The design of a study: how its drafts are shown to people."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import Person
from coeval.rules.arms import Design, check_design, describe_overlap
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd.plans import get_plan
from coeval.store.queries.people import members
from coeval.store.queries.people.teams import get_team
from coeval.study.access import OWNERS, Context, require_task, use_case


@dataclass(frozen=True, slots=True)
class DesignState:
    """A task's design, when and by whom it was last set (empty: never), and what it no longer touches."""

    design: Design
    changed_at: str
    changed_by: str
    n_opened: int
    """(annotator, instance) pairs that are opened already: their arm stays."""
    overlap: str = ""
    """What agreement without the draft will rest on."""
    overlap_missing: bool = False
    """Whether that is nothing, or too little."""


@use_case(OWNERS)
def get_design(context: Context, person: Person, slug: str) -> DesignState:
    """See how a task shows its drafts."""
    with context.store.read() as db:
        task = require_task(db, slug)
        changed_at, changed_by = tasks.get_last_design_change(db, task.id) or ("", "")
        design = tasks.get_design(db, task.id)
        overlap, missing = describe_overlap(
            design, tasks.count_instances(db, task.id), _count_people(db, task.id)
        )
        n_opened = tasks.count_opened(db, task.id)
        return DesignState(design, changed_at, changed_by, n_opened, overlap, missing)


def _count_people(db: Database, task: int) -> int:
    """How many people each instance goes to: as the plan says, or the team, else everybody who can sign in."""
    plan, team = get_plan(db, task), get_team(db, task)
    if plan:
        return plan.per_instance
    if team and team.members:
        return team.per_instance or len(team.members)
    return sum(not member.disabled_at for member in members.list_members(db))


@use_case(OWNERS)
def set_design(context: Context, person: Person, slug: str, design: Design) -> Design:
    """Choose how a task shows its drafts; what somebody has opened already keeps its arm.

    Raises:
        InputError: a share or the idle time cannot be used (see ``scrutiny.check_design``).
    """
    design = check_design(design)
    with context.store.write() as db:
        task = require_task(db, slug)
        if design != tasks.get_design(db, task.id):
            tasks.set_design(db, task.id, design, person.name)
    return design
