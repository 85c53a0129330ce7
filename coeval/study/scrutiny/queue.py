"""A person's queue, and the screen it opens: what may be shown of an instance by a criterion."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coeval.domain import (
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
    Submission,
    Task,
)
from coeval.errors import NotFoundError
from coeval.language import tr
from coeval.rules import arms
from coeval.rules.arms import Design
from coeval.store import Database
from coeval.store.queries import criteria, tasks
from coeval.store.queries.people import teams
from coeval.store.queries.scrutiny import assignments, inbox, submissions
from coeval.study.access import OWNERS, Context
from coeval.study.crowd.giving import ensure_work, get_guidelines
from coeval.study.hosting.image_hosts import ShownImage, show_images
from coeval.study.people.teams import ensure_share
from coeval.study.scrutiny.asked import ensure_asked, narrow_criteria
from coeval.study.scrutiny.queue_places import Place, Where, find_place, get_ready, is_waiting
from coeval.study.scrutiny.showing import ensure_open, get_evaluation


@dataclass(frozen=True, slots=True)
class Step:
    """One screen of scrutiny: an instance by a criterion, the draft shown, what the person saved before.

    ``assignment`` and all that follows are None where nothing is left under the filter. ``draft`` is what may
    be seen: None in the blind arm, and before the first score where that comes first.
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
    criterion: Criterion | None = None
    done: frozenset[int] = frozenset()
    reopened: frozenset[int] = frozenset()
    """Criteria that are new in this version of the set, where the person had finished the one before."""
    draft: Draft | None = None
    awaits_first: bool = False
    """Whether a score is asked for before the draft is shown."""
    first: Submission | None = None
    """The score given before the draft was shown."""
    saved: Submission | None = None
    mark: Mark = Mark()
    answer: InboxItem | None = None
    """What those who run the study answered to the person's flag or comment."""
    emptiness: Emptiness | None = None
    """Why there is nothing at all, where ``total`` is 0."""
    sets_up: bool = False
    """Whether the person may change that in Set-up."""
    waits: bool = False
    """Whether this evaluation is held back until its draft is there; at the end, whether others are."""


def ensure_queue(context: Context, person: Person, task: Task) -> None:
    """Give the person what is theirs to do: by the crowd's plan, by the team's shares, else every instance of the task.

    Raises:
        NotAllowedError: the task is given out by a plan, and not to this person.
    """
    given = ensure_work(context, person, task) or ensure_share(context, task)
    if given or ensure_asked(context, person, task):
        return
    with context.store.read() as db:
        if not assignments.has_unassigned(db, person.id, task.id):
            return
    with context.store.write() as db:
        missing = assignments.list_unassigned(db, person.id, task.id)
        order = arms.draw_order(tasks.get_seed(db, task.id), person.id, missing)
        assignments.add_assignments(db, person.id, task.id, order)
        current = criteria.get_criteria_set(db, task.id)
        if current:
            ids = [criterion.id for criterion in current.criteria]
            assignments.refresh_states(db, task.id, ids, annotator=person.id)


def open_place(context: Context, person: Person, task: Task, where: Where) -> Step:
    """The screen of a place; an instance seen for the first time gets its arm on the way.

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
            place = ensure_open(db, task, person, place[0], current.criteria), place[1]
        return build_step(db, person, task, current, where.which, place)


def open_sheet(context: Context, person: Person, task: Task, where: Where) -> tuple[Step, ...]:
    """The screens of every criterion of an instance, that of the place first; where nothing is left, the end alone.

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


def _check_ready(db: Database, task: Task, current: CriteriaSet, assignment: Assignment) -> None:
    ready = get_ready(db, task, current)
    if ready is not None and assignment.arm is None and not assignments.is_ready(db, assignment, ready):
        raise NotFoundError(
            tr(
                "Number {position} waits for the model's drafts: go on with another, and come back later.",
                position=assignment.position,
            )
        )


def require_set(db: Database, task: Task) -> CriteriaSet:
    """The criteria set that holds now.

    Raises:
        NotFoundError: none is established yet.
    """
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(
            tr(
                "“{name}” has no established criteria yet: vote in the Criteria tab first; an owner then "
                "establishes the set.",
                name=task.name,
            )
        )
    return current


def build_step(
    db: Database, person: Person, task: Task, current: CriteriaSet, which: Filter, place: Place | None
) -> Step:
    """The screen of an opened place, or of the end."""
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
        emptiness=None if counts["total"] else _why_empty(db, person, task),
        sets_up=person.role in OWNERS,
    )
    return base if place is None else _opened(db, person, task, current, base, place)


def _why_empty(db: Database, person: Person, task: Task) -> Emptiness:
    if not tasks.count_instances(db, task.id):
        return Emptiness.NO_INSTANCES
    team = teams.get_team(db, task.id)
    if team is None or not team.per_instance:
        return Emptiness.NOT_GIVEN
    return Emptiness.ALL_WITH_OTHERS if person.id in team.members else Emptiness.NOT_IN_TEAM


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
        criterion=criterion,
        done=done,
        reopened=_find_reopened(db, task, current, done),
        draft=evaluation.shown,
        awaits_first=evaluation.awaits_first,
        first=evaluation.first,
        saved=evaluation.saved,
        mark=mark,
        answer=inbox.get_answer(db, task.id, person.id, assignment.instance) if says else None,
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
