"""Which lines people are asked to score, where a judge leaves some to them: while this holds, they meet no others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coeval.clock import now
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, rows, scalar


@dataclass(frozen=True, slots=True)
class Asking:
    """What people are asked for now: ``scored`` of the ``lines`` have a score of somebody."""

    lines: int
    instances: int
    scored: int
    asked_by: str
    asked_at: str


def record_asking(
    db: Database, task: int, judge_hash: str, lines: Iterable[tuple[int, int]], by: str
) -> None:
    """Ask for (instance, criterion) pairs from now on, in place of what was asked before; none ends it."""
    asking = insert(db, "asking", task=task, judge_hash=judge_hash, asked_by=by, asked_at=now())
    db.table("asked_line").insert_all(
        {"asking": asking, "instance": instance, "criterion": criterion} for instance, criterion in lines
    )


def is_asking(db: Database, task: int) -> bool:
    """Whether only some lines of a task are asked for."""
    return bool(scalar(db, "SELECT 1 FROM current_asked_line WHERE task = ? LIMIT 1", [task]))


def get_asking(db: Database, task: int) -> Asking | None:
    """What is asked for now; None where nothing is."""
    sql = (
        "SELECT count(*) AS lines, count(DISTINCT l.instance) AS instances, count(CASE WHEN EXISTS (SELECT 1"
        " FROM submission s WHERE s.instance = l.instance AND s.criterion = l.criterion) THEN 1 END) AS scored,"
        " max(a.asked_by) AS asked_by, max(a.asked_at) AS asked_at"
        " FROM current_asked_line l JOIN asking a ON a.id = l.asking WHERE l.task = ?"
    )
    row = get_row(db, sql, [task])
    return Asking(**row) if row and row["lines"] else None


def list_asked_instances(db: Database, task: int) -> list[int]:
    """The instances of which something is asked, in the order of the task."""
    sql = (
        "SELECT DISTINCT i.id, i.position FROM current_asked_line l JOIN instance i ON i.id = l.instance"
        " WHERE l.task = ? ORDER BY i.position"
    )
    return [row["id"] for row in rows(db, sql, [task])]


def list_asked_criteria(db: Database, task: int, instance: int) -> frozenset[int]:
    """By which criteria an instance is to be scored; empty where nothing of it is asked."""
    sql = "SELECT criterion FROM current_asked_line WHERE task = ? AND instance = ?"
    return frozenset(row["criterion"] for row in rows(db, sql, [task, instance]))
