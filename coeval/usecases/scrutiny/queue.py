"""A person's queue, and the screens that it opens."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    Mark,
    Person,
    Quote,
    Submission,
    Task,
)
from coeval.errors import NotFoundError
from coeval.extending import find_order
from coeval.language import tr
from coeval.rules import arms
from coeval.rules.arms import Design
from coeval.store import Database
from coeval.store.queries import assignments, criteria, review, submissions, tasks
from coeval.usecases.access import OWNERS, Context
from coeval.usecases.images import ShownImage, show_images
from coeval.usecases.scrutiny.design import find_telling_columns
from coeval.usecases.scrutiny.navigation import (
    Place,
    Where,
    find_place,
    get_ready,
    is_waiting,
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
    waits: bool = False
    """True if this evaluation waits for its draft, or, on the last page, if others do."""


def ensure_queue(context: Context, person: Person, task: Task) -> None:
    """Assign work to a person: from the crowd plan, from the team's shares, or else every instance.

    Raises:
        NotAllowedError: a plan assigns the task, and not to this person.
    """
    if give(context, person, task):
        return
    with context.store.read() as db:
        if not assignments.has_unassigned(db, person.id, task.id):
            return
        if find_order(db, task.id, assignments.list_unassigned(db, person.id, task.id)) == []:
            return  # an extension withholds the rest from everybody
    with context.store.write() as db:
        missing = assignments.list_unassigned(db, person.id, task.id)
        order = find_order(db, task.id, missing)
        if order is None:
            order = arms.draw_order(tasks.get_seed(db, task.id), person.id, missing)
        assignments.add_assignments(db, person.id, task.id, order)
        current = criteria.get_criteria_set(db, task.id)
        if current:
            ids = [criterion.id for criterion in current.criteria]
            assignments.refresh_states(db, task.id, ids, annotator=person.id)


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
            _check_ready(db, task, current, place[0])
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
    ready = get_ready(db, task, current)
    waits = ready is not None and place[0].arm is None and not assignments.is_ready(db, place[0], ready)
    return None if waits else place


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


def _check_ready(db: Database, task: Task, current: CriteriaSet, assignment: Assignment) -> None:
    ready = get_ready(db, task, current)
    if ready is not None and assignment.arm is None and not assignments.is_ready(db, assignment, ready):
        raise NotFoundError(
            tr(
                "Number {position} of your queue waits for drafts: continue with another, and come back later.",
                position=assignment.position,
            )
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
                "“{name}” has no final criteria yet. Once an owner has finalised them, this page continues by itself.",
                name=task.name,
            )
        )
    return current


def build_step(
    db: Database, person: Person, task: Task, current: CriteriaSet, which: Filter, place: Place | None
) -> Step:
    """Return the screen of an opened place, or the last page."""
    counts = assignments.count_assignments(db, person.id, task.id)
    design = tasks.get_design(db, task.id)
    base = Step(
        task=replace(task, guidelines=get_guidelines(db, person, task)),
        which=which,
        total=counts["total"],
        finished=counts["finished"],
        flagged=counts["flagged"],
        seconds_each=_seconds_each(db, person, len(current.criteria)),
        criteria=current.criteria,
        design=design,
        waits=design.wait_for_drafts and counts["finished"] < counts["total"],
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
        has_evidence=evaluation.arm is Arm.EVIDENCE and evaluation.draft is not None,
        awaits_first=evaluation.awaits_first,
        first=evaluation.first,
        saved=evaluation.saved,
        mark=mark,
        answer=review.get_message_answer(db, task.id, person.id, assignment.instance) if says else None,
        waits=is_waiting(db, assignment, criterion.id, get_ready(db, task, current)),
    )


def _find_reopened(db: Database, task: Task, current: CriteriaSet, done: frozenset[int]) -> frozenset[int]:
    earlier = criteria.get_criteria_set(db, task.id, current.version - 1) if current.version > 1 else None
    if earlier is None:
        return frozenset()
    before = {criterion.id for criterion in earlier.criteria}
    new = {criterion.id for criterion in current.criteria} - before - done
    return frozenset(new) if before <= done else frozenset()


def _seconds_each(db: Database, person: Person, n_criteria: int) -> float | None:
    mean = submissions.mean_seconds(db, person.id)
    return None if mean is None else mean * n_criteria
