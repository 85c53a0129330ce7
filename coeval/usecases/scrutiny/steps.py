"""The next evaluation to review, and how a person's review is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any, TypeVar

from coeval.clock import now, read_time, utc_now, write_time
from coeval.domain import (
    HISTORY_PAGE,
    MAX_REMARK,
    NEWEST,
    Assignment,
    Conduct,
    Criterion,
    Mark,
    Person,
    Submission,
    Task,
)
from coeval.errors import InputError, NotGivenError, StaleError
from coeval.language import tr
from coeval.rules import evaluation_rows
from coeval.rules.arms import Aliases, Layout
from coeval.rules.evaluation_rows import Sent
from coeval.store import Database
from coeval.store.queries import assignments, submissions, tasks
from coeval.usecases.access import EVERYONE, Context, require_task, use_case
from coeval.usecases.scrutiny.navigation import Move, Where, find_place, find_start
from coeval.usecases.scrutiny.policies import Evaluation, get_evaluation, may_open, may_save, saved
from coeval.usecases.scrutiny.queue import (
    Step,
    ensure_queue,
    look_ahead,
    open_place,
    open_sheet,
    require_set,
)

__all__ = [
    "Move",
    "Sent",
    "Step",
    "Where",
    "get_ahead",
    "get_aliases",
    "get_layout",
    "get_sheet",
    "get_step",
    "list_history",
    "mark_instance",
    "submit",
    "submit_sheet",
]

RESUME = Where()
"""The place at which the person stopped."""


def get_aliases(context: Context, person: Person, slug: str) -> Aliases:
    """Return the ids that this person sees for their work; plain ids if the task does not exist."""
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        return Aliases.of(tasks.get_seed(db, task.id), person.uid or str(person.id)) if task else Aliases()


def get_layout(context: Context, person: Person, slug: str) -> Layout:
    """Return the layout that a task's annotators see first."""
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        return tasks.get_design(db, task.id).layout if task else Layout.ONE


@use_case(EVERYONE)
def get_step(context: Context, person: Person, slug: str, where: Where = RESUME) -> Step:
    """Open an evaluation in the person's queue.

    Raises:
        NotFoundError: the task, the position or the criterion does not exist for this person.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_queue(context, person, task, whole=where.is_named)
    return open_place(context, person, task, where)


@use_case(EVERYONE)
def get_sheet(context: Context, person: Person, slug: str, where: Where = RESUME) -> tuple[Step, ...]:
    """Open all evaluations of an instance in a person's queue, the current criterion first.

    Raises:
        NotFoundError: the task, the position or the criterion does not exist for this person.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_queue(context, person, task, whole=where.is_named)
    return open_sheet(context, person, task, where)


@use_case(EVERYONE)
def get_ahead(context: Context, person: Person, slug: str, where: Where, *, sheet: bool) -> tuple[Step, ...]:
    """Return the screen that will follow a save, so that a browser can show it at once; see ``look_ahead``.

    Raises:
        NotFoundError: the task, the instance or the criterion does not exist for this person.
        NotAllowedError: this person may not save here.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
    return look_ahead(context, person, task, where, sheet=sheet)


@use_case(EVERYONE)
def submit_sheet(context: Context, person: Person, slug: str, sent: Sequence[Sent]) -> Sequence[Submission]:
    """Save a person's review of an instance on several criteria, completely or not at all.

    Raises:
        StaleError, InputError, NotFoundError, NotAllowedError: as for ``submit``.
    """
    if len({submission.instance for submission in sent}) != 1:
        raise InputError(tr("A sheet can contain only one instance: reload the page and confirm again."))
    with context.store.write():
        return [submit(context, person, slug, submission) for submission in sent]


@use_case(EVERYONE)
def submit(context: Context, person: Person, slug: str, sent: Sent) -> Submission:
    """Save a person's review of an instance on one criterion as a new revision.

    If the same ``uid`` is sent again, the first save is returned. A first score is stored separately and
    returned as revision 0; only then is the draft shown.

    Raises:
        StaleError: another tab has saved this evaluation meanwhile, or the shown draft has changed.
        InputError: an action or the score is missing (see ``evaluation_rows.check``).
        NotFoundError: this person is not assigned the instance or criterion.
        NotAllowedError: the study is closed, or this person may not work on it.
    """
    if not 8 <= len(sent.uid) <= 80:
        raise InputError(tr("This save has no key: reload the page and confirm again."))
    with context.store.write() as db:
        task = require_task(db, slug)
        before = submissions.get_by_uid(db, sent.uid)
        if before is not None:
            mine = (before.person, before.instance, before.criterion)
            return same_or_refused(before, is_same=mine == (person.id, sent.instance, sent.criterion))
        require_assignment(context, db, person, task, sent.instance)
        current = require_set(db, task)
        here = Where(instance=sent.instance, criterion=sent.criterion)
        place = find_place(db, person, task, current, here)
        assert place is not None  # a named instance is found or refused
        assignment = may_open(db, task, person, place[0], current.criteria)
        evaluation = get_evaluation(db, task, assignment, place[1])
        _check_fresh(evaluation, sent)
        worked_until = submissions.get_worked_until(db, person.id)
        submission = _build_submission(assignment, place[1], evaluation, sent, worked_until)
        if sent.first:
            return submissions.record_first_score(db, replace(submission, submitted_at=now()))
        recorded = submissions.record_submission(db, submission)
        ids = [criterion.id for criterion in current.criteria]
        assignments.refresh_states(db, task.id, ids, annotator=person.id, instance=sent.instance)
        saved(db, person, task)
    return recorded


def _check_fresh(evaluation: Evaluation, sent: Sent) -> None:
    revision = evaluation.saved.revision if evaluation.saved else 0
    if revision != sent.revision or (sent.first and evaluation.first is not None):
        raise StaleError(
            tr(
                "Another tab has saved this evaluation. Nothing was overwritten: compare the two "
                "versions and confirm the one to keep."
            )
        )
    shown = evaluation.shown
    if sent.first != evaluation.awaits_first or (shown.id if shown else None) != sent.draft:
        raise StaleError(
            tr("The draft of this evaluation has changed since you opened it: look at it again.")
        )


def _build_submission(
    assignment: Assignment, criterion: Criterion, evaluation: Evaluation, sent: Sent, worked_until: str
) -> Submission:
    shown, arm = evaluation.shown, evaluation.arm
    if sent.first and sent.added:
        raise InputError(tr("Before the draft is shown, give only the score: add your lines afterwards."))
    rows = evaluation_rows.check(shown, criterion.scale, arm, sent.score, sent.rows, sent.added)
    told: dict[str, Any] = {field.name: getattr(sent, field.name) for field in fields(Conduct)}
    opened_at, active_ms = find_times(assignment, worked_until, sent.opened_at, sent.active_ms)
    return Submission(
        person=assignment.annotator,
        instance=sent.instance,
        criterion=sent.criterion,
        score=sent.score,
        rows=() if sent.first else rows,
        draft=evaluation.draft.id if evaluation.draft and not sent.first else None,
        arm=arm,
        revision=0 if sent.first else sent.revision + 1,
        uid=sent.uid,
        shown_score=shown.score if shown else None,
        planted=evaluation.planted_error,
        **told | {"opened_at": opened_at, "active_ms": active_ms},
    )


@use_case(EVERYONE)
def mark_instance(
    context: Context,
    person: Person,
    slug: str,
    instance: int,
    *,
    flagged: bool | None = None,
    skipped: bool | None = None,
    comment: str | None = None,
) -> Mark:
    """Flag, skip or comment on an instance in a person's queue; None leaves a field unchanged."""
    if comment is not None:
        _check_length(tr("The comment"), comment)
    with context.store.write() as db:
        task = require_task(db, slug)
        find_start(db, person, task, Where(instance=instance))
        old = assignments.get_mark(db, person.id, instance)
        mark = Mark(
            flagged=old.flagged if flagged is None else flagged,
            skipped=old.skipped if skipped is None else skipped,
            comment=old.comment if comment is None else comment.strip(),
        )
        if mark != old:
            assignments.record_mark(db, person.id, instance, mark)
    return mark


def _check_length(name: str, text: str) -> None:
    if len(text) > MAX_REMARK:
        raise InputError(
            tr(
                "{name} has {length} characters; shorten it to {limit}.",
                name=name,
                length=f"{len(text):,}",
                limit=f"{MAX_REMARK:,}",
            )
        )


@use_case(EVERYONE)
def list_history(
    context: Context, person: Person, slug: str, instance: int, criterion: int, before: int = NEWEST
) -> Sequence[Submission]:
    """Return every revision of an evaluation that the person saved, oldest first.

    Revision 0 is a score before the draft. The result is one page: the last revisions below ``before``.

    Raises:
        NotFoundError: the instance is not in this person's queue.
    """
    with context.store.read() as db:
        find_start(db, person, require_task(db, slug), Where(instance=instance))
        page = submissions.list_history(db, person.id, instance, criterion, before, HISTORY_PAGE)
        first = submissions.get_first_score(db, person.id, instance, criterion)
        is_all = not page or page[0].revision <= 1
        return [first, *page] if first and is_all and before > 0 else page


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
    """Return the opening time and active milliseconds for storage.

    They are empty and None if the time is unreadable or in the future. Other impossible values are corrected:
    nobody can open an evaluation before its instance, or be active for longer than it was open. If two
    evaluations overlap, the second counts from the end of the first. The total active time is therefore never
    more than the time that passed.
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
