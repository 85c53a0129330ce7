"""The design of a study: how its drafts are shown to people."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import Person
from coeval.rules.arms import Design, check_design
from coeval.store.queries import tasks
from coeval.study.access import OWNERS, Context, require_task, use_case


@dataclass(frozen=True, slots=True)
class DesignState:
    """A task's design, when and by whom it was last set (empty: never), and what it no longer touches."""

    design: Design
    changed_at: str
    changed_by: str
    n_opened: int
    """(annotator, instance) pairs that are opened already: their arm stays."""


@use_case(OWNERS)
def get_design(context: Context, person: Person, slug: str) -> DesignState:
    """See how a task shows its drafts."""
    with context.store.read() as db:
        task = require_task(db, slug)
        changed_at, changed_by = tasks.get_last_design_change(db, task.id) or ("", "")
        return DesignState(
            tasks.get_design(db, task.id), changed_at, changed_by, tasks.count_opened(db, task.id)
        )


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
