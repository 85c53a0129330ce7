"""People's work on an instance's criteria: approve, delete, revise or add criteria, and judge each one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import AfterValidator, Field

from coeval.clock import now
from coeval.datasets.text import shorten
from coeval.domain import (
    HISTORY_PAGE,
    MAX_ADDED,
    MAX_REMARK,
    NEWEST,
    Action,
    Arm,
    Assignment,
    Instance,
    Person,
    Task,
)
from coeval.errors import InputError, NotFoundError, NotGivenError, StaleError
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.queries import COLUMN, Criterion, Judgment, Line, Run, Submission
from coeval.extensions.rubrics.scoring import (
    MAX_AXIS,
    MAX_CRITERIA,
    check_name,
    check_points,
    check_wording,
    instance_score,
    read_rubrics,
)
from coeval.language import tr
from coeval.rules.arms import Design
from coeval.rules.evaluation_rows import Count, Exact, Id, Remark, Score, Uid, check_text
from coeval.store import Database
from coeval.store.queries import assignments, submissions, tasks
from coeval.usecases.access import EVERYONE, TEAM, Context, require_task, use_case
from coeval.usecases.images import ShownImage, show_images
from coeval.usecases.scrutiny import policies
from coeval.usecases.scrutiny.design import find_telling_columns
from coeval.usecases.scrutiny.queue import ensure_queue
from coeval.usecases.scrutiny.steps import find_times, require_assignment, same_or_refused


@dataclass(frozen=True, slots=True)
class Sheet:
    """One instance with its criteria, as one person sees it; no instance means that nothing is left to judge.

    ``judgments`` are the drafts on the screen. They are empty before the first save if the person judges first
    (``awaits_first``). They are also empty in arms that show no draft or a part of one, because a draft is only a
    verdict.
    """

    task: Task
    design: Design
    total: int
    done: int
    position: int = 0
    arm: Arm = Arm.BLIND
    instance: Instance | None = None
    images: tuple[ShownImage, ...] = ()
    withheld: frozenset[str] = frozenset()
    criteria: tuple[Criterion, ...] = ()
    run: Run | None = None
    judgments: dict[int, Judgment] = field(default_factory=dict)
    saved: Submission | None = None
    awaits_first: bool = False

    @property
    def done_in(self) -> Arm:
        """The arm of a save of this sheet; saves without a verdict to show get a separate arm."""
        shown = any(judgment.value is not None for judgment in self.judgments.values())
        return self.arm if shown or self.awaits_first or self.arm is Arm.BLIND else Arm.UNDRAFTED


@dataclass(frozen=True, slots=True)
class SentLine(Exact):
    """A person's decision on one criterion: a stored one by its id, or an added one.

    Without an action, a stored criterion is approved.
    """

    id: Id | None = None
    action: Action | None = None
    new_text: Remark = ""
    points: Score | None = None
    axis: Annotated[str, Field(max_length=MAX_AXIS), AfterValidator(check_text)] = ""
    reason: Remark = ""
    value: Score | None = None
    evidence: Remark = ""


@dataclass(frozen=True, slots=True)
class Sent(Exact):
    """The browser's request to save a sheet; ``revision`` and ``run`` belong to the displayed sheet."""

    uid: Uid
    instance: Id
    revision: Count
    run: Id | None
    lines: Annotated[tuple[SentLine, ...], Field(max_length=MAX_CRITERIA * 2 + MAX_ADDED)]
    opened_at: Annotated[str, Field(max_length=40)] = ""
    active_ms: Count | None = None


def ensure_taken(context: Context, task: Task) -> int:
    """Read the criteria from the column of imported instances; return the number of new ones.

    Raises:
        InputError: a cell is not a list of criteria; nothing was written.
    """
    with context.store.read() as db:
        if not queries.list_untaken(db, task.id):
            return 0
    with context.store.write() as db:
        count = 0
        for row in queries.list_untaken(db, task.id):
            cell = json.loads(row["context_json"])[COLUMN]
            place = f"Instance “{shorten(row['external_id'])}”, column '{COLUMN}'"
            rubrics = read_rubrics(cell, place) if cell.strip() else ()
            count += queries.add_criteria(db, row["id"], rubrics)
            queries.record_taken(db, row["id"])
        return count


@use_case(TEAM)
def count_criteria(context: Context, person: Person, slug: str) -> dict[str, int]:
    """Return how many instances of a task have their own criteria, and the number of these criteria."""
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_taken(context, task)
    with context.store.read() as db:
        by_instance = queries.list_task_criteria(db, task.id).values()
        return {
            "instances": tasks.count_instances(db, task.id),
            "with_criteria": len(by_instance),
            "criteria": sum(map(len, by_instance)),
            "drafted": sum(criterion.run is not None for criteria in by_instance for criterion in criteria),
        }


@use_case(EVERYONE)
def has_rubrics(context: Context, person: Person, slug: str) -> bool:
    """Return whether instances of a task have their own criteria."""
    with context.store.read() as db:
        task = require_task(db, slug)
        return queries.has_criteria(db, task.id) or bool(queries.list_untaken(db, task.id))


@use_case(EVERYONE)
def get_rubrics_sheet(
    context: Context,
    person: Person,
    slug: str,
    at: int | None = None,
    move: int = 0,
    *,
    instance: int | None = None,
) -> Sheet:
    """Open an instance with its criteria from the person's queue: by its position or id, or the next unjudged one.

    ``move`` is 1 or -1 for the position after or before ``at``.

    Raises:
        NotFoundError: the task, the position or the instance does not exist for this person.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_taken(context, task)
    ensure_queue(context, person, task)
    with context.store.read() as db:
        if instance is not None:
            assignment = assignments.find_assignment(db, person.id, instance)
        else:
            position = _choose(queries.list_places(db, task.id, person.id), at, move)
            assignment = assignments.get_assignment(db, person.id, task.id, position) if position else None
        if assignment is None or assignment.arm is not None:
            return _build(db, person, task, assignment)
    with context.store.write() as db:
        return _build(db, person, task, policies.may_open(db, task, person, assignment, ()))


def _choose(places: Sequence[tuple[int, bool]], at: int | None, move: int) -> int | None:
    """Return the position to open; None if nothing is left to judge."""
    positions = [position for position, _ in places]
    if at is not None and move == 0:
        if at not in positions:
            raise NotFoundError(tr("There is no instance {number} with criteria in your queue.", number=at))
        return at
    if at is not None:
        beyond = [position for position in positions if (position > at if move > 0 else position < at)]
        if beyond:
            return beyond[0] if move > 0 else beyond[-1]
        return at if at in positions else next(iter(positions), None)
    return next((position for position, done in places if not done), None)


def _build(db: Database, person: Person, task: Task, assignment: Assignment | None) -> Sheet:
    total, done = queries.count_progress(db, task.id, person.id)
    sheet = Sheet(task, tasks.get_design(db, task.id), total, done)
    instance = tasks.get_instance(db, assignment.instance) if assignment else None
    if assignment is None or instance is None:
        return sheet
    assert assignment.arm is not None
    saved = queries.get_submission(db, person.id, instance.id)
    run = queries.get_shown_run(db, task.id) if assignment.arm in (Arm.ASSISTED, Arm.FIRST) else None
    judgments = queries.list_judgments(db, run.id, instance.id) if run else {}
    drafted = any(judgment.value is not None for judgment in judgments.values())
    if awaits_first := drafted and assignment.arm is Arm.FIRST and saved is None:
        run, judgments = None, {}
    return replace(
        sheet,
        task=replace(task, guidelines=policies.get_guidelines(db, person, task)),
        position=assignment.position,
        arm=assignment.arm,
        instance=instance,
        images=show_images(db, task, instance),
        withheld=find_telling_columns(db, task) | {COLUMN},
        criteria=tuple(queries.list_criteria(db, instance.id)),
        run=run,
        judgments=judgments,
        saved=saved,
        awaits_first=awaits_first,
    )


@use_case(EVERYONE)
def submit_rubrics_sheet(context: Context, person: Person, slug: str, sent: Sent) -> Submission:
    """Save the person's review of an instance's criteria as a new revision.

    A repeated ``uid`` returns the first save.

    Raises:
        StaleError: another tab saved this sheet meanwhile, or its criteria or drafts have changed.
        InputError: a decision, a judgment or a text is missing or too long.
        NotFoundError: the instance is not in this person's queue.
        NotAllowedError: the study is closed, or this person may not work on it.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        before = queries.get_by_uid(db, sent.uid)
        if before is not None:
            mine = (before.annotator, before.instance) == (person.id, sent.instance)
            return same_or_refused(before, is_same=mine)
        assignment = require_assignment(context, db, person, task, sent.instance)
        assignment = policies.may_open(db, task, person, assignment, ())
        sheet = _build(db, person, task, assignment)
        _check_fresh(sheet, sent)
        worked_until = submissions.get_worked_until(db, person.id, "rubrics_submission")
        opened_at, active_ms = find_times(assignment, worked_until, sent.opened_at, sent.active_ms)
        submission = Submission(
            uid=sent.uid,
            instance=sent.instance,
            annotator=person.id,
            revision=sent.revision + 1,
            arm=str(sheet.done_in),
            run=sheet.run.id if sheet.run else None,
            opened_at=opened_at,
            active_ms=active_ms,
            submitted_at=now(),
            lines=_check_lines(sheet, sent.lines),
        )
        queries.record_submission(db, submission)
        policies.saved(db, person, task)
        return submission


def _check_fresh(sheet: Sheet, sent: Sent) -> None:
    revision = sheet.saved.revision if sheet.saved else 0
    if revision != sent.revision:
        raise StaleError(
            tr(
                "Another tab has saved this instance. Nothing was overwritten: compare the two versions and confirm "
                "the one to keep."
            )
        )
    ids = {criterion.id for criterion in sheet.criteria}
    named = [line.id for line in sent.lines if line.id is not None]
    shown = sheet.run.id if sheet.run else None
    if shown != sent.run or set(named) != ids or len(named) != len(ids):
        raise StaleError(
            tr("The criteria or drafts of this instance have changed since you opened it: check them again.")
        )


def _check_lines(sheet: Sheet, sent: Sequence[SentLine]) -> tuple[Line, ...]:
    by_id = {criterion.id: criterion for criterion in sheet.criteria}
    added = sum(line.id is None for line in sent)
    if added > MAX_ADDED:
        raise InputError(tr("You can add at most {n} lines here.", n=MAX_ADDED))
    return tuple(
        _check_line(sheet, by_id.get(line.id or 0), line, number) for number, line in enumerate(sent, 1)
    )


def _check_line(sheet: Sheet, criterion: Criterion | None, line: SentLine, number: int) -> Line:
    """Return a line in its stored form, after comparing the action with the original criterion."""
    place = tr("Criterion {number}", number=number)
    action = line.action or (Action.APPROVE if line.id else Action.ADD)
    for text in (line.reason, line.evidence, line.new_text):
        if len(text) > MAX_REMARK:
            raise InputError(tr("{place}: a text is longer than {n} characters.", place=place, n=MAX_REMARK))
    if (criterion is None) != (action is Action.ADD):
        raise InputError(tr("{place}: choose an action, or reload the page.", place=place))
    reason, evidence = line.reason.strip(), line.evidence.strip()
    if action is Action.DELETE:
        return Line(criterion.id if criterion else None, str(action), reason=reason)
    if line.value is None or line.value not in (0, 1):
        raise InputError(tr("{place}: say whether it is met.", place=place))
    if criterion is None:
        text, points = check_wording(line.new_text, place), check_points(line.points, place)
        axis = check_name(line.axis, place)
        return Line(None, str(Action.ADD), text, points, axis, reason, line.value, evidence)
    judgment = sheet.judgments.get(criterion.id)
    text, new_points = "", None
    if action is Action.REVISE:
        text = check_wording(line.new_text, place)
        new_points = check_points(criterion.rubric.points if line.points is None else line.points, place)
        if (text, new_points) == (criterion.rubric.text, criterion.rubric.points):
            raise InputError(tr("{place}: the wording is unchanged: change it or approve it.", place=place))
    return Line(
        criterion.id, str(action), text, new_points, "", reason, line.value, evidence,
        judgment.id if judgment else None,
    )  # fmt: skip


@use_case(EVERYONE)
def list_rubrics_history(
    context: Context, person: Person, slug: str, position: int, before: int = NEWEST
) -> tuple[list[Criterion], list[Submission]]:
    """Return the revisions of the person's review of an instance's criteria, oldest first.

    One page has the last revisions before the revision ``before``.

    Raises:
        NotFoundError: the position is not in this person's queue.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        assignment = assignments.get_assignment(db, person.id, task.id, position)
        if assignment is None:
            raise NotGivenError(tr("This instance is not in your queue: reload the page."))
        saved = queries.list_history(db, person.id, assignment.instance, before, HISTORY_PAGE)
        return queries.list_criteria(db, assignment.instance), saved


def kept_rubrics(criteria: Sequence[Criterion], submission: Submission) -> list[tuple[float, float | None]]:
    """Return (points, value) of a person's final criteria, without the deleted ones."""
    points = {criterion.id: criterion.rubric.points for criterion in criteria}
    kept = []
    for line in submission.lines:
        if line.action != Action.DELETE:
            stored = points.get(line.criterion or 0, 0.0)
            kept.append((stored if line.points is None else line.points, line.value))
    return kept


def own_score(criteria: Sequence[Criterion], submission: Submission) -> float | None:
    """Return an instance's score, computed from a person's save."""
    return instance_score(kept_rubrics(criteria, submission))
