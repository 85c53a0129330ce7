"""Stage 2: the next evaluation to scrutinise, and saving what a person made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from coeval import scrutiny
from coeval.domain import MAX_REMARK, Arm, CriteriaSet, Criterion, Draft, Instance, Person, Submission, Task
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.scrutiny import AddedRow, SentRow
from coeval.store import Database, assignments, criteria, drafts, submissions, tasks
from coeval.store.assignments import Assignment, Filter, Mark
from coeval.study.access import EVERYONE, Context, require_task, use_case

MAX_ACTIVE_MS = 24 * 3600 * 1000


class Move(StrEnum):
    """Where to go from an instance and criterion."""

    HERE = "here"
    NEXT = "next"
    PREVIOUS = "previous"
    NEXT_INSTANCE = "next_instance"
    PREVIOUS_INSTANCE = "previous_instance"


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a person's queue: by position, by instance, or (all None) where they left off."""

    which: Filter = Filter.UNFINISHED
    position: int | None = None
    instance: int | None = None
    criterion: int | None = None
    move: Move = Move.HERE


@dataclass(frozen=True, slots=True)
class Step:
    """One screen of scrutiny: an instance by a criterion, what is drafted, what the person saved before.

    ``assignment`` and all that follows are None where nothing is left under the filter.
    """

    task: Task
    which: Filter
    total: int
    finished: int
    flagged: int
    seconds_each: float | None
    criteria: tuple[Criterion, ...]
    assignment: Assignment | None = None
    instance: Instance | None = None
    criterion: Criterion | None = None
    done: frozenset[int] = frozenset()
    draft: Draft | None = None
    saved: Submission | None = None
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class Sent:
    """What a browser sends to save one evaluation; ``revision`` is that of the one it was made from."""

    uid: str
    instance: int
    criterion: int
    draft: int | None
    revision: int
    score: float | None
    rows: tuple[SentRow, ...] = ()
    added: tuple[AddedRow, ...] = ()
    opened_at: str = ""
    active_ms: int | None = None
    bulk: bool = False


@use_case(EVERYONE)
def get_step(context: Context, person: Person, slug: str, where: Where = Where()) -> Step:
    """Open an evaluation of one's own queue.

    Raises:
        NotFoundError: the task, the position or the criterion does not exist for this person.
    """
    ensure_queue(context, person, slug)
    with context.store.read() as db:
        task = require_task(db, slug)
        return _step(db, person, task, _current_set(db, task), where)


def ensure_queue(context: Context, person: Person, slug: str) -> None:
    """Give the person every instance of the task that is not in their queue yet."""
    with context.store.read() as db:
        task = require_task(db, slug)
        missing = assignments.list_unassigned(db, person.id, task.id)
    if not missing:
        return
    with context.store.write() as db:
        missing = assignments.list_unassigned(db, person.id, task.id)
        seed, blind_share = tasks.get_design(db, task.id)
        queue = [
            (instance, scrutiny.draw_arm(seed, person.id, instance, blind_share))
            for instance in scrutiny.draw_order(seed, person.id, missing)
        ]
        assignments.add_assignments(db, person.id, task.id, queue)
        current = criteria.get_criteria_set(db, task.id)
        if current:
            ids = [criterion.id for criterion in current.criteria]
            assignments.refresh_states(db, task.id, ids, annotator=person.id)


def _current_set(db: Database, task: Task) -> CriteriaSet:
    found = criteria.get_criteria_set(db, task.id)
    if found is None:
        raise NotFoundError(
            f"“{task.name}” has no established criteria yet: vote in the Criteria tab first; an owner then "
            "establishes the set."
        )
    return found


def _step(db: Database, person: Person, task: Task, current: CriteriaSet, where: Where) -> Step:
    counts = assignments.count_assignments(db, person.id, task.id)
    base = Step(
        task=task,
        which=where.which,
        total=counts["total"],
        finished=counts["finished"],
        flagged=counts["flagged"],
        seconds_each=_seconds_each(db, person, len(current.criteria)),
        criteria=current.criteria,
    )
    place = _find_place(db, person, task, current, where)
    if place is None:
        return base
    assignment, criterion = place
    saved = submissions.get_submission(db, person.id, assignment.instance, criterion.id)
    return replace(
        base,
        assignment=assignment,
        instance=tasks.get_instance(db, assignment.instance),
        criterion=criterion,
        done=frozenset(submissions.list_done(db, person.id, assignment.instance)),
        draft=_draft_for(db, task, assignment, criterion, saved),
        saved=saved,
        mark=assignments.get_mark(db, person.id, assignment.instance),
    )


def _seconds_each(db: Database, person: Person, n_criteria: int) -> float | None:
    mean = submissions.mean_seconds(db, person.id)
    return None if mean is None else mean * n_criteria


def _draft_for(
    db: Database, task: Task, assignment: Assignment, criterion: Criterion, saved: Submission | None
) -> Draft | None:
    """The draft of a screen: the one saved against, else the shown run's; in the blind arm as well."""
    if saved is not None and saved.draft is not None:
        return drafts.get_draft(db, saved.draft)
    run = drafts.get_shown_run(db, task.id)
    return drafts.get_current_draft(db, run.id, assignment.instance, criterion.id) if run else None


Place = tuple[Assignment, Criterion]


def _find_place(db: Database, person: Person, task: Task, current: CriteriaSet, where: Where) -> Place | None:
    here = _start(db, person, task, where)
    if here is None:
        return None
    ids = [criterion.id for criterion in current.criteria]
    if where.criterion is not None and where.criterion not in ids:
        raise NotFoundError("That criterion is not in the current criteria set: reload the page.")
    if where.move is Move.HERE:
        return here, _criterion_of(db, person, here, current, where.criterion)
    at = ids.index(where.criterion) if where.criterion is not None else 0
    if where.move is Move.PREVIOUS and at > 0:
        return here, current.criteria[at - 1]
    if where.move is Move.NEXT:
        left = _unfinished_here(db, person, here, current, at)
        if left is not None:
            return here, left
    backwards = where.move in (Move.PREVIOUS, Move.PREVIOUS_INSTANCE)
    found = assignments.next_assignment(
        db, person.id, task.id, here.position, where.which, backwards=backwards
    )
    if found is None and not backwards and where.move is Move.NEXT:
        # what was skipped on the way comes round again before the end is shown
        found = assignments.next_assignment(db, person.id, task.id, 0, where.which)
    if found is None:
        return (
            None
            if where.move is Move.NEXT
            else (here, _criterion_of(db, person, here, current, where.criterion))
        )
    last = where.move is Move.PREVIOUS
    return found, current.criteria[-1] if last else _criterion_of(db, person, found, current, None)


def _start(db: Database, person: Person, task: Task, where: Where) -> Assignment | None:
    if where.position is not None:
        found = assignments.get_assignment(db, person.id, task.id, where.position)
        if found is None:
            total = assignments.count_assignments(db, person.id, task.id)["total"]
            raise NotFoundError(f"There is no number {where.position} in your queue: type 1 to {total}.")
        return found
    if where.instance is not None:
        found = assignments.find_assignment(db, person.id, where.instance)
        if found is None or found.task != task.id:
            raise NotFoundError("That instance is not in your queue: reload the page.")
        return found
    return assignments.next_assignment(db, person.id, task.id, 0, where.which)


def _criterion_of(
    db: Database, person: Person, at: Assignment, current: CriteriaSet, wanted: int | None
) -> Criterion:
    """The criterion asked for, else the first that is not saved, else the first."""
    for criterion in current.criteria:
        if criterion.id == wanted:
            return criterion
    done = submissions.list_done(db, person.id, at.instance)
    return next((c for c in current.criteria if c.id not in done), current.criteria[0])


def _unfinished_here(
    db: Database, person: Person, here: Assignment, current: CriteriaSet, at: int
) -> Criterion | None:
    """The next criterion of this instance that is not saved, looking on from here and then from the top."""
    done = submissions.list_done(db, person.id, here.instance)
    ahead = (*current.criteria[at + 1 :], *current.criteria[:at])
    return next((criterion for criterion in ahead if criterion.id not in done), None)


@use_case(EVERYONE)
def submit(context: Context, person: Person, slug: str, sent: Sent) -> Submission:
    """Save one's scrutiny of an instance by a criterion, as a further revision.

    The same ``uid`` sent again is answered with what was saved the first time.

    Raises:
        StaleError: another tab saved this evaluation meanwhile, or the draft shown has changed.
        InputError: a decision or the score is missing (see ``scrutiny.check``).
        NotFoundError: the instance or criterion is not this person's to judge.
    """
    if not 8 <= len(sent.uid) <= 80:
        raise InputError("This save carries no key of its own: reload the page and confirm again.")
    with context.store.write() as db:
        task = require_task(db, slug)
        before = submissions.get_submission_by_uid(db, sent.uid)
        if before is not None:
            return _same_or_refused(before, person, sent)
        current = _current_set(db, task)
        step = _step(db, person, task, current, Where(instance=sent.instance, criterion=sent.criterion))
        _check_fresh(step, sent)
        saved = submissions.record_submission(db, _build_submission(person, step, sent))
        ids = [criterion.id for criterion in current.criteria]
        assignments.refresh_states(db, task.id, ids, annotator=person.id, instance=sent.instance)
    return saved


def _same_or_refused(before: Submission, person: Person, sent: Sent) -> Submission:
    mine = (before.person, before.instance, before.criterion) == (person.id, sent.instance, sent.criterion)
    if not mine:
        raise InputError("This save carries the key of another one: reload the page and confirm again.")
    return before


def _check_fresh(step: Step, sent: Sent) -> None:
    saved = step.saved.revision if step.saved else 0
    if saved != sent.revision:
        raise StaleError(
            "This evaluation was saved from another tab meanwhile. Nothing was overwritten: compare the two and "
            "confirm the one that should stand."
        )
    shown = _shown_draft(step)
    if (shown.id if shown else None) != sent.draft:
        raise StaleError("The draft of this evaluation has changed since you opened it: look at it again.")


def _shown_draft(step: Step) -> Draft | None:
    assert step.assignment is not None
    return step.draft if step.assignment.arm is Arm.ASSISTED else None


def _build_submission(person: Person, step: Step, sent: Sent) -> Submission:
    assert step.assignment is not None and step.criterion is not None
    arm = step.assignment.arm
    rows = scrutiny.check(step.draft, step.criterion.scale, arm, sent.score, sent.rows, sent.added)
    active = sent.active_ms if sent.active_ms is not None and 0 <= sent.active_ms <= MAX_ACTIVE_MS else None
    return Submission(
        person=person.id,
        instance=sent.instance,
        criterion=sent.criterion,
        score=sent.score,
        rows=rows,
        draft=step.draft.id if step.draft else None,
        arm=arm,
        opened_at=_opened_at(sent.opened_at),
        active_ms=active,
        revision=sent.revision + 1,
        uid=sent.uid,
        bulk=sent.bulk,
    )


def _opened_at(text: str) -> str:
    """The browser's opening time as the tables keep it; empty (untimed) where it cannot be one."""
    try:
        opened = datetime.fromisoformat(text)
    except ValueError:
        return ""
    if opened.tzinfo is None or opened > datetime.now(UTC):
        return ""
    return opened.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
    """Flag, skip or comment on an instance of one's own queue; what is None stays as it was."""
    if comment is not None and len(comment) > MAX_REMARK:
        raise InputError(f"The comment has {len(comment):,} characters; shorten it to {MAX_REMARK:,}.")
    with context.store.write() as db:
        task = require_task(db, slug)
        _start(db, person, task, Where(instance=instance))
        old = assignments.get_mark(db, person.id, instance)
        mark = Mark(
            flagged=old.flagged if flagged is None else flagged,
            skipped=old.skipped if skipped is None else skipped,
            comment=old.comment if comment is None else comment.strip(),
        )
        if mark != old:
            assignments.record_mark(db, person.id, instance, mark)
    return mark


@use_case(EVERYONE)
def list_history(
    context: Context, person: Person, slug: str, instance: int, criterion: int
) -> Sequence[Submission]:
    """See every revision one saved of an evaluation, oldest first."""
    with context.store.read() as db:
        _start(db, person, require_task(db, slug), Where(instance=instance))
        return submissions.list_history(db, person.id, instance, criterion)
