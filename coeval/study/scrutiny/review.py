"""Looking back, for owners: who saved what, people side by side, what is decided, and how people work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coeval.domain import (
    MAX_REMARK,
    Adjudication,
    Change,
    Criterion,
    Dispute,
    Draft,
    Instance,
    Person,
    Submission,
    Task,
)
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.rules.habits import Habits, find_habits
from coeval.rules.planted_errors import PlantedError, apply_planted_error
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.drafting import drafts
from coeval.store.queries.scrutiny import planted_errors, review, submissions
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.computing.draft_saves import read_saves
from coeval.study.scrutiny.queue import require_set


@dataclass(frozen=True, slots=True)
class Column:
    """One person's work on one evaluation: every revision, the draft as they saw it, what was planted in it."""

    person: str
    revisions: tuple[Submission, ...]
    shown: Draft | None
    planted: PlantedError | None
    first: Submission | None

    @property
    def latest(self) -> Submission:
        return self.revisions[-1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One instance by one criterion: the shown run's draft, everybody beside it, and what was decided."""

    instance: Instance
    criterion: Criterion
    draft: Draft | None
    columns: tuple[Column, ...]
    decided: Adjudication | None


@use_case(OWNERS)
def list_changes(
    context: Context, person: Person, slug: str, *, of: str = "", instance: str = "", limit: int = 25
) -> Sequence[Change]:
    """See who saved what, and when; of one person or one instance where named."""
    with context.store.read() as db:
        task = require_task(db, slug)
        return review.list_changes(db, task.id, person=of, instance=instance, limit=limit)


@use_case(OWNERS)
def list_disputes(context: Context, person: Person, slug: str) -> Sequence[Dispute]:
    """See where people's scores differ most."""
    with context.store.read() as db:
        task = require_task(db, slug)
        return review.list_disputes(db, task.id, require_set(db, task).id)


@use_case(OWNERS)
def compare_people(
    context: Context, person: Person, slug: str, external_id: str, criterion: int
) -> Comparison:
    """See everybody's work on an instance by a criterion side by side.

    Raises:
        NotFoundError: the task has no such instance or criterion.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        instance, by = _find_unit(db, task, external_id, criterion)
        run = drafts.get_shown_run(db, task.id)
        saved = review.list_saved(db, instance.id, by.id)
        names = list(dict.fromkeys(name for name, _ in saved))
        return Comparison(
            instance=instance,
            criterion=by,
            draft=drafts.get_current_draft(db, run.id, instance.id, by.id) if run else None,
            columns=tuple(
                _column(
                    db, name, [submission for whose, submission in saved if whose == name], instance.output
                )
                for name in names
            ),
            decided=review.get_adjudication(db, instance.id, by.id),
        )


def _find_unit(db: Database, task: Task, external_id: str, criterion: int) -> tuple[Instance, Criterion]:
    instance = tasks.get_instances_by_external_id(db, task.id, [external_id]).get(external_id)
    if instance is None:
        raise NotFoundError(f"“{task.name}” has no instance “{external_id[:80]}”: copy its id from a list.")
    by = next((one for one in require_set(db, task).criteria if one.id == criterion), None)
    if by is None:
        raise NotFoundError("That criterion is not in the current criteria set: reload the page.")
    return instance, by


def _column(db: Database, name: str, revisions: list[Submission], output: str) -> Column:
    latest = revisions[-1]
    key = (latest.person, latest.instance, latest.criterion)
    draft = drafts.get_draft(db, latest.draft) if latest.draft else None
    planted = planted_errors.get_planted_error(db, *key) if latest.planted else None
    return Column(
        person=name,
        revisions=tuple(revisions),
        shown=apply_planted_error(draft, planted, output) if draft else None,
        planted=planted,
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
    """Decide a score where people differ; it is kept apart from theirs.

    ``revision`` is that of the decision it was made from, 0 for the first.

    Raises:
        InputError: the score is not on the criterion's scale, or the note is too long.
        StaleError: another owner decided meanwhile.
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
            raise StaleError("This was decided by somebody else meanwhile: look at it again.")
        decided = Adjudication(instance.id, by.id, score, note.strip(), revision=revision + 1)
        review.record_adjudication(db, decided, person.id)
        kept = review.get_adjudication(db, instance.id, by.id)
    assert kept is not None
    return kept


@use_case(OWNERS)
def list_habits(context: Context, person: Person, slug: str) -> list[Habits]:
    """See how each person works with the drafts, and what one may ask them."""
    with context.store.read() as db:
        return find_habits(read_saves(db, require_task(db, slug)))
