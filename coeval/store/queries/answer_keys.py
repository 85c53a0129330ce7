"""Answer keys of exams and attention checks, and attempts at exams."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from coeval.clock import now
from coeval.domain import AnswerKey, Attempt, Criterion, Graded
from coeval.store.engines.database import Database, get_row, insert, rows, scalar, to_json
from coeval.store.queries.criteria import CRITERION, criterion_of


def list_keys(db: Database, task: int) -> list[AnswerKey]:
    """Return the answer keys of a task, in the order of its instances."""
    sql = (
        "SELECT k.* FROM answer_key k JOIN instance i ON i.id = k.instance WHERE i.task = ?"
        " ORDER BY i.position, k.criterion"
    )
    return [_key(row) for row in rows(db, sql, [task])]


def get_criterion(db: Database, criterion: int) -> Criterion | None:
    row = get_row(db, f"{CRITERION} WHERE c.id = ?", [criterion])
    return criterion_of(row) if row else None


def list_keys_of(db: Database, instance: int) -> list[AnswerKey]:
    return [_key(row) for row in rows(db, "SELECT * FROM answer_key WHERE instance = ?", [instance])]


def _key(row: dict[str, Any]) -> AnswerKey:
    return AnswerKey(
        row["instance"],
        row["criterion"],
        tuple(json.loads(row["accepted_json"])),
        tuple(json.loads(row["must_json"])),
        row["explanation"],
    )


def set_keys(db: Database, task: int, keys: list[AnswerKey]) -> None:
    """Replace all keys of the task by these."""
    db.conn.execute(
        "DELETE FROM answer_key WHERE instance IN (SELECT id FROM instance WHERE task = ?)", [task]
    )
    db.conn.executemany(
        "INSERT INTO answer_key (instance, criterion, accepted_json, must_json, explanation)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (
                key.instance,
                key.criterion,
                to_json(list(key.accepted)),
                to_json(list(key.must)),
                key.explanation,
            )
            for key in keys
        ],
    )


def count_attempts(db: Database, task: int, person: int) -> int:
    sql = "SELECT count(*) FROM exam_attempt WHERE task = ? AND annotator = ?"
    return int(scalar(db, sql, [task, person]))


def record_attempt(db: Database, task: int, attempt: Attempt) -> None:
    insert(
        db,
        "exam_attempt",
        task=task,
        annotator=attempt.person,
        attempt=attempt.attempt,
        right_items=attempt.right,
        items=attempt.items,
        passed=int(attempt.passed),
        detail_json=to_json([asdict(graded) for graded in attempt.detail]),
        at=now(),
    )


def list_attempts(db: Database, task: int, person: int) -> list[Attempt]:
    """Return a person's attempts at the exam of a study, oldest first."""
    sql = "SELECT * FROM exam_attempt WHERE task = ? AND annotator = ? ORDER BY attempt"
    return [_attempt(row) for row in rows(db, sql, [task, person])]


def _attempt(row: dict[str, Any]) -> Attempt:
    detail = tuple(_graded(graded) for graded in json.loads(row["detail_json"]))
    return Attempt(
        row["annotator"],
        row["attempt"],
        row["right_items"],
        row["items"],
        bool(row["passed"]),
        detail,
        row["at"],
    )


def _graded(values: dict[str, Any]) -> Graded:
    return Graded(**values | {"accepted": tuple(values["accepted"]), "missed": tuple(values["missed"])})


def list_items(db: Database, task: int, person: int, attempt: int) -> list[int]:
    """Return the instances of a person's attempt at a study's exam; empty before the attempt begins."""
    sql = "SELECT instance FROM exam_item WHERE task = ? AND annotator = ? AND attempt = ? ORDER BY instance"
    return [row["instance"] for row in rows(db, sql, [task, person, attempt])]


def record_items(db: Database, task: int, person: int, attempt: int, instances: list[int]) -> None:
    db.conn.executemany(
        "INSERT INTO exam_item (task, annotator, attempt, instance) VALUES (?, ?, ?, ?)",
        [(task, person, attempt, instance) for instance in instances],
    )


def count_seen(db: Database, person: int) -> dict[int, int]:
    """Return how often a person got each instance as an exam item."""
    sql = "SELECT instance, count(*) AS n FROM exam_item WHERE annotator = ? GROUP BY instance"
    return {row["instance"]: row["n"] for row in rows(db, sql, [person])}


def find_study_of_exam(db: Database, person: int, exam: int) -> int | None:
    """Return the study for which a person is taking an exam, if this task is that exam."""
    sql = (
        "SELECT e.task FROM current_enrolment e JOIN crowd c ON c.task = e.task"
        " WHERE e.annotator = ? AND e.state = 'exam' AND c.exam = ? ORDER BY e.id DESC LIMIT 1"
    )
    study: int | None = scalar(db, sql, [person, exam])
    return study
