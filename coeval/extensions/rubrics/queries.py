"""Queries on this extension's tables. Each function needs an open transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

from coeval.clock import now
from coeval.extensions.rubrics.scoring import Rubric
from coeval.store import Database
from coeval.store.engines.database import append_all, get_row, insert, join_ids, rows, scalar, to_json
from coeval.store.steps import begin_use, empty_before_use, is_in_use

COLUMN = "rubrics"
"""The extra column of an instance with its criteria."""

read = partial(empty_before_use, "rubrics")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A stored criterion of an instance."""

    id: int
    instance: int
    rubric: Rubric
    run: int | None
    """The run that drafted it; None if it was imported."""
    rung: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a model that wrote criteria or judged; ``way`` is the scope of one question."""

    id: int
    kind: str
    label: str
    model: str
    way: str
    created_by: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Judgment:
    """A model's judgment on one criterion; ``reason`` explains a missing value. ``rung`` is as in ``Draft``."""

    criterion: int
    value: float | None
    explanation: str = ""
    evidence: tuple[str, ...] = ()
    reason: str = ""
    raw: str = ""
    id: int = 0
    rung: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of ``rubrics_line``, a line of a submission; ``criterion`` is None for an added criterion."""

    criterion: int | None
    action: str
    text: str = ""
    points: float | None = None
    axis: str = ""
    reason: str = ""
    value: float | None = None
    evidence: str = ""
    judgment: int | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A person's saved review of the criteria of an instance."""

    uid: str
    instance: int
    annotator: int
    revision: int
    arm: str
    run: int | None
    opened_at: str
    active_ms: int | None
    submitted_at: str
    lines: tuple[Line, ...] = ()


def list_untaken(db: Database, task: int) -> list[dict[str, Any]]:
    """Return id, external_id and context_json of instances whose column of criteria has not been read yet."""
    sql = "SELECT i.id, i.external_id, i.context_json FROM instance i WHERE i.task = ? AND i.context_json LIKE ?"
    if is_in_use(db, "rubrics"):
        sql += " AND NOT EXISTS (SELECT 1 FROM rubrics_taken t WHERE t.instance = i.id)"
    sql += " ORDER BY i.position"
    candidates = rows(db, sql, [task, f'%"{COLUMN}"%'])
    return [row for row in candidates if COLUMN in json.loads(row["context_json"])]


def record_taken(db: Database, instance: int) -> None:
    insert(db, "rubrics_taken", instance=instance, taken_at=now())


def add_criteria(
    db: Database, instance: int, rubrics: Iterable[Rubric], run: int | None = None, rung: str = ""
) -> int:
    """Append criteria to an instance; return their number."""
    begin_use(db, "rubrics")
    highest = "SELECT coalesce(max(position), 0) FROM rubrics_criterion WHERE instance = ?"
    first, at = scalar(db, highest, [instance]) + 1, now()
    added = [
        {
            "instance": instance, "position": position, "text": rubric.text, "points": rubric.points,
            "axis": rubric.axis, "tags_json": to_json(list(rubric.tags)), "run": run, "rung": rung, "created_at": at,
        }
        for position, rubric in enumerate(rubrics, first)
    ]  # fmt: skip
    if added:
        append_all(db, "rubrics_criterion", added)
    return len(added)


def _criterion(row: dict[str, Any]) -> Criterion:
    rubric = Rubric(row["text"], row["points"], row["axis"], tuple(json.loads(row["tags_json"])))
    return Criterion(row["id"], row["instance"], rubric, row["run"], row["rung"])


@read(list)
def list_criteria(db: Database, instance: int) -> list[Criterion]:
    """Return the criteria of an instance in order."""
    sql = "SELECT * FROM rubrics_criterion WHERE instance = ? ORDER BY position"
    return [_criterion(row) for row in rows(db, sql, [instance])]


@read(dict)
def list_task_criteria(db: Database, task: int) -> dict[int, list[Criterion]]:
    """Return the criteria of each instance of a task that has any, in the order of the import."""
    sql = (
        "SELECT c.* FROM rubrics_criterion c JOIN instance i ON i.id = c.instance WHERE i.task = ?"
        " ORDER BY i.position, c.position"
    )
    by_instance: dict[int, list[Criterion]] = {}
    for row in rows(db, sql, [task]):
        by_instance.setdefault(row["instance"], []).append(_criterion(row))
    return by_instance


@read(bool)
def has_criteria(db: Database, task: int) -> bool:
    """Return whether any instance of a task has its own criteria."""
    sql = "SELECT 1 FROM rubrics_criterion c JOIN instance i ON i.id = c.instance WHERE i.task = ? LIMIT 1"
    return bool(scalar(db, sql, [task]))


def _run(row: dict[str, Any]) -> Run:
    names = ("id", "kind", "label", "model", "way", "created_by", "created_at")
    return Run(**{name: row[name] for name in names})


@read(list)
def list_runs(db: Database, task: int) -> list[Run]:
    return [_run(row) for row in rows(db, "SELECT * FROM rubrics_run WHERE task = ? ORDER BY id", [task])]


@read(lambda: None)
def find_run(db: Database, task: int, kind: str, label: str) -> Run | None:
    sql = "SELECT * FROM rubrics_run WHERE task = ? AND kind = ? AND label = ?"
    row = get_row(db, sql, [task, kind, label])
    return _run(row) if row else None


def add_run(db: Database, task: int, kind: str, label: str, model: str, way: str, by: str) -> Run:
    begin_use(db, "rubrics")
    values = {"kind": kind, "label": label, "model": model, "way": way, "created_by": by, "created_at": now()}
    return Run(insert(db, "rubrics_run", task=task, **values), **values)


def show_run(db: Database, task: int, run: int, by: str) -> None:
    """Show annotators the judgments of this run."""
    insert(db, "rubrics_shown", task=task, run=run, set_by=by, set_at=now())


@read(lambda: None)
def get_shown_run(db: Database, task: int) -> Run | None:
    sql = (
        "SELECT r.* FROM rubrics_shown s JOIN rubrics_run r ON r.id = s.run WHERE s.task = ?"
        " ORDER BY s.id DESC LIMIT 1"
    )
    row = get_row(db, sql, [task])
    return _run(row) if row else None


def record_judgments(db: Database, run: int, judgments: Iterable[Judgment]) -> None:
    added = []
    for judgment in judgments:
        stored = asdict(judgment)
        evidence, _ = stored.pop("evidence"), stored.pop("id")
        added.append(stored | {"run": run, "evidence_json": to_json(evidence), "created_at": now()})
    if added:
        append_all(db, "rubrics_judgment", added)


NEWEST = (
    "NOT EXISTS (SELECT 1 FROM rubrics_judgment n WHERE n.run = j.run AND n.criterion = j.criterion"
    " AND n.id > j.id)"
)


def _judgment(row: dict[str, Any]) -> Judgment:
    evidence = tuple(json.loads(row["evidence_json"]))
    stored = {field.name: row[field.name] for field in fields(Judgment) if field.name != "evidence"}
    return Judgment(**stored, evidence=evidence)


def list_judgments(db: Database, run: int, instance: int | None = None) -> dict[int, Judgment]:
    """Return the current judgments of a run by criterion, for one instance or for all."""
    sql = (
        "SELECT j.* FROM rubrics_judgment j JOIN rubrics_criterion c ON c.id = j.criterion"
        f" WHERE j.run = :run AND coalesce(:instance, c.instance) = c.instance AND {NEWEST} ORDER BY j.id"
    )
    return {row["criterion"]: _judgment(row) for row in rows(db, sql, {"run": run, "instance": instance})}


def count_attempts(db: Database, run: int) -> dict[int, int]:
    """Return a run's number of judgments for each criterion."""
    sql = "SELECT criterion, count(*) AS n FROM rubrics_judgment WHERE run = ? GROUP BY criterion"
    return {row["criterion"]: row["n"] for row in rows(db, sql, [run])}


def record_submission(db: Database, submission: Submission) -> None:
    stored = asdict(submission)
    lines = stored.pop("lines")
    insert(db, "rubrics_submission", **stored)
    key = {name: stored[name] for name in ("annotator", "instance", "revision")}
    if lines:
        append_all(db, "rubrics_line", [key | {"place": n} | line for n, line in enumerate(lines, 1)])


LINES = """
SELECT l.instance, l.annotator, l.revision, l.criterion, l.action, l.text, l.points, l.axis, l.reason, l.value,
  l.evidence, l.judgment
FROM rubrics_line l JOIN instance i ON i.id = l.instance
"""
IN_FORCE = (
    "NOT EXISTS (SELECT 1 FROM rubrics_submission n WHERE n.instance = s.instance AND n.annotator = s.annotator"
    " AND n.revision > s.revision)"
)


def _submissions(db: Database, where: str, order: str, values: dict[str, Any]) -> list[Submission]:
    lines: dict[tuple[int, int, int], list[Line]] = {}
    sql = f"{LINES} JOIN rubrics_submission s ON s.instance = l.instance AND s.annotator = l.annotator AND" \
          f" s.revision = l.revision WHERE {where} ORDER BY l.instance, l.annotator, l.revision, l.place"  # fmt: skip
    for row in rows(db, sql, values):
        key = row.pop("instance"), row.pop("annotator"), row.pop("revision")
        lines.setdefault(key, []).append(Line(**row))
    sql = f"SELECT s.* FROM rubrics_submission s JOIN instance i ON i.id = s.instance WHERE {where} ORDER BY {order}"
    submissions = []
    for row in rows(db, sql, values):
        del row["id"]
        key = row["instance"], row["annotator"], row["revision"]
        submissions.append(Submission(**row, lines=tuple(lines.get(key, ()))))
    return submissions


@read(lambda: None)
def get_submission(db: Database, annotator: int, instance: int) -> Submission | None:
    """Return a person's latest save for an instance."""
    where = f"s.annotator = :annotator AND s.instance = :instance AND {IN_FORCE}"
    newest = _submissions(db, where, "s.revision", {"annotator": annotator, "instance": instance})
    return newest[0] if newest else None


@read(lambda: None)
def get_by_uid(db: Database, uid: str) -> Submission | None:
    stored = _submissions(db, "s.uid = :uid", "s.revision", {"uid": uid})
    return stored[0] if stored else None


@read(list)
def list_history(db: Database, annotator: int, instance: int, before: int, most: int) -> list[Submission]:
    """Return a person's last ``most`` revisions of an instance before the revision ``before``, oldest first."""
    where = (
        "s.annotator = :annotator AND s.instance = :instance AND s.revision IN (SELECT p.revision FROM"
        " rubrics_submission p WHERE p.annotator = :annotator AND p.instance = :instance AND p.revision < :before"
        " ORDER BY p.revision DESC LIMIT :most)"
    )
    values = {"annotator": annotator, "instance": instance, "before": before, "most": most}
    return _submissions(db, where, "s.revision", values)


@read(list)
def list_submissions(db: Database, task: int) -> list[Submission]:
    """Return everybody's current submission for every instance of a task."""
    order = "i.position, s.annotator"
    return _submissions(db, f"i.task = :task AND {IN_FORCE}", order, {"task": task})


@read(lambda: (0, 0))
def count_progress(db: Database, task: int, annotator: int) -> tuple[int, int]:
    """Return how many instances in a person's queue have criteria, and how many of these the person has saved."""
    sql = (
        "SELECT count(*) AS total, count(CASE WHEN EXISTS (SELECT 1 FROM rubrics_submission s WHERE s.instance ="
        " a.instance AND s.annotator = a.annotator) THEN 1 END) AS done FROM assignment a WHERE a.task = ? AND"
        " a.annotator = ? AND EXISTS (SELECT 1 FROM rubrics_criterion c WHERE c.instance = a.instance)"
    )
    row = get_row(db, sql, [task, annotator])
    assert row is not None
    return row["total"], row["done"]


@read(list)
def list_places(db: Database, task: int, annotator: int) -> list[tuple[int, bool]]:
    """Return the positions in a person's queue of instances with criteria, and whether each is saved."""
    sql = (
        "SELECT a.position, EXISTS (SELECT 1 FROM rubrics_submission s WHERE s.instance = a.instance AND"
        " s.annotator = a.annotator) AS done FROM assignment a WHERE a.task = ? AND a.annotator = ? AND EXISTS"
        " (SELECT 1 FROM rubrics_criterion c WHERE c.instance = a.instance) ORDER BY a.position"
    )
    return [(row["position"], bool(row["done"])) for row in rows(db, sql, [task, annotator])]


def list_names(db: Database, people: Sequence[int]) -> dict[int, str]:
    sql = f"SELECT id, name FROM annotator WHERE id IN ({join_ids(people)})"
    return {row["id"]: row["name"] for row in rows(db, sql)}
