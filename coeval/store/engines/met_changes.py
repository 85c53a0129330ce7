"""Method changes that a database has recorded, the people who have read about them, and the figures that were
last shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coeval.clock import now
from coeval.rules.method_changes import CHANGES, METHODS
from coeval.store.engines.database import Database, rows, scalar


def list_new(db: Database) -> list[str]:
    """Return the ids of changes that the database has not recorded yet."""
    known = {row["id"] for row in rows(db, "SELECT id FROM method_change")}
    return [change.id for change in CHANGES if change.id not in known]


def meet_changes(db: Database, earlier_copy: str = "") -> None:
    """Record each method change that is new to a database, with the id of its newest submission."""
    new = list_new(db)
    last = scalar(db, "SELECT max(id) FROM submission") or 0
    for name in new:
        db.conn.execute(
            "INSERT INTO method_change (id, met_at, last_submission, earlier_copy) VALUES (?, ?, ?, ?)",
            [name, now(), last, earlier_copy],
        )


KEPT_FIGURES = ("kind", "part", "value", "low", "high", "scores")

UNREAD = """
SELECT c.id, c.met_at, c.earlier_copy FROM method_change c
WHERE EXISTS (SELECT 1 FROM submission s JOIN instance i ON i.id = s.instance
              WHERE i.task = :task AND s.id <= c.last_submission)
  AND NOT EXISTS (SELECT 1 FROM method_change_read r WHERE r.annotator = :annotator AND r.method_change = c.id)
"""


def list_unread(db: Database, task: int, annotator: int) -> list[dict[str, Any]]:
    """Return the changes since the first score of a task that this person has not read."""
    return list(rows(db, UNREAD, {"task": task, "annotator": annotator}))


def record_read(db: Database, annotator: int, changes: Sequence[str]) -> None:
    """Record that a person has read these changes."""
    for name in changes:
        db.conn.execute(
            "INSERT INTO method_change_read (annotator, method_change, read_at) VALUES (?, ?, ?)"
            " ON CONFLICT (annotator, method_change) DO NOTHING",
            [annotator, name, now()],
        )


def list_figures(db: Database, task: int) -> list[dict[str, Any]]:
    """Return the stored figures of a task, for every version of the methods, the latest shown first."""
    return list(rows(db, "SELECT * FROM shown_figure WHERE task = ? ORDER BY shown_at DESC", [task]))


def keep_figures(db: Database, task: int, figures: Sequence[dict[str, Any]]) -> None:
    """Replace the figures that this version stored earlier."""
    for figure in figures:
        db.conn.execute(
            "INSERT INTO shown_figure (task, kind, part, methods, value, low, high, scores, shown_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, kind, part, methods) DO UPDATE SET"
            " value = excluded.value, low = excluded.low, high = excluded.high, scores = excluded.scores,"
            " shown_at = excluded.shown_at",
            [
                task,
                figure["kind"],
                figure["part"],
                METHODS,
                *(figure[name] for name in KEPT_FIGURES[2:]),
                now(),
            ],
        )
