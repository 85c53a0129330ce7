"""A person's position in their queue, and the results of moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from coeval.domain import Assignment, CriteriaSet, Criterion, Filter, Person, Task
from coeval.errors import NotFoundError, NotGivenError
from coeval.language import tr
from coeval.store import Database
from coeval.store.queries import assignments, submissions
from coeval.usecases.scrutiny.policies import narrow_criteria


class Move(StrEnum):
    """Where a person goes from an instance and a criterion."""

    HERE = "here"
    NEXT = "next"
    PREVIOUS = "previous"
    NEXT_SHEET = "next_sheet"
    """Like next, but skips the other criteria of the instance, which were all on the sheet."""
    NEXT_INSTANCE = "next_instance"
    PREVIOUS_INSTANCE = "previous_instance"


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a person's queue, by position or by instance. If both are None, it is the place where the
    person stopped.
    """

    which: Filter = Filter.UNFINISHED
    position: int | None = None
    instance: int | None = None
    criterion: int | None = None
    move: Move = Move.HERE

    @property
    def is_named(self) -> bool:
        """Return whether a place is named. Otherwise, it is where the person stopped."""
        return self.position is not None or self.instance is not None


Place = tuple[Assignment, Criterion]


def find_place(db: Database, person: Person, task: Task, current: CriteriaSet, where: Where) -> Place | None:
    """Return the assignment and criterion at ``where``; None if its filter leaves nothing.

    Raises:
        NotFoundError: the position, the instance or the criterion is not in this person's queue.
    """
    here = find_start(db, person, task, where)
    if here is None:
        return None
    ids = [criterion.id for criterion in current.criteria]
    if where.criterion is not None and where.criterion not in ids:
        raise NotFoundError(tr("That criterion is not in the current criteria set: reload the page."))
    whole, current = current, narrow_criteria(db, person, task, current, here.instance, where.criterion)
    ids = [criterion.id for criterion in current.criteria]
    at = ids.index(where.criterion) if where.criterion is not None else 0
    if where.move is Move.HERE:
        return here, _pick_criterion(db, person, here, current, where.criterion)
    if where.move is Move.PREVIOUS and at > 0:
        return here, current.criteria[at - 1]
    if where.move is Move.NEXT and where.which is Filter.ALL:
        # without a filter, a person sees every item, including saved ones
        if at + 1 < len(current.criteria):
            return here, current.criteria[at + 1]
    elif where.move is Move.NEXT:
        left = _unfinished_here(db, person, here, current, at)
        if left is not None:
            return here, left
    return _elsewhere(db, person, task, whole, here, where)


def _elsewhere(
    db: Database,
    person: Person,
    task: Task,
    current: CriteriaSet,
    here: Assignment,
    where: Where,
) -> Place | None:
    """Return the place in another instance after a move; without one, the current place, or None at the end."""
    assignment = next(
        (candidate for candidate in _candidates(db, person, task, here, where) if candidate is not None),
        None,
    )
    leaving = where.move in (Move.NEXT, Move.NEXT_SHEET) or (
        where.move is Move.NEXT_INSTANCE and here.skipped
    )
    if assignment is None and leaving:
        return None
    if assignment is None or (assignment.instance == here.instance and not leaving):
        mine = narrow_criteria(db, person, task, current, here.instance, where.criterion)
        return here, _pick_criterion(db, person, here, mine, where.criterion)
    mine = narrow_criteria(db, person, task, current, assignment.instance)
    if where.move is Move.PREVIOUS:
        return assignment, mine.criteria[-1]
    return assignment, _pick_criterion(db, person, assignment, mine, None)


def _candidates(
    db: Database, person: Person, task: Task, here: Assignment, where: Where
) -> Iterator[Assignment | None]:
    """Yield the possible assignments, best first: ahead, then passed ones, then skipped ones."""

    def nearest(after: int, *, backwards: bool = False, skipped: bool | None = None) -> Assignment | None:
        return assignments.next_assignment(
            db, person.id, task.id, after, where.which, backwards=backwards, skipped=skipped
        )

    if where.move in (Move.PREVIOUS, Move.PREVIOUS_INSTANCE):
        yield nearest(here.position, backwards=True)
    elif where.which is not Filter.UNFINISHED:
        yield nearest(here.position)
    else:
        yield nearest(here.position, skipped=False)
        yield nearest(0, skipped=False)
        yield nearest(here.position, skipped=True)
        if where.move in (Move.NEXT, Move.NEXT_SHEET):
            yield nearest(0, skipped=True)


def find_start(db: Database, person: Person, task: Task, where: Where) -> Assignment | None:
    """Return the assignment for a place; None if the person has none under the filter.

    Raises:
        NotFoundError: the position or the instance is not in this person's queue.
    """
    if where.position is not None:
        assignment = assignments.get_assignment(db, person.id, task.id, where.position)
        if assignment is None:
            total = assignments.count_assignments(db, person.id, task.id)["total"]
            raise NotFoundError(
                tr(
                    "There is no number {position} in your queue: type 1 to {total}.",
                    position=where.position,
                    total=total,
                )
            )
        return assignment
    if where.instance is not None:
        assignment = assignments.find_assignment(db, person.id, where.instance)
        if assignment is None or assignment.task != task.id:
            raise NotGivenError(tr("That instance is not in your queue: reload the page."))
        return assignment
    fresh = assignments.next_assignment(db, person.id, task.id, 0, where.which, skipped=False)
    return fresh or assignments.next_assignment(db, person.id, task.id, 0, where.which)


def _pick_criterion(
    db: Database,
    person: Person,
    at: Assignment,
    current: CriteriaSet,
    preferred: int | None,
) -> Criterion:
    """Return the preferred criterion, or else the first unfinished one, or else the first."""
    for criterion in current.criteria:
        if criterion.id == preferred:
            return criterion
    left = _list_left(db, person, at, current.criteria)
    return next(left, current.criteria[0])


def _unfinished_here(
    db: Database, person: Person, here: Assignment, current: CriteriaSet, at: int
) -> Criterion | None:
    """Return the next unfinished criterion of this instance, from position ``at`` and then from the top."""
    ahead = (*current.criteria[at + 1 :], *current.criteria[:at])
    return next(_list_left(db, person, here, ahead), None)


def _list_left(
    db: Database, person: Person, at: Assignment, among: Iterable[Criterion]
) -> Iterator[Criterion]:
    """Yield the criteria that are not saved."""
    done = submissions.list_done(db, person.id, at.instance)
    return (c for c in among if c.id not in done)
