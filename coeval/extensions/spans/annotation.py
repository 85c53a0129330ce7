"""Open the next instance for a person to mark spans, with its draft, and save the result.

The study draws the arm of each instance and person; the Scrutiny tab uses the same arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from coeval.domain import Arm, Assignment, Instance, Person, Task
from coeval.errors import InputError, NotGivenError, StaleError
from coeval.extensions.spans import queries
from coeval.extensions.spans.queries import Place, SpanDraft, SpanRun, SpanSubmission
from coeval.extensions.spans.rows import (
    MAX_SPANS,
    SentSpan,
    SpanRow,
    arrange,
    check_score,
    settle,
)
from coeval.extensions.spans.typology import Span, Typology
from coeval.language import later, tr
from coeval.rules.evaluation_rows import Count, Exact, Flag, Id, Score, Uid
from coeval.store import Database
from coeval.store.queries import assignments, submissions, tasks
from coeval.usecases.access import EVERYONE, OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.scrutiny import policies
from coeval.usecases.scrutiny.queue import ensure_queue
from coeval.usecases.scrutiny.steps import find_times, require_assignment, same_or_refused

STALE = later(
    "Another tab has saved these spans. Nothing was overwritten: compare the two versions and save the one to keep."
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The content of one screen. No instance means that nothing is left to mark; ``shown`` is the displayed draft."""

    task: Task
    typology: Typology
    total: int
    done: int
    position: int = 0
    assignment: Assignment | None = None
    instance: Instance | None = None
    system: str = ""
    draft: SpanDraft | None = None
    shown: tuple[Span, ...] = ()
    awaits_first: bool = False
    """True if the person must mark spans before the draft is shown."""
    unread: bool = False
    """True if the draft is unreadable."""
    saved: SpanSubmission | None = None
    guidelines: str = ""
    idle_seconds: int = 60

    @property
    def revision(self) -> int:
        return self.saved.revision if self.saved else 0


@dataclass(frozen=True, slots=True)
class Where:
    """A place in the queue: a position, an instance, or (both None) the first unfinished instance, then moved by
    ``step``.
    """

    position: int | None = None
    instance: int | None = None
    step: int = 0
    """1 for the next unfinished instance, -1 for the previous one, 0 to stay."""


@dataclass(frozen=True, slots=True)
class SentSheet(Exact):
    """The browser's request to save the spans of one instance."""

    uid: Uid
    instance: Id
    draft: Id | None
    revision: Count
    rows: Annotated[tuple[SentSpan, ...], Field(max_length=MAX_SPANS * 2)]
    score: Score | None = None
    bulk: Flag = False
    opened_at: Annotated[str, Field(max_length=40)] = ""
    active_ms: Count | None = None


@use_case(EVERYONE)
def get_typology(context: Context, person: Person, slug: str) -> Typology | None:
    """Return the typology of a task; None if people do not mark spans in it."""
    with context.store.read() as db:
        return queries.get_typology(db, require_task(db, slug).id)


@use_case(OWNERS)
def set_typology(context: Context, person: Person, slug: str, typology: Typology) -> None:
    """Let people mark spans in a task with a typology.

    Raises:
        InputError: people have already saved spans with another typology.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = queries.get_typology(db, task.id)
        if current is not None and current.to_json() == typology.to_json():
            return
        saves = queries.count_saves(db, task.id)
        if current is not None and saves:
            raise InputError(
                f"People have saved spans with the typology “{current.title}” ({saves:,} saves): to use "
                "another typology, import the texts into a new task."
            )
        queries.set_typology(db, task.id, typology, person.name)


@use_case(TEAM)
def list_span_runs(context: Context, person: Person, slug: str) -> Sequence[tuple[SpanRun, int, int]]:
    """Return the runs that drafted spans, each with its numbers of drafts and of unreadable answers."""
    with context.store.read() as db:
        return queries.list_runs(db, require_task(db, slug).id)


@use_case(EVERYONE)
def open_sheet(context: Context, person: Person, slug: str, where: Where = Where()) -> Sheet | None:
    """Open an instance from the person's queue to mark spans; None if people do not mark spans in this task.

    Raises:
        NotGivenError: the instance or the position is not in this person's queue.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        if queries.get_typology(db, task.id) is None:
            return None
    ensure_queue(context, person, task)
    with context.store.write() as db:
        return _open(db, person, task, where)


def _open(db: Database, person: Person, task: Task, where: Where) -> Sheet:
    typology = queries.get_typology(db, task.id)
    assert typology is not None
    run = queries.get_run(db, task.id)
    design = tasks.get_design(db, task.id)
    places = queries.list_places(db, person.id, task.id)
    position = _choose(places, where)
    total, done = len(places), sum(place.done for place in places)
    empty = Sheet(task, typology, total, done)
    assignment = assignments.get_assignment(db, person.id, task.id, position) if position else None
    if assignment is None:
        return empty
    opened = policies.may_open(db, task, person, assignment, ())
    sheet = replace(
        empty,
        position=opened.position,
        assignment=opened,
        instance=tasks.get_instance(db, opened.instance),
        saved=queries.get_submission(db, person.id, opened.instance),
        guidelines=policies.get_guidelines(db, person, task),
        idle_seconds=design.idle_seconds,
    )
    if not design.hide_systems and sheet.instance:
        sheet = replace(sheet, system=sheet.instance.system)
    return _show_draft(db, sheet, run)


def _choose(places: Sequence[Place], where: Where) -> int | None:
    """Return the position to open; None if nothing is left to mark."""
    left = [place.position for place in places if not place.done]
    if where.instance is None and where.position is None:
        return left[0] if left else None
    for place in places:
        if place.instance == where.instance or where.instance is None and place.position == where.position:
            break
    else:
        raise NotGivenError(tr("That instance is not in your queue: reload the page."))
    if not where.step:
        return place.position
    if where.step < 0:
        return max(
            (each.position for each in places if each.position < place.position), default=place.position
        )
    return next((position for position in left if position > place.position), left[0] if left else None)


def _show_draft(db: Database, sheet: Sheet, run: SpanRun | None) -> Sheet:
    """Return the sheet with the draft for this person: the saved one's draft, or else the newest run's."""
    assert sheet.assignment is not None and sheet.instance is not None
    arm, saved, instance = sheet.assignment.arm, sheet.saved, sheet.instance
    if arm not in (Arm.ASSISTED, Arm.FIRST):
        return sheet  # arms that show a part of a draft show no spans, because a draft here is only spans
    draft = queries.get_draft_by_id(db, saved.draft) if saved and saved.draft else None
    if draft is None and (saved is None or saved.first):
        draft = queries.get_draft(db, run.id, instance.id) if run else None
    if draft is None:
        return sheet
    if draft.reason:
        return replace(sheet, unread=True)
    if arm is Arm.FIRST and saved is None:
        return replace(sheet, awaits_first=True)
    return replace(sheet, draft=draft, shown=tuple(arrange(draft.spans)))


@use_case(EVERYONE)
def save_spans(context: Context, person: Person, slug: str, sent: SentSheet) -> SpanSubmission:
    """Save the person's spans of an instance as a new revision.

    If the same ``uid`` is sent again, the first save is returned.

    Raises:
        StaleError: another tab saved these spans meanwhile, or the draft shown has changed.
        InputError: a decision or the score is missing, or a span is invalid.
        NotGivenError: the instance is not this person's.
        NotAllowedError: the study is closed.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        before = queries.get_by_uid(db, sent.uid)
        if before is not None:
            mine = (before.annotator, before.instance) == (person.id, sent.instance)
            return same_or_refused(before, is_same=mine)
        require_assignment(context, db, person, task, sent.instance)
        if queries.get_typology(db, task.id) is None:
            raise InputError(tr("This task has no spans to mark: reload the page."))
        sheet = _open(db, person, task, Where(instance=sent.instance))
        assert sheet.assignment is not None and sheet.instance is not None
        if sheet.revision != sent.revision or (sheet.draft.id if sheet.draft else None) != sent.draft:
            raise StaleError(tr(STALE))
        rows = settle(sheet.shown, sent.rows, sheet.typology, sheet.instance.input, sheet.instance.output)
        worked_until = submissions.get_worked_until(db, person.id, "spans_submission")
        saved = queries.record_submission(db, _build(sheet, person, sent, rows, worked_until))
        policies.saved(db, person, task)
    return saved


def _build(
    sheet: Sheet, person: Person, sent: SentSheet, rows: tuple[SpanRow, ...], worked_until: str
) -> SpanSubmission:
    assert sheet.assignment is not None and sheet.assignment.arm is not None
    is_blind = sheet.assignment.arm is Arm.BLIND
    opened_at, active_ms = find_times(sheet.assignment, worked_until, sent.opened_at, sent.active_ms)
    return SpanSubmission(
        uid=sent.uid,
        annotator=person.id,
        instance=sent.instance,
        draft=sheet.draft.id if sheet.draft else None,
        # without a draft to show, the save does not count in the arm
        arm=sheet.assignment.arm if sheet.draft or sheet.awaits_first or is_blind else Arm.UNDRAFTED,
        revision=sheet.revision + 1,
        rows=rows,
        score=check_score(sent.score, sheet.typology),
        first=sheet.awaits_first,
        bulk=sent.bulk,
        opened_at=opened_at,
        active_ms=active_ms,
    )
