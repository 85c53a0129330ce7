"""The parts of a save that all screens share: its key, its place in the queue, and its times."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from coeval.clock import read_time, utc_now, write_time
from coeval.domain import Assignment, Person, Task
from coeval.errors import InputError, NotGivenError
from coeval.language import tr
from coeval.store import Database
from coeval.store.queries import assignments
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.policies import may_save
from coeval.usecases.scrutiny.queue import ensure_queue

SKEW = timedelta(seconds=5)
"""The largest remaining error of a browser's clock, which we correct to the second."""

Saved = TypeVar("Saved")


def same_or_refused(earlier: Saved, *, is_same: bool) -> Saved:
    """Return the save that already has the key of this one, if it is the same person's of the same work.

    Raises:
        InputError: it is another save.
    """
    if not is_same:
        raise InputError(tr("This save has the key of another save: reload the page and confirm again."))
    return earlier


def require_assignment(
    context: Context, db: Database, person: Person, task: Task, instance: int
) -> Assignment:
    """Return the person's assignment of an instance, for a save of it.

    A browser sends what a restored server has lost, before it opens anything: then the queue is drawn again.

    Raises:
        NotGivenError: this person is not assigned the instance.
        NotAllowedError: the study is closed, or this person may not work on it.
    """
    may_save(db, person, task, instance)
    assignment = assignments.find_assignment(db, person.id, instance)
    if assignment is None:
        ensure_queue(context, person, task)
        assignment = assignments.find_assignment(db, person.id, instance)
    if assignment is None or assignment.task != task.id:
        raise NotGivenError(tr("That instance is not in your queue: reload the page."))
    return assignment


def find_times(
    assignment: Assignment, worked_until: str, opened_at: str, active_ms: int | None
) -> tuple[str, int | None]:
    """Return the opening time and active milliseconds for storage; empty and None if they are impossible.

    Nobody can open an evaluation before its instance or in the future, or be active for longer than it was
    open. Nobody works on two evaluations at once either: if they overlap, the second counts from the end of
    the first. The total active time is therefore never more than the time that passed.
    """
    now = utc_now()
    try:
        opened = read_time(opened_at)
    except ValueError:
        return "", None
    if opened.tzinfo is None or opened > now + SKEW:
        return "", None
    opened = max(opened, read_time(assignment.opened_at) - SKEW)
    if worked_until:
        opened = max(opened, read_time(worked_until))
    opened = min(opened, now)
    wall_ms = int((now - opened).total_seconds() * 1000)
    active = None if active_ms is None or active_ms < 0 else min(active_ms, wall_ms)
    return write_time(opened), active
