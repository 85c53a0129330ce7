"""Reviews of the work: comparisons of people, instances, and messages of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coeval.datasets.tables.instances import is_made_up
from coeval.domain import (
    MAX_REMARK,
    Adjudication,
    Arm,
    Criterion,
    Dispute,
    Draft,
    DraftStatus,
    InboxItem,
    InboxState,
    Instance,
    InstanceState,
    Only,
    Person,
    Remark,
    Submission,
    Task,
)
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.rules.planted_errors import apply_planted_error
from coeval.rules.screening import Habits, find_habits
from coeval.store import Database
from coeval.store.queries import criteria, drafts, planted_errors, review, submissions, tasks
from coeval.usecases.access import EVERYONE, OWNERS, Context, require_task, use_case
from coeval.usecases.images import ShownImage, show_images
from coeval.usecases.reports.task_frames import read_saves
from coeval.usecases.scrutiny.queue import require_set

# Reviews for owners: saves, comparisons of people, decisions, and working habits.


@dataclass(frozen=True, slots=True)
class PersonsWork:
    """One person's work on one evaluation: every revision, and the draft that they saw."""

    person: str
    revisions: tuple[Submission, ...]
    shown: Draft | None
    first: Submission | None

    @property
    def latest(self) -> Submission:
        return self.revisions[-1]

    @property
    def arm(self) -> Arm:
        """Return what the person saw: the drawn arm, or undrafted if no draft could be read."""
        readable = self.shown is not None and self.shown.status is DraftStatus.OK
        return self.latest.arm if readable or self.latest.arm is Arm.BLIND else Arm.UNDRAFTED


@dataclass(frozen=True, slots=True)
class PeopleComparison:
    """One instance and criterion: the shown run's draft, everybody's work, and the owner's decision."""

    task: Task
    instance: Instance
    criterion: Criterion
    draft: Draft | None
    columns: tuple[PersonsWork, ...]
    decided: Adjudication | None


@use_case(OWNERS)
def list_disputes(context: Context, person: Person, slug: str) -> Sequence[Dispute]:
    """Return the evaluations on which people's scores differ most."""
    with context.store.read() as db:
        task = require_task(db, slug)
        return review.list_disputes(db, task.id, require_set(db, task).id)


@use_case(OWNERS)
def compare_people(
    context: Context, person: Person, slug: str, external_id: str, criterion: int
) -> PeopleComparison:
    """Return everybody's work on an instance and a criterion.

    Raises:
        NotFoundError: the task has no such instance or criterion.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        instance, by = _find_unit(db, task, external_id, criterion)
        run = drafts.get_shown_run(db, task.id)
        saved = review.list_saved(db, instance.id, by.id)
        names = list(dict.fromkeys(name for name, _ in saved))
        return PeopleComparison(
            task=task,
            instance=instance,
            criterion=by,
            draft=drafts.get_current_draft(db, run.id, instance.id, by.id) if run else None,
            columns=tuple(
                _column(db, name, [submission for whose, submission in saved if whose == name])
                for name in names
            ),
            decided=review.get_adjudication(db, instance.id, by.id),
        )


def _find_unit(db: Database, task: Task, external_id: str, criterion: int) -> tuple[Instance, Criterion]:
    instance = tasks.find_instance(db, task.id, external_id)
    if instance is None:
        raise NotFoundError(f"“{task.name}” has no instance “{external_id[:80]}”: copy its id from a list.")
    by = next((member for member in require_set(db, task).criteria if member.id == criterion), None)
    if by is None:
        raise NotFoundError("That criterion is not in the current criteria set: reload the page.")
    return instance, by


def _column(db: Database, name: str, revisions: list[Submission]) -> PersonsWork:
    latest = revisions[-1]
    key = (latest.person, latest.instance, latest.criterion)
    draft = drafts.get_draft(db, latest.draft) if latest.draft else None
    planted = planted_errors.get_planted_error(db, *key) if latest.planted else None
    return PersonsWork(
        person=name,
        revisions=tuple(revisions),
        shown=apply_planted_error(draft, planted) if draft else None,
        first=submissions.get_first_score(db, *key),
    )


@use_case(OWNERS)
def adjudicate(
    context: Context,
    person: Person,
    slug: str,
    external_id: str,
    criterion: int,
    *,
    score: float,
    note: str = "",
    revision: int = 0,
) -> Adjudication:
    """Decide a disputed score. The decision is stored separately from people's scores.

    ``revision`` is the revision of the decision that this one replaces, 0 for the first.

    Raises:
        InputError: the score is not on the criterion's scale, or the note is too long.
        StaleError: another owner has decided meanwhile.
    """
    if len(note) > MAX_REMARK:
        raise InputError(f"The note has {len(note):,} characters; shorten it to {MAX_REMARK:,}.")
    with context.store.write() as db:
        task = require_task(db, slug)
        instance, by = _find_unit(db, task, external_id, criterion)
        if not by.scale.admits(score):
            raise InputError(f"{score:g} is not on the scale: choose one of {by.scale}.")
        earlier = review.get_adjudication(db, instance.id, by.id)
        if (earlier.revision if earlier else 0) != revision:
            raise StaleError("Somebody else decided this meanwhile: look at it again.")
        decided = Adjudication(instance.id, by.id, score, note.strip(), revision=revision + 1)
        review.record_adjudication(db, decided, person.id)
        kept = review.get_adjudication(db, instance.id, by.id)
    assert kept is not None
    return kept


@use_case(OWNERS)
def list_habits(context: Context, person: Person, slug: str) -> list[Habits]:
    """Return each person's way of working with drafts, and questions to ask them."""
    with context.store.read() as db:
        return find_habits(read_saves(db, require_task(db, slug)))


# Lists of a task's instances: drafts, judges, flags and comments.

MOST_INSTANCES = 500
"""The largest number of instances in a list; a search or a filter finds the others."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One instance and criterion: the shown run's draft, and everybody's latest score."""

    criterion: Criterion
    draft: Draft | None
    latest: tuple[tuple[str, Submission], ...]


@dataclass(frozen=True, slots=True)
class InstanceView:
    """All data of one instance."""

    instance: Instance
    images: tuple[ShownImage, ...]
    judged: tuple[Judged, ...]
    remarks: tuple[Remark, ...]


@use_case(OWNERS)
def list_instances(
    context: Context, person: Person, slug: str, *, search: str = "", system: str = "", only: Only = Only.ALL
) -> list[InstanceState]:
    """Return all instances of a task, or those that match a search, belong to one system, or need a look.

    A document that the data does not name is listed without a name, because its stored name is made from its
    input.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        run = drafts.get_shown_run(db, task.id)
        states = review.list_instance_states(
            db,
            task.id,
            run.id if run else None,
            search=search.strip(),
            system=system,
            only=only,
            limit=MOST_INSTANCES,
        )
    return [replace(state, document="") if is_made_up(state.document) else state for state in states]


@use_case(OWNERS)
def list_systems(context: Context, person: Person, slug: str) -> list[str]:
    """Return the systems that wrote a task's outputs."""
    with context.store.read() as db:
        return tasks.list_systems(db, require_task(db, slug).id)


@use_case(OWNERS)
def view_instance(context: Context, person: Person, slug: str, external_id: str) -> InstanceView:
    """Return all data of one instance: texts, drafts, scores and comments.

    Raises:
        NotFoundError: the task has no such instance.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        instance = tasks.find_instance(db, task.id, external_id)
        if instance is None:
            raise NotFoundError(f"The task “{slug}” has no instance “{external_id[:80]}”: search for it.")
        current = criteria.get_criteria_set(db, task.id)
        run = drafts.get_shown_run(db, task.id)
        judged = []
        for criterion in current.criteria if current else ():
            draft = drafts.get_current_draft(db, run.id, instance.id, criterion.id) if run else None
            latest = dict(review.list_saved(db, instance.id, criterion.id))
            judged.append(Judged(criterion, draft, tuple(latest.items())))
        images = show_images(db, task, instance)
        return InstanceView(instance, images, tuple(judged), tuple(review.list_remarks(db, instance.id)))


MOST_MESSAGES = 200
"""The largest number of messages in a list."""


@use_case(OWNERS)
def list_messages(
    context: Context, person: Person, slug: str, state: InboxState | None = None
) -> list[InboxItem]:
    """Return the flags and comments on a task, the newest first."""
    with context.store.read() as db:
        return review.list_messages(db, require_task(db, slug).id, state, MOST_MESSAGES)


@use_case(OWNERS)
def count_open_messages(context: Context, person: Person, slug: str) -> int:
    """Return the number of flags and comments on a task that wait for an answer."""
    with context.store.read() as db:
        return review.count_open_messages(db, require_task(db, slug).id)


@use_case(OWNERS)
def answer_message(
    context: Context, person: Person, slug: str, message: int, text: str, *, close: bool = False
) -> InboxItem:
    """Answer a flag or comment, or close it. Its author sees the answer, and earlier answers stay on record.

    Raises:
        InputError: the answer is empty or too long.
        NotFoundError: the message does not exist, or its author has changed it meanwhile.
    """
    text = text.strip()
    if not text and not close:
        raise InputError("The answer is empty: write one, or close the message without an answer.")
    if len(text) > MAX_REMARK:
        raise InputError(f"The answer has {len(text):,} characters; shorten it to {MAX_REMARK:,}.")
    with context.store.write() as db:
        task = require_task(db, slug)
        if review.get_message(db, task.id, message) is None:
            raise NotFoundError("This message was removed or changed: reload the list.")
        state = InboxState.CLOSED if close else InboxState.ANSWERED
        review.add_message_answer(db, message, state, text, person.name)
        answered = review.get_message(db, task.id, message)
        assert answered is not None
    return answered


@use_case(EVERYONE)
def list_answers(context: Context, person: Person, slug: str) -> list[tuple[int, InboxItem]]:
    """Return the answers to a person's own flags and comments, each with its position in their queue."""
    with context.store.read() as db:
        return review.list_message_answers(db, require_task(db, slug).id, person.id)
