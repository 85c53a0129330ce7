"""Flags and comments as messages to those who run a study, and what was answered."""

from __future__ import annotations

from typing import Any

from coeval.clock import now
from coeval.domain import InboxItem, InboxState
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, rows, scalar

_MESSAGES = """
SELECT m.id, p.name AS person, m.annotator, m.instance, i.external_id, m.flagged, m.comment, m.marked_at AS at,
  coalesce(a.state, 'open') AS state, coalesce(a.text, '') AS answer, coalesce(a.answered_by, '') AS answered_by,
  coalesce(a.answered_at, '') AS answered_at
FROM mark m
JOIN instance i ON i.id = m.instance
JOIN annotator p ON p.id = m.annotator
LEFT JOIN mark_answer a ON a.id = (
  SELECT max(b.id) FROM mark_answer b JOIN mark n ON n.id = b.mark
  WHERE n.annotator = m.annotator AND n.instance = m.instance AND n.flagged = m.flagged AND n.comment = m.comment)
WHERE i.task = :task AND (m.flagged = 1 OR m.comment <> '') AND NOT EXISTS (
  SELECT 1 FROM mark later WHERE later.annotator = m.annotator AND later.instance = m.instance AND later.id > m.id)
"""
"""The latest mark of each person and instance. An answer holds as long as flag and comment are those it was given to:
to skip the instance changes nothing."""


def list_messages(db: Database, task: int, state: InboxState | None, limit: int) -> list[InboxItem]:
    """The newest first; all of them where no state is named."""
    sql = f"SELECT * FROM ({_MESSAGES}) x WHERE coalesce(:state, x.state) = x.state ORDER BY x.id DESC LIMIT :limit"
    return [_message(row) for row in rows(db, sql, {"task": task, "state": state, "limit": limit})]


def count_open(db: Database, task: int) -> int:
    sql = f"SELECT count(*) FROM ({_MESSAGES}) x WHERE x.state = 'open'"
    return int(scalar(db, sql, {"task": task}))


def get_message(db: Database, task: int, message: int) -> InboxItem | None:
    row = get_row(
        db, f"SELECT * FROM ({_MESSAGES}) x WHERE x.id = :message", {"task": task, "message": message}
    )
    return _message(row) if row else None


def get_answer(db: Database, task: int, annotator: int, instance: int) -> InboxItem | None:
    """What a person said of an instance, if it is answered."""
    own = f"{_MESSAGES} AND m.annotator = :annotator AND m.instance = :instance"
    sql = f"SELECT * FROM ({own}) x WHERE x.state = 'answered'"
    row = get_row(db, sql, {"task": task, "annotator": annotator, "instance": instance})
    return _message(row) if row else None


def list_answers(db: Database, task: int, annotator: int) -> list[tuple[int, InboxItem]]:
    """A person's answered messages, each with the instance's position in their queue, the newest answer first."""
    sql = (
        f"SELECT x.*, q.position FROM ({_MESSAGES} AND m.annotator = :annotator) x JOIN assignment q"
        " ON q.annotator = x.annotator AND q.instance = x.instance WHERE x.state = 'answered'"
        " ORDER BY x.answered_at DESC"
    )
    found = rows(db, sql, {"task": task, "annotator": annotator})
    return [(row.pop("position"), _message(row)) for row in found]


def add_answer(db: Database, message: int, state: InboxState, text: str, by: str) -> None:
    insert(db, "mark_answer", mark=message, state=state, text=text, answered_by=by, answered_at=now())


def _message(row: dict[str, Any]) -> InboxItem:
    return InboxItem(**row | {"flagged": bool(row["flagged"]), "state": InboxState(row["state"])})
