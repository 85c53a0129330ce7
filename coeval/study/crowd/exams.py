"""Exams: the keys an owner writes, and the grading of an attempt."""

from __future__ import annotations

import csv
import io
import math

from coeval.domain import MAX_REMARK, AnswerKey, Attempt, CriteriaSet, Graded, Person, Plan, Task
from coeval.errors import InputError, NotFoundError
from coeval.language import tr
from coeval.rules.arms import draw_order
from coeval.store import Database
from coeval.store.queries import criteria, tasks
from coeval.store.queries.crowd import answer_keys
from coeval.store.queries.scrutiny import assignments
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.crowd.grading import find_missed, get_answer, is_right

COLUMNS = ("instance", "criterion", "accepted", "must", "explanation")


def begin_try(db: Database, plan: Plan, person: Person, task: Task) -> None:
    """Draw the items of a person's next try, those they saw least often first, and make them their queue."""
    assert plan.exam is not None
    attempt = answer_keys.count_attempts(db, task.id, person.id) + 1
    items = answer_keys.list_items(db, task.id, person.id, attempt)
    seed, current = tasks.get_seed(db, plan.exam), criteria.get_criteria_set(db, plan.exam)
    if not items:
        pool = {key.instance for key in answer_keys.list_keys(db, plan.exam)}
        seen = answer_keys.count_seen(db, person.id)
        drawn = sorted(draw_order(seed, person.id, pool), key=lambda instance: seen.get(instance, 0))
        items = drawn[: plan.terms.exam_items or None]
        answer_keys.record_items(db, task.id, person.id, attempt, items)
    assignments.replace_assignments(db, person.id, plan.exam, draw_order(seed, person.id, items))
    if current:
        ids = [criterion.id for criterion in current.criteria]
        assignments.refresh_states(db, plan.exam, ids, annotator=person.id)


def count_confirmed(db: Database, plan: Plan, person: Person, task: Task) -> tuple[int, int]:
    """How many items of the try under way are confirmed, of how many."""
    known = _list_keys(db, plan, person, task)
    return sum(get_answer(db, person.id, key)[0] is not None for key in known), len(known)


def _list_keys(db: Database, plan: Plan, person: Person, task: Task) -> list[AnswerKey]:
    """The keys of the try under way."""
    known = answer_keys.list_keys(db, plan.exam) if plan.exam else []
    attempt = answer_keys.count_attempts(db, task.id, person.id) + 1
    items = set(answer_keys.list_items(db, task.id, person.id, attempt))
    return [key for key in known if key.instance in items] if items else known


def grade_exam(db: Database, task: Task, plan: Plan, person: Person) -> Attempt:
    """A person's answers to the exam as they stand now, against the keys as they stand now.

    Raises:
        InputError: an item is not answered yet.
        NotFoundError: the exam has no keys.
    """
    known = _list_keys(db, plan, person, task)
    if not known:
        raise NotFoundError(tr("The exam has no answer keys yet: tell the study's owner."))
    detail = tuple(_grade(db, person, key) for key in known)
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
    number = answer_keys.count_attempts(db, task.id, person.id) + 1
    return Attempt(person.id, number, right, len(detail), passed, detail)


def _grade(db: Database, person: Person, key: AnswerKey) -> Graded:
    saved, draft = get_answer(db, person.id, key)
    instance = tasks.get_instance(db, key.instance)
    criterion = answer_keys.get_criterion(db, key.criterion)
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
    """Set a task's answer keys from CSV, in the place of those it had; gives how many there are.

    Columns: instance, criterion (its number from 1, or its text), accepted (scores, parted by spaces), must
    (numbers of drafted lines to delete or revise), explanation. Of an exam's task they are the exam's key, of
    any other attention checks.

    Raises:
        InputError: a line cannot be used; it says which and why. Nothing was written.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        if current is None:
            raise InputError(f"“{task.name}” has no criteria yet: establish them before writing keys.")
        rows = _read(text)
        known = tasks.get_instances_by_external_id(db, task.id, {row["instance"] for _, row in rows})
        keys = []
        for line, row in rows:
            if row["instance"] not in known:
                raise InputError(f"Line {line}: the task has no instance “{row['instance'][:80]}”.")
            keys.append(_key(line, row, known[row["instance"]].id, current))
        _refuse_twice(keys)
        answer_keys.set_keys(db, task.id, keys)
    return len(keys)


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
            read.append((reader.line_num, {name: (row.get(name) or "").strip() for name in COLUMNS}))
    except csv.Error as error:
        raise InputError(f"The keys are not CSV: {error}.") from error
    return read


def _key(line: int, row: dict[str, str], instance: int, current: CriteriaSet) -> AnswerKey:
    named = row["criterion"]
    by_number = {str(n): criterion for n, criterion in enumerate(current.criteria, 1)}
    by_text = {criterion.text: criterion for criterion in current.criteria}
    criterion = by_number.get(named) or by_text.get(named)
    if criterion is None:
        raise InputError(f"Line {line}: “{named[:80]}” is no criterion: write its number or its text.")
    try:
        accepted = tuple(float(score) for score in row["accepted"].split())
        must = tuple(int(number) for number in row["must"].split())
    except ValueError as error:
        raise InputError(f"Line {line}: accepted and must hold numbers parted by spaces.") from error
    off = [score for score in accepted if not criterion.scale.admits(score)]
    if off or (not accepted and not must):
        raise InputError(f"Line {line}: accepted has to name scores of the scale {criterion.scale}.")
    if len(row["explanation"]) > MAX_REMARK:
        raise InputError(f"Line {line}: the explanation is over {MAX_REMARK:,} characters: shorten it.")
    return AnswerKey(instance, criterion.id, accepted, must, row["explanation"])


def _refuse_twice(keys: list[AnswerKey]) -> None:
    places = [(key.instance, key.criterion) for key in keys]
    if len(set(places)) < len(places):
        raise InputError("An instance and criterion have two keys: leave one.")
