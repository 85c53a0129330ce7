"""Data for owners' reviews: saves, disagreements, decisions, instances, and people's messages."""

from __future__ import annotations

from bisect import insort
from dataclasses import replace
from typing import Any

from coeval.clock import now
from coeval.domain import (
    Adjudication,
    Dispute,
    InboxItem,
    InboxState,
    InstanceState,
    Only,
    Remark,
    Submission,
)
from coeval.store.engines.database import Database, Record, get_row, insert, rows, scalar
from coeval.store.queries.submissions import OUTCOME, REPLACED, published, submission_of

# Data for owners' reviews: saves, disagreements, decisions.


def list_saved(db: Database, instance: int, criterion: int) -> list[tuple[str, Submission]]:
    """Return every revision of everybody's saves of one evaluation with their names, person by person."""
    saves = db.query(
        "SELECT s.*, p.name FROM submission s JOIN annotator p ON p.id = s.annotator"
        f" WHERE s.instance = ? AND s.criterion = ? AND {published('s')} ORDER BY p.id, s.revision",
        [instance, criterion],
    )
    return [(row["name"], submission_of(db, row)) for row in list(saves)]


def list_disputes(db: Database, task: int, criteria_set: int, *, limit: int = 50) -> list[Dispute]:
    """Return evaluations on which the latest scores of at least two people differ, largest difference first.

    The range of all scores of an evaluation, including superseded and uncounted ones, is fast to read and is
    an upper bound on the range of those that count. Candidates are therefore checked in that order, until no
    later one can rank before those found.
    """
    disputes: list[tuple[Place, Dispute]] = []
    for instance, criterion, spread, *place in db.conn.execute(
        CANDIDATES, {"task": task, "criteria_set": criteria_set}
    ):
        if len(disputes) >= limit and disputes[limit - 1][0] < (-spread, *place):
            break
        row = get_row(db, DISPUTE, {"task": task, "instance": instance, "criterion": criterion})
        if row is not None and row["low"] < row["high"]:
            dispute = Dispute(*row.values())
            insort(disputes, ((dispute.low - dispute.high, *place), dispute), key=lambda pair: pair[0])
    return [dispute for _, dispute in disputes[:limit]]


Place = tuple[float, ...]
"""The sort key of disputes: the difference, then the positions of instance and criterion."""

CANDIDATES = """
SELECT g.instance, g.criterion, g.spread, i.position, m.position FROM (
  SELECT s.instance, s.criterion, max(s.score) - min(s.score) AS spread FROM submission s
  GROUP BY s.instance, s.criterion HAVING max(s.score) > min(s.score)
) g
JOIN instance i ON i.id = g.instance AND i.task = :task
JOIN criteria_set_member m ON m.criterion = g.criterion AND m.criteria_set = :criteria_set
ORDER BY g.spread DESC, i.position, m.position
"""

DISPUTE = """
SELECT i.id, i.position, i.external_id, i.document, c.id AS criterion, c.text, count(*) AS n,
  min(s.score) AS low, max(s.score) AS high,
  (SELECT a.score FROM adjudication a WHERE a.instance = i.id AND a.criterion = c.id
    ORDER BY a.revision DESC LIMIT 1) AS decided
FROM current_submission s
JOIN instance i ON i.id = s.instance
JOIN criterion c ON c.id = s.criterion
WHERE s.instance = :instance AND s.criterion = :criterion AND NOT EXISTS (
  SELECT 1 FROM uncounted u WHERE u.task = :task AND u.annotator = s.annotator AND u.instance = s.instance)
GROUP BY i.id, i.position, i.external_id, i.document, c.id, c.text
"""


SAVES = f"""
SELECT s.annotator, s.active_ms, s.bulk,
  CASE WHEN EXISTS (SELECT 1 FROM submission_row r WHERE r.submission = s.id AND r.action <> 'approve')
    THEN 0 ELSE 1 END AS kept_all,
  CASE WHEN s.planted IS NOT NULL AND s.score IS NOT NULL THEN 1 ELSE 0 END AS planted,
  CASE WHEN s.planted IS NOT NULL AND s.score <> s.shown_score THEN 1 ELSE 0 END AS caught
FROM submission s
CROSS JOIN instance i
WHERE i.id = s.instance AND i.task = :task AND {OUTCOME} IN ('assisted', 'first')
  AND s.id NOT IN ({REPLACED})
  AND {published("s")}
ORDER BY s.id
"""
"""Everybody's latest saves of evaluations with a readable draft, in the order of saving.

``bulk`` says that the person approved the remaining lines at once, ``kept_all`` that they approved every
line.
"""

SAVES_BY_ARRIVAL = SAVES.replace(
    "s.annotator,",
    "coalesce((SELECT r.arrival FROM reservation r WHERE r.annotator = s.annotator AND r.instance = s.instance), 0)"
    " AS arrival,",
    1,
)
"""The same saves with the person's submission to the crowd service instead of the person; 0 if there is none."""


ADJUDICATION = Record(Adjudication, elsewhere=("decided_by",))


def get_adjudication(db: Database, instance: int, criterion: int) -> Adjudication | None:
    """Return the current decision on an evaluation."""
    row = get_row(
        db,
        "SELECT a.*, p.name FROM adjudication a JOIN annotator p ON p.id = a.decided_by"
        " WHERE a.instance = ? AND a.criterion = ? ORDER BY a.revision DESC LIMIT 1",
        [instance, criterion],
    )
    return ADJUDICATION.from_row(row, decided_by=row["name"]) if row else None


def record_adjudication(db: Database, decided: Adjudication, by: int) -> None:
    """Append a decision; annotators' scores do not change."""
    insert(db, "adjudication", decided_by=by, **ADJUDICATION.to_row(replace(decided, decided_at=now())))


# Lists of instances for owners: drafts, judges, flags and comments.

START = 200
"""The number of characters of an input or output that a list shows."""

_CONDITIONS = {
    Only.ALL: "1 = 1",
    Only.UNSCORED: "x.n_unscored > 0",
    Only.FLAGGED: "x.n_flagged > 0 OR x.n_comments > 0",
    Only.DIFFERING: "x.apart > 0",
    Only.UNTOUCHED: "x.n_people = 0",
}

_DRAFTS = "SELECT count(*) FROM current_draft d WHERE d.run = :run AND d.instance = i.id AND d.status = "
_LATEST = (
    "SELECT m.* FROM mark m WHERE NOT EXISTS (SELECT 1 FROM mark later WHERE later.annotator = m.annotator"
    " AND later.instance = m.instance AND later.id > m.id)"
)
_STATES = f"""
SELECT i.position, i.external_id, i.document, i.system, substr(i.input, 1, {START}) AS input,
  substr(i.output, 1, {START}) AS output, ({_DRAFTS} 'ok') AS n_drafts, ({_DRAFTS} 'unscored') AS n_unscored,
  (SELECT count(DISTINCT s.annotator) FROM current_submission s WHERE s.instance = i.id) AS n_people,
  (SELECT count(*) FROM assignment a WHERE a.instance = i.id AND a.flagged = 1) AS n_flagged,
  (SELECT count(*) FROM ({_LATEST}) m WHERE m.instance = i.id AND m.comment <> '') AS n_comments,
  (SELECT max(w.apart) FROM (SELECT max(s.score) - min(s.score) AS apart FROM current_submission s
    WHERE s.instance = i.id AND s.score IS NOT NULL GROUP BY s.criterion HAVING count(*) > 1) w) AS apart
FROM instance i
WHERE i.task = :task AND (:system = '' OR i.system = :system)
  AND (:search = '' OR lower(i.external_id) LIKE lower(:pattern) ESCAPE '!'
    OR lower(i.input) LIKE lower(:pattern) ESCAPE '!' OR lower(i.output) LIKE lower(:pattern) ESCAPE '!')
"""


def list_instance_states(
    db: Database, task: int, run: int | None, *, search: str, system: str, only: Only, limit: int
) -> list[InstanceState]:
    """Return a task's first instances that match a search, a system and a condition, in the task's order."""
    escaped = search.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    states = db.query(
        f"SELECT * FROM ({_STATES}) x WHERE {_CONDITIONS[only]} ORDER BY x.position LIMIT :limit",
        {
            "task": task,
            "run": run,
            "search": search,
            "pattern": f"%{escaped}%",
            "system": system,
            "limit": limit,
        },
    )
    return [InstanceState(**{name: row[name] for name in InstanceState.__slots__}) for row in states]


def list_remarks(db: Database, instance: int) -> list[Remark]:
    """Return people's latest comments on an instance, in chronological order."""
    remarks = db.query(
        f"SELECT p.name, m.flagged, m.skipped, m.comment, m.marked_at FROM ({_LATEST}) m"
        " JOIN annotator p ON p.id = m.annotator WHERE m.instance = ?"
        " AND (m.flagged = 1 OR m.skipped = 1 OR m.comment <> '') ORDER BY m.id",
        [instance],
    )
    return [
        Remark(row["name"], bool(row["flagged"]), bool(row["skipped"]), row["comment"], row["marked_at"])
        for row in remarks
    ]


_MESSAGES = """
SELECT m.id, p.name AS person, m.annotator, m.instance, i.position, i.external_id, m.flagged, m.comment,
  m.marked_at AS at,
  CASE WHEN asked.flagged = m.flagged AND asked.comment = m.comment THEN a.state ELSE 'open' END AS state,
  coalesce(a.text, '') AS answer, coalesce(a.answered_by, '') AS answered_by,
  coalesce(a.answered_at, '') AS answered_at
FROM mark m
JOIN instance i ON i.id = m.instance
JOIN annotator p ON p.id = m.annotator
LEFT JOIN mark_answer a ON a.id = (
  SELECT max(b.id) FROM mark_answer b JOIN mark n ON n.id = b.mark
  WHERE n.annotator = m.annotator AND n.instance = m.instance)
LEFT JOIN mark asked ON asked.id = a.mark
WHERE i.task = :task AND (m.flagged = 1 OR m.comment <> '') AND NOT EXISTS (
  SELECT 1 FROM mark later WHERE later.annotator = m.annotator AND later.instance = m.instance AND later.id > m.id)
"""
"""The latest flag and comment of each person on each instance, with the latest answer.

If flag or comment change after the answer, the message is open again and keeps it; skipping does not matter.
"""

_ANSWERED = "x.answer <> '' AND x.state <> 'closed'"
"""Whether the author of a message ``x`` sees its answer."""


def list_messages(db: Database, task: int, state: InboxState | None, limit: int) -> list[InboxItem]:
    """Return the messages in this state (by default all), newest first."""
    sql = f"SELECT * FROM ({_MESSAGES}) x WHERE coalesce(:state, x.state) = x.state ORDER BY x.id DESC LIMIT :limit"
    return [_message(row) for row in rows(db, sql, {"task": task, "state": state, "limit": limit})]


def count_open_messages(db: Database, task: int) -> int:
    sql = f"SELECT count(*) FROM ({_MESSAGES}) x WHERE x.state = 'open'"
    return int(scalar(db, sql, {"task": task}))


def get_message(db: Database, task: int, message: int) -> InboxItem | None:
    row = get_row(
        db, f"SELECT * FROM ({_MESSAGES}) x WHERE x.id = :message", {"task": task, "message": message}
    )
    return _message(row) if row else None


def get_message_answer(db: Database, task: int, annotator: int, instance: int) -> InboxItem | None:
    """Return a person's message on an instance, if it has an answer."""
    query = f"{_MESSAGES} AND m.annotator = :annotator AND m.instance = :instance"
    sql = f"SELECT * FROM ({query}) x WHERE {_ANSWERED}"
    row = get_row(db, sql, {"task": task, "annotator": annotator, "instance": instance})
    return _message(row) if row else None


def list_message_answers(db: Database, task: int, annotator: int) -> list[tuple[int, InboxItem]]:
    """Return a person's answered messages, newest answer first, with the instance's position in their queue."""
    sql = (
        f"SELECT x.*, q.position AS turn FROM ({_MESSAGES} AND m.annotator = :annotator) x JOIN assignment q"
        f" ON q.annotator = x.annotator AND q.instance = x.instance WHERE {_ANSWERED}"
        " ORDER BY x.answered_at DESC"
    )
    answers = rows(db, sql, {"task": task, "annotator": annotator})
    return [(row.pop("turn"), _message(row)) for row in answers]


def add_message_answer(db: Database, message: int, state: InboxState, text: str, by: str) -> None:
    insert(db, "mark_answer", mark=message, state=state, text=text, answered_by=by, answered_at=now())


def _message(row: dict[str, Any]) -> InboxItem:
    return InboxItem(**row | {"flagged": bool(row["flagged"]), "state": InboxState(row["state"])})
