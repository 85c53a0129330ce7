"""Answers held against their keys: attention checks and the items of an exam."""

from __future__ import annotations

from coeval.domain import Action, AnswerKey, Arm, Draft, Person, Plan, Standing, Submission, Task
from coeval.store import Database
from coeval.store.queries.crowd import answer_keys, holdings, reservations
from coeval.store.queries.drafting import drafts
from coeval.store.queries.people import enrolments
from coeval.store.queries.scrutiny import submissions

CHANGED = (Action.DELETE, Action.REVISE)


def find_missed(key: AnswerKey, saved: Submission, draft: Draft | None) -> tuple[int, ...]:
    """Positions of the drafted lines that had to be deleted or revised and were not."""
    done = {row.draft_row: row.action for row in saved.rows}
    lines = {position: row.id for position, row in enumerate(draft.rows if draft else (), 1)}
    return tuple(position for position in key.must if done.get(lines.get(position)) not in CHANGED)


def is_right(key: AnswerKey, saved: Submission | None, draft: Draft | None) -> bool:
    """Whether a saved evaluation meets its key; one that is missing does not."""
    if saved is None or (key.accepted and saved.score not in key.accepted):
        return False
    # without a draft before them, nobody can delete its lines
    return saved.arm is Arm.BLIND or not find_missed(key, saved, draft)


def get_answer(db: Database, person: int, key: AnswerKey) -> tuple[Submission | None, Draft | None]:
    """What a person saved last where the key is, with the draft they had before them."""
    return _with_draft(db, submissions.get_submission(db, person, key.instance, key.criterion))


def get_first_answer(db: Database, person: int, key: AnswerKey) -> tuple[Submission | None, Draft | None]:
    """What a person saved first where the key is: a check is not passed by coming back to it."""
    history = submissions.list_history(db, person, key.instance, key.criterion)
    return _with_draft(db, history[0] if history else None)


def _with_draft(db: Database, saved: Submission | None) -> tuple[Submission | None, Draft | None]:
    draft = drafts.get_draft(db, saved.draft) if saved and saved.draft else None
    return saved, draft


def grade_checks(db: Database, plan: Plan, person: Person, task: Task) -> bool:
    """Grade the attention checks a person has finished; whether they may go on.

    A check is graded once, by its first finished answer. So many failures bring a warning, to be read
    before going on, and so many end the work.
    """
    fresh = [
        instance
        for instance in reservations.list_ungraded_checks(db, person.id, task.id)
        if not _grade(db, person, instance)
    ]
    _, failed = holdings.count_checks(db, person.id, task.id)
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if not fresh or standing is None or standing.state not in (Standing.ADMITTED, Standing.FINISHED):
        return True
    note = f"{failed} attention checks failed"
    if failed >= plan.terms.block_after:
        enrolments.record_step(db, task.id, person.id, Standing.BLOCKED, "attention checks", note)
        reservations.take_back(db, person.id, task.id, reservations.REJECTED)
        reservations.reject_finished(db, person.id, task.id)
        return False
    if failed >= plan.terms.warn_after:
        enrolments.record_step(db, task.id, person.id, Standing.WARNED, "attention checks", note)
        return False
    return True


def _grade(db: Database, person: Person, instance: int) -> bool:
    passed = all(
        is_right(key, *get_first_answer(db, person.id, key)) for key in answer_keys.list_keys_of(db, instance)
    )
    reservations.grade_check(db, person.id, instance, passed)
    return passed
