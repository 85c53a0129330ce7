"""Write and grade exams, and grade attention checks."""

from __future__ import annotations

import csv
import io
import math

from coeval.domain import (
    MAX_REMARK,
    Action,
    AnswerKey,
    Arm,
    Attempt,
    CriteriaSet,
    Draft,
    Graded,
    Person,
    Plan,
    Standing,
    Submission,
    Task,
)
from coeval.errors import InputError, NotFoundError
from coeval.language import tr
from coeval.rules.arms import draw_order
from coeval.safe_csv import read_cell, rows_to_csv
from coeval.store import Database
from coeval.store.queries import (
    assignments,
    criteria,
    crowd_studies,
    drafts,
    enrolments,
    reservations,
    submissions,
    tasks,
)
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.import_staging import criterion_form, item_form

# Answers compared with their keys: attention checks and the items of an exam.

CHANGED = (Action.DELETE, Action.REVISE)


def find_missed(key: AnswerKey, saved: Submission, draft: Draft | None) -> tuple[int, ...]:
    """Return the positions of drafted lines that the person should have deleted or revised but did not."""
    done = {row.draft_row: row.action for row in saved.rows}
    lines = {position: row.id for position, row in enumerate(draft.rows if draft else (), 1)}
    return tuple(position for position in key.must if done.get(lines.get(position)) not in CHANGED)


def is_right(key: AnswerKey, saved: Submission | None, draft: Draft | None) -> bool:
    """Return whether a saved evaluation matches its key; a missing one does not."""
    if saved is None or (key.accepted and saved.score not in key.accepted):
        return False
    # people who did not see the draft's lines cannot delete them
    return saved.arm in (Arm.BLIND, Arm.EVIDENCE, Arm.REASONS) or not find_missed(key, saved, draft)


def get_answer(db: Database, person: int, key: AnswerKey) -> tuple[Submission | None, Draft | None]:
    """Return a person's latest answer to the question of an answer key, with the draft that they saw."""
    return _with_draft(db, submissions.get_submission(db, person, key.instance, key.criterion))


def get_first_answer(db: Database, person: int, key: AnswerKey) -> tuple[Submission | None, Draft | None]:
    """Return a person's first answer to the question of an answer key, because a later correction does not
    count for a check.
    """
    return _with_draft(db, submissions.get_first_submission(db, person, key.instance, key.criterion))


def _with_draft(db: Database, saved: Submission | None) -> tuple[Submission | None, Draft | None]:
    draft = drafts.get_draft(db, saved.draft) if saved and saved.draft else None
    return saved, draft


def grade_checks(db: Database, plan: Plan, person: Person, task: Task) -> bool:
    """Grade the finished attention checks of a person's submission; return whether they may continue.

    Each check is graded once, by its first finished answer. After ``warn_after`` failures the person must
    read a warning; ``block_after`` failures end the work.
    """
    fresh = [
        instance
        for instance in reservations.list_ungraded_checks(db, person.id, task.id)
        if not _grade_check(db, person, instance)
    ]
    _, failed = reservations.count_checks(db, person.id, task.id)
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if not fresh or standing is None or standing.state not in (Standing.ADMITTED, Standing.FINISHED):
        return True
    note = f"{failed} attention checks failed"
    if failed >= plan.terms.block_after:
        enrolments.record_step(db, task.id, person.id, Standing.BLOCKED, "attention checks", note)
        reservations.take_back(db, person.id, task.id, reservations.REJECTED)
        arrival = enrolments.get_newest_arrival(db, task.id, person.id)
        if arrival is not None:
            reservations.reject_finished(db, arrival)
        return False
    if failed >= plan.terms.warn_after:
        enrolments.record_step(db, task.id, person.id, Standing.WARNED, "attention checks", note)
        return False
    return True


def _grade_check(db: Database, person: Person, instance: int) -> bool:
    passed = all(
        is_right(key, *get_first_answer(db, person.id, key))
        for key in crowd_studies.list_keys_of(db, instance)
    )
    reservations.grade_check(db, person.id, instance, passed)
    return passed


# Exams: the owner's keys, and the grading of an attempt.

COLUMNS = ("instance", "criterion", "accepted", "must", "explanation")


def begin_try(db: Database, plan: Plan, person: Person, task: Task) -> None:
    """Draw the items of a person's next try, least-seen items first, and queue them."""
    assert plan.exam is not None
    attempt = crowd_studies.count_attempts(db, task.id, person.id) + 1
    items = crowd_studies.list_items(db, task.id, person.id, attempt)
    seed, current = tasks.get_seed(db, plan.exam), criteria.get_criteria_set(db, plan.exam)
    if not items:
        pool = {key.instance for key in crowd_studies.list_keys(db, plan.exam)}
        seen = crowd_studies.count_seen(db, person.id)
        drawn = sorted(draw_order(seed, person.id, pool), key=lambda instance: seen.get(instance, 0))
        items = drawn[: plan.terms.exam_items or None]
        crowd_studies.record_items(db, task.id, person.id, attempt, items)
    assignments.replace_assignments(db, person.id, plan.exam, draw_order(seed, person.id, items))
    if current:
        ids = [criterion.id for criterion in current.criteria]
        assignments.refresh_states(db, plan.exam, ids, annotator=person.id)


def count_confirmed(db: Database, plan: Plan, person: Person, task: Task) -> tuple[int, int]:
    """Return the number of confirmed items of the current try, and of all its items."""
    keys = _list_keys(db, plan, person, task)
    return sum(get_answer(db, person.id, key)[0] is not None for key in keys), len(keys)


def _list_keys(db: Database, plan: Plan, person: Person, task: Task) -> list[AnswerKey]:
    """Return the keys of the person's current try, in the order in which the person gets the items."""
    if plan.exam is None:
        return []
    keys = crowd_studies.list_keys(db, plan.exam)
    attempt = crowd_studies.count_attempts(db, task.id, person.id) + 1
    items = set(crowd_studies.list_items(db, task.id, person.id, attempt)) or {key.instance for key in keys}
    order = draw_order(tasks.get_seed(db, plan.exam), person.id, items)
    return sorted((key for key in keys if key.instance in items), key=lambda key: order.index(key.instance))


def grade_exam(db: Database, task: Task, plan: Plan, person: Person) -> Attempt:
    """Return a person's current exam answers, compared with the current keys.

    Raises:
        InputError: an item is not answered yet.
        NotFoundError: the exam has no keys.
    """
    keys = _list_keys(db, plan, person, task)
    if not keys:
        raise NotFoundError(tr("The exam has no answer keys yet: tell the study's owner."))
    detail = tuple(_grade_key(db, person, key) for key in keys)
    open_items = sum(graded.given is None for graded in detail)
    if open_items:
        raise InputError(
            tr(
                "{n} of {total} items are not confirmed yet: finish them first.",
                n=open_items,
                total=len(detail),
            )
        )
    right = sum(graded.right for graded in detail)
    passed = right >= math.ceil(plan.terms.pass_share * len(detail) - 1e-9)
    number = crowd_studies.count_attempts(db, task.id, person.id) + 1
    return Attempt(person.id, number, right, len(detail), passed, detail)


def _grade_key(db: Database, person: Person, key: AnswerKey) -> Graded:
    saved, draft = get_answer(db, person.id, key)
    instance = tasks.get_instance(db, key.instance)
    criterion = crowd_studies.get_criterion(db, key.criterion)
    assert instance is not None and criterion is not None
    return Graded(
        instance=instance.external_id,
        criterion=criterion.text,
        right=is_right(key, saved, draft),
        given=saved.score if saved else None,
        accepted=key.accepted,
        missed=find_missed(key, saved, draft) if saved else (),
        explanation=key.explanation,
    )


@use_case(OWNERS)
def set_keys(context: Context, person: Person, slug: str, text: str) -> int:
    """Replace a task's answer keys from CSV and return their number.

    Columns: instance, criterion (its number from 1, or its text), accepted (scores, separated by spaces),
    must (numbers of drafted lines to delete or revise), explanation. For the task of an exam they are the
    exam's key, for any other task attention checks.

    Raises:
        InputError: a line cannot be used; the message says which and why. Nothing was written.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        if current is None:
            raise InputError(f"“{task.name}” has no criteria yet: finalise them before writing keys.")
        rows = [
            (
                line,
                row
                | {
                    "instance": item_form(row["instance"]),
                    "criterion": criterion_form(row["criterion"]),
                },
            )
            for line, row in _read(text)
        ]
        instances = tasks.get_instances_by_external_id(db, task.id, {row["instance"] for _, row in rows})
        keys = []
        for line, row in rows:
            if row["instance"] not in instances:
                raise InputError(f"Line {line}: the task has no instance “{row['instance'][:80]}”.")
            keys.append(_key(line, row, instances[row["instance"]].id, current))
        _refuse_twice(keys)
        crowd_studies.set_keys(db, task.id, keys)
    return len(keys)


@use_case(OWNERS)
def has_keys(context: Context, person: Person, slug: str) -> bool:
    """Return whether a task has answer keys."""
    with context.store.read() as db:
        return crowd_studies.has_keys(db, require_task(db, slug).id)


@use_case(OWNERS)
def export_keys(context: Context, person: Person, slug: str) -> str:
    """Return a task's answer keys as the CSV that ``set_keys`` reads; empty if it has none.

    A criterion that is no longer in the set has its text in place of a number. ``set_keys`` refuses such a line.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        current, keys = criteria.get_criteria_set(db, task.id), crowd_studies.list_named_keys(db, task.id)
        numbers = {criterion.id: n for n, criterion in enumerate(current.criteria if current else (), 1)}
    rows: list[list[object]] = [[*COLUMNS]] if keys else []
    for instance, criterion, key in keys:
        scores, must = " ".join(f"{score:g}" for score in key.accepted), " ".join(map(str, key.must))
        rows.append([instance, numbers.get(key.criterion, criterion), scores, must, key.explanation])
    return rows_to_csv(rows)


def _read(text: str) -> list[tuple[int, dict[str, str]]]:
    reader = csv.DictReader(io.StringIO(text.strip()))
    missing = [name for name in COLUMNS[:3] if name not in (reader.fieldnames or ())]
    if text.strip() and missing:
        raise InputError(f"The keys lack the column {', '.join(missing)}: the first line names the columns.")
    read = []
    try:
        for row in reader:
            if None in row:
                raise InputError(
                    f"Line {reader.line_num} has more cells than the first line: put a text that holds a comma in"
                    ' quotes ("…").'
                )
            read.append(
                (reader.line_num, {name: read_cell((row.get(name) or "").strip()) for name in COLUMNS})
            )
    except csv.Error as error:
        raise InputError(f"The keys are not CSV: {error}.") from error
    return read


def _key(line: int, row: dict[str, str], instance: int, current: CriteriaSet) -> AnswerKey:
    named = row["criterion"]
    by_number = {str(n): criterion for n, criterion in enumerate(current.criteria, 1)}
    by_text = {criterion.text: criterion for criterion in current.criteria}
    criterion = by_number.get(named) or by_text.get(named)
    if criterion is None:
        raise InputError(f"Line {line}: “{named[:80]}” is not a criterion: write its number or its text.")
    try:
        accepted = tuple(float(score) for score in row["accepted"].split())
        must = tuple(int(number) for number in row["must"].split())
    except ValueError as error:
        raise InputError(
            f"Line {line}: the columns accepted and must need numbers separated by spaces."
        ) from error
    off = [score for score in accepted if not criterion.scale.admits(score)]
    if off or (not accepted and not must):
        raise InputError(f"Line {line}: the column accepted must list scores of the scale {criterion.scale}.")
    if len(row["explanation"]) > MAX_REMARK:
        raise InputError(f"Line {line}: the explanation is over {MAX_REMARK:,} characters: shorten it.")
    return AnswerKey(instance, criterion.id, accepted, must, row["explanation"])


def _refuse_twice(keys: list[AnswerKey]) -> None:
    places = [(key.instance, key.criterion) for key in keys]
    if len(set(places)) < len(places):
        raise InputError("Two keys are for the same instance and criterion: keep one.")
