"""Answer keys, of exams and attention checks, and the attempts at exams."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import AnswerKey, Attempt, Criterion, Graded
from coeval.store.engines.statements import get_row, insert, rows, scalar, to_json
from coeval.store.queries.criteria import criterion_of


def list_keys(db: Database, task: int) -> list[AnswerKey]:
    """The keys of a task's instances, in their order."""
    sql = (
        "SELECT k.* FROM answer_key k JOIN instance i ON i.id = k.instance WHERE i.task = ?"
        " ORDER BY i.position, k.criterion"
    )
    return [_key(row) for row in rows(db, sql, [task])]


def get_criterion(db: Database, criterion: int) -> Criterion | None:
    row = get_row(db, "SELECT * FROM criterion WHERE id = ?", [criterion])
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
    """Put these keys in the place of all that the task had."""
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
        detail_json=to_json([asdict(one) for one in attempt.detail]),
        at=now(),
    )


def list_attempts(db: Database, task: int, person: int) -> list[Attempt]:
    """A person's attempts at the exam of a study, oldest first."""
    sql = "SELECT * FROM exam_attempt WHERE task = ? AND annotator = ? ORDER BY attempt"
    return [_attempt(row) for row in rows(db, sql, [task, person])]


def _attempt(row: dict[str, Any]) -> Attempt:
    detail = tuple(_graded(one) for one in json.loads(row["detail_json"]))
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
