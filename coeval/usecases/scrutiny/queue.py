"""A person's queue, and the screens that it opens."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Thread
from threading import enumerate as list_threads
from time import sleep

from coeval.domain import (
    Arm,
    Assignment,
    CriteriaSet,
    Criterion,
    Draft,
    Emptiness,
    Filter,
    InboxItem,
    Instance,
    Job,
    Mark,
    Person,
    Quote,
    Submission,
    Task,
)
from coeval.errors import CoevalError, NotFoundError
from coeval.extending import find_order
from coeval.language import tr
from coeval.rules import arms
from coeval.rules.arms import Design
from coeval.store import Database
from coeval.store.queries import assignments, criteria, drafts, jobs, review, submissions, tasks
from coeval.usecases.access import OWNERS, Context
from coeval.usecases.images import ShownImage, show_images
from coeval.usecases.scrutiny.design import find_telling_columns
from coeval.usecases.scrutiny.navigation import (
    Place,
    Where,
    find_place,
)
from coeval.usecases.scrutiny.policies import (
    explain_empty,
    get_evaluation,
    get_guidelines,
    give,
    may_open,
    may_save,
    narrow_criteria,
    reserve,
)

log = logging.getLogger(__name__)

PAUSE = 0.01
"""Seconds between two parts of a queue, in which saves that wait for the store have their turn."""


@dataclass(frozen=True, slots=True)
class Step:
    """One screen: an instance and a criterion, the shown draft, and the person's earlier save.

    If nothing is left under the filter, ``assignment`` and all following fields are None. ``draft`` contains
    only what may be seen: it is None in the blind arm, in the arm that shows only evidence, and before a
    required first score.
    """

    task: Task
    which: Filter
    total: int
    finished: int
    flagged: int
    seconds_each: float | None
    criteria: tuple[Criterion, ...]
    design: Design = Design()
    assignment: Assignment | None = None
    instance: Instance | None = None
    images: tuple[ShownImage, ...] = ()
    withheld: frozenset[str] = frozenset()
    """Columns that are never shown, because they name systems that the study hides."""
    criterion: Criterion | None = None
    done: frozenset[int] = frozenset()
    reopened: frozenset[int] = frozenset()
    """Criteria that are new in this version of the set, if the person had finished the previous version."""
    draft: Draft | None = None
    marks: tuple[Quote, ...] = ()
    """The marked passages in the arm that shows only evidence, without any text of the draft."""
    drafting: Job | None = None
    """The pre-fill that is under way, if the evaluation has no draft yet."""
    has_evidence: bool = False
    """True if that arm has a draft as the source of passages, even if it quotes none."""
    awaits_first: bool = False
    """True if a first score is needed before the draft is shown."""
    first: Submission | None = None
    """The score that was saved before the draft was shown."""
    saved: Submission | None = None
    mark: Mark = Mark()
    answer: InboxItem | None = None
    """The study team's answer to the person's flag or comment."""
    emptiness: Emptiness | None = None
    """The reason that the person has no instance, if ``total`` is 0."""
    sets_up: bool = False
    """True if the person may correct that in Set-up."""


def ensure_queue(context: Context, person: Person, task: Task, *, whole: bool = True) -> None:
    """Assign work to a person: from the crowd plan, from the team's shares, or else every instance.

    Without ``whole``, the person waits only for the first part of a new queue: a thread adds the rest.

    Raises:
        NotAllowedError: a plan assigns the task, and not to this person.
    """
    if give(context, person, task):
        return
    thread = f"queue {id(context.store)} {task.id} {person.id}"
    if not whole and any(each.name == thread for each in list_threads()):
        return
    missing = _list_missing(context, person, task)
    while missing.order and (whole or not missing.gap):
        missing = _add_part(context, person, task, missing)
    if missing.order:
        Thread(target=_add_rest, args=(context, person, task, missing), name=thread, daemon=True).start()


@dataclass(frozen=True, slots=True)
class _Missing:
    """The instances that a queue lacks, in their order, and the queue's gap and last place at that moment."""

    order: Sequence[int] = ()
    gap: range = range(0)
    last: int = 0


def _list_missing(context: Context, person: Person, task: Task) -> _Missing:
    """Return what the queue lacks; nothing if an extension withholds the rest from everybody."""
    with context.store.read() as db:
        if not assignments.has_unassigned(db, person.id, task.id):
            return _Missing()
        missing = assignments.list_unassigned(db, person.id, task.id)
        order = find_order(db, task.id, missing)
        if order is None:
            order = arms.draw_order(tasks.get_seed(db, task.id), person.id, missing)
        return _Missing(order, *assignments.find_gap(db, person.id, task.id))


def _add_part(context: Context, person: Person, task: Task, missing: _Missing) -> _Missing:
    """Add a part of what a queue lacks in one transaction, unless the queue has changed; return the rest.

    An owner may have limited the work, or drawn another order, since the rest was listed.
    """
    with context.store.write() as db:
        if give(context, person, task):
            return _Missing()
        if assignments.find_gap(db, person.id, task.id) == (missing.gap, missing.last):
            order = find_order(db, task.id, missing.order)
            left = assignments.add_part(db, person.id, task.id, missing.order if order is None else order)
            current = criteria.get_criteria_set(db, task.id)
            if current and (not missing.last or not left):
                ids = [criterion.id for criterion in current.criteria]
                assignments.refresh_states(db, task.id, ids, annotator=person.id)
            return _Missing(left, *assignments.find_gap(db, person.id, task.id))
    return _list_missing(context, person, task)


def _add_rest(context: Context, person: Person, task: Task, missing: _Missing) -> None:
    """Complete a queue that is only begun; if this fails, the next opening goes on."""
    try:
        while missing.order:
            sleep(PAUSE)
            missing = _add_part(context, person, task, missing)
    except CoevalError as error:
        log.warning("the queue of person %d in “%s” is not complete yet: %s", person.id, task.slug, error)


def open_place(context: Context, person: Person, task: Task, where: Where) -> Step:
    """Return the screen of a place; an instance that is opened for the first time gets its arm.

    Raises:
        NotFoundError: the position or the criterion does not exist for this person.
    """
    with context.store.read() as db:
        current = require_set(db, task)
        place = find_place(db, person, task, current, where)
        if place is None or place[0].arm is not None:
            return build_step(db, person, task, current, where.which, place)
    with context.store.write() as db:
        place = find_place(db, person, task, current, where)
        if place is not None:
            place = may_open(db, task, person, place[0], current.criteria), place[1]
        return build_step(db, person, task, current, where.which, place)


def open_sheet(context: Context, person: Person, task: Task, where: Where) -> tuple[Step, ...]:
    """Return the screens of all criteria of an instance, the current first; at the end, only the last page.

    Raises:
        NotFoundError: the position or the criterion does not exist for this person.
    """
    first = open_place(context, person, task, where)
    if first.assignment is None:
        return (first,)
    with context.store.read() as db:
        current = require_set(db, task)
        assignment = first.assignment
        others = (criterion for criterion in first.criteria if criterion != first.criterion)
        return first, *(
            build_step(db, person, task, current, where.which, (assignment, criterion))
            for criterion in others
        )


def look_ahead(
    context: Context, person: Person, task: Task, where: Where, *, sheet: bool
) -> tuple[Step, ...]:
    """Return the screen that will follow a save of the place, or all of its sheet; nothing if it is not certain.

    An instance that was never opened is reserved: its arm is drawn, but the save opens it. The screen holds only
    what the person may see then, as every screen does.
    """
    with context.store.read() as db:
        place = _find_ahead(db, person, task, where)
        if place is None or place[0].arm is not None or place[0].reserved_arm is not None:
            return _build_ahead(db, person, task, where, place, sheet=sheet)
    with context.store.write() as db:
        return _build_ahead(db, person, task, where, _find_ahead(db, person, task, where), sheet=sheet)


def _find_ahead(db: Database, person: Person, task: Task, where: Where) -> Place | None:
    current = require_set(db, task)
    place = find_place(db, person, task, current, where)
    if place is None or (place[0].instance, place[1].id) == (where.instance, where.criterion):
        return None
    may_save(db, person, task, place[0].instance)
    return place


def _build_ahead(
    db: Database, person: Person, task: Task, where: Where, place: Place | None, *, sheet: bool
) -> tuple[Step, ...]:
    if place is None:
        return ()
    current, assignment = require_set(db, task), reserve(db, task, person, place[0])
    first = build_step(db, person, task, current, where.which, (assignment, place[1]))
    others = (criterion for criterion in first.criteria if sheet and criterion != first.criterion)
    return first, *(
        build_step(db, person, task, current, where.which, (assignment, criterion)) for criterion in others
    )


def require_set(db: Database, task: Task) -> CriteriaSet:
    """Return the current criteria set.

    Raises:
        NotFoundError: no set is established yet.
    """
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(
            tr(
                "“{name}” has no final criteria yet. If a vote is open, vote in the Criteria tab. Once the criteria "
                "are final, this page continues by itself.",
                name=task.name,
            )
        )
    return current


def build_step(
    db: Database, person: Person, task: Task, current: CriteriaSet, which: Filter, place: Place | None
) -> Step:
    """Return the screen of an opened place, or the last page."""
    counts = assignments.count_assignments(db, person.id, task.id)
    design, mean = tasks.get_design(db, task.id), counts["active_ms"]
    base = Step(
        task=replace(task, guidelines=get_guidelines(db, person, task)),
        which=which,
        total=counts["total"],
        finished=counts["finished"],
        flagged=counts["flagged"],
        seconds_each=None if mean is None else mean / 1000 * len(current.criteria),
        criteria=current.criteria,
        design=design,
        emptiness=None if counts["total"] else explain_empty(db, person, task),
        sets_up=person.role in OWNERS,
    )
    return base if place is None else _opened(db, person, task, current, base, place)


def _opened(db: Database, person: Person, task: Task, current: CriteriaSet, base: Step, place: Place) -> Step:
    assignment, criterion = place
    mine = narrow_criteria(db, person, task, current, assignment.instance, criterion.id)
    evaluation = get_evaluation(db, task, assignment, criterion)
    done = frozenset(submissions.list_done(db, person.id, assignment.instance))
    instance = tasks.get_instance(db, assignment.instance)
    mark = assignments.get_mark(db, person.id, assignment.instance)
    says = mark.flagged or mark.comment
    return replace(
        base,
        criteria=mine.criteria,
        assignment=assignment,
        instance=instance,
        images=show_images(db, task, instance) if instance else (),
        withheld=find_telling_columns(db, task),
        criterion=criterion,
        done=done,
        reopened=_find_reopened(db, task, current, done),
        draft=evaluation.shown,
        marks=evaluation.marks,
        drafting=None if evaluation.draft else _find_prefill(db, task),
        has_evidence=evaluation.arm is Arm.EVIDENCE and evaluation.draft is not None,
        awaits_first=evaluation.awaits_first,
        first=evaluation.first,
        saved=evaluation.saved,
        mark=mark,
        answer=review.get_message_answer(db, task.id, person.id, assignment.instance) if says else None,
    )


def _find_prefill(db: Database, task: Task) -> Job | None:
    """Return the active pre-fill whose drafts people will see, but no batch: it may never be read."""
    active = jobs.list_active(db, task.id, jobs.EVALUATIONS)
    shown = drafts.get_shown_run(db, task.id) if active else None
    return next((job for job in active if shown is None or job.label == shown.label), None)


def _find_reopened(db: Database, task: Task, current: CriteriaSet, done: frozenset[int]) -> frozenset[int]:
    earlier = criteria.get_criteria_set(db, task.id, current.version - 1) if current.version > 1 else None
    if earlier is None:
        return frozenset()
    before = {criterion.id for criterion in earlier.criteria}
    new = {criterion.id for criterion in current.criteria} - before - done
    return frozenset(new) if before <= done else frozenset()
