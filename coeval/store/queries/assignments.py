"""Each person's queue of instances: their order, arms, and finished or flagged state.

Every function here reads a few rows through an index, so its time does not grow with the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from coeval.clock import now
from coeval.domain import Arm, Assignment, Filter, Mark
from coeval.store.engines.database import Database, append, get_row, join_ids, rows, scalar

CONDITION = {Filter.ALL: "1 = 1", Filter.UNFINISHED: "state = 'open'", Filter.FLAGGED: "flagged = 1"}

READY = """
arm = 'blind' OR (arm IS NULL AND NOT EXISTS (
  SELECT 1 FROM criteria_set_member m WHERE m.criteria_set = :criteria_set AND NOT EXISTS (
    SELECT 1 FROM draft d WHERE d.run = :run AND d.instance = assignment.instance AND d.criterion = m.criterion)))
OR (arm IS NOT NULL AND EXISTS (
  SELECT 1 FROM criteria_set_member m WHERE m.criteria_set = :criteria_set AND EXISTS (
    SELECT 1 FROM draft d WHERE d.run = :run AND d.instance = assignment.instance AND d.criterion = m.criterion)
  AND NOT EXISTS (
    SELECT 1 FROM submission s WHERE s.annotator = assignment.annotator AND s.instance = assignment.instance
      AND s.criterion = m.criterion)))
"""
"""The SQL condition that there is something to judge, if the design waits for drafts.

An opened instance needs a draft of an unsaved criterion. An unopened one needs all of its drafts, so that
errors can be planted in them.
"""


IS_WANTED = """
NOT EXISTS (SELECT 1 FROM current_asked_line l WHERE l.task = :task AND l.instance = assignment.instance)
OR EXISTS (SELECT 1 FROM current_asked_line l WHERE l.task = :task AND l.instance = assignment.instance
  AND l.criterion = c.id)
"""
"""The condition that a criterion ``c`` must be judged for an instance: always, unless lines are requested."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """The data that is needed to wait for drafts: the shown run (0 if there is none yet) and the criteria set."""

    run: int
    criteria_set: int


def _assignment(row: dict[str, Any]) -> Assignment:
    return Assignment(
        annotator=row["annotator"],
        task=row["task"],
        position=row["position"],
        instance=row["instance"],
        arm=Arm(row["arm"]) if row["arm"] else None,
        finished=row["state"] == "finished",
        flagged=bool(row["flagged"]),
        skipped=bool(row["skipped"]),
        opened_at=row["opened_at"] or "",
        reserved_arm=Arm(row["reserved_arm"]) if row["reserved_arm"] else None,
    )


def has_unassigned(db: Database, annotator: int, task: int) -> bool:
    """Return whether the task has an instance that is not in the person's queue."""
    highest = "SELECT coalesce(max(position), 0) FROM"
    assigned = scalar(db, f"{highest} assignment WHERE annotator = ? AND task = ?", [annotator, task])
    return bool(assigned != scalar(db, f"{highest} instance WHERE task = ?", [task]))


def list_unassigned(db: Database, annotator: int, task: int) -> list[int]:
    """Return the instances of the task that are not in the person's queue."""
    sql = (
        "SELECT id FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM assignment a"
        " WHERE a.annotator = ? AND a.instance = i.id) ORDER BY i.position"
    )
    return [row["id"] for row in rows(db, sql, [task, annotator])]


def add_assignments(db: Database, annotator: int, task: int, instances: Iterable[int]) -> None:
    """Append instances to a person's queue, in this order."""
    sql = "SELECT coalesce(max(position), 0) FROM assignment WHERE annotator = ? AND task = ?"
    first = scalar(db, sql, [annotator, task])
    db.table("assignment").insert_all(
        {"annotator": annotator, "task": task, "position": position, "instance": instance, "state": "open"}
        for position, instance in enumerate(instances, first + 1)
    )


def replace_assignments(db: Database, annotator: int, task: int, instances: Iterable[int]) -> None:
    """Replace a person's queue with these instances. Saves for other instances are kept."""
    db.conn.execute("DELETE FROM assignment WHERE annotator = ? AND task = ?", [annotator, task])
    add_assignments(db, annotator, task, instances)


def open_assignment(db: Database, assignment: Assignment, arm: Arm) -> Assignment:
    """Record that the person has opened the instance, and in which arm. Neither can change later."""
    opened_at = now()
    db.conn.execute(
        "UPDATE assignment SET arm = ?, opened_at = ? WHERE annotator = ? AND instance = ? AND arm IS NULL",
        [arm, opened_at, assignment.annotator, assignment.instance],
    )
    return replace(assignment, arm=arm, opened_at=opened_at)


def reserve_arm(db: Database, assignment: Assignment, arm: Arm) -> None:
    """Record the arm in which the person will open the instance. It does not count as opened."""
    db.conn.execute(
        "UPDATE assignment SET reserved_arm = ? WHERE annotator = ? AND instance = ?",
        [arm, assignment.annotator, assignment.instance],
    )


def count_opened(db: Database, instance: int) -> int:
    """Return the number of people who have opened an instance."""
    sql = "SELECT count(*) FROM assignment WHERE instance = ? AND arm IS NOT NULL"
    return int(scalar(db, sql, [instance]))


def refresh_states(
    db: Database,
    task: int,
    criteria: Sequence[int],
    *,
    annotator: int | None = None,
    instance: int | None = None,
) -> None:
    """Update which assignments are finished: those in which all these criteria are saved.

    It updates the whole task, one annotator, or one annotator's instance. If only some lines of an instance
    are requested (``asked``), these suffice.
    """
    marks = join_ids(criteria)
    mine = "".join(
        f" AND {column} = :{column}"
        for column, value in (("annotator", annotator), ("instance", instance))
        if value is not None
    )
    db.conn.execute(
        "UPDATE assignment SET state = CASE WHEN :n > 0 AND NOT EXISTS (SELECT 1 FROM criterion c"
        f" WHERE c.id IN ({marks}) AND ({IS_WANTED}) AND NOT EXISTS (SELECT 1 FROM submission s"
        " WHERE s.annotator = assignment.annotator AND s.instance = assignment.instance"
        " AND s.criterion = c.id)) THEN 'finished' ELSE 'open' END"
        f" WHERE task = :task{mine}",
        {"n": len(criteria), "task": task, "annotator": annotator, "instance": instance},
    )


def get_assignment(db: Database, annotator: int, task: int, position: int) -> Assignment | None:
    sql = "SELECT * FROM assignment WHERE annotator = ? AND task = ? AND position = ?"
    row = get_row(db, sql, [annotator, task, position])
    return _assignment(row) if row else None


def find_assignment(db: Database, annotator: int, instance: int) -> Assignment | None:
    row = get_row(db, "SELECT * FROM assignment WHERE annotator = ? AND instance = ?", [annotator, instance])
    return _assignment(row) if row else None


def next_assignment(
    db: Database,
    annotator: int,
    task: int,
    after: int,
    which: Filter,
    *,
    backwards: bool = False,
    skipped: bool | None = None,
    ready: Drafted | None = None,
) -> Assignment | None:
    """Return the nearest assignment after (or before) a position that passes the filter.

    ``skipped`` selects only skipped assignments (True), only others (False), or both (None). ``ready`` leaves
    out those that wait for drafts.
    """
    beyond, order = ("<", "DESC") if backwards else (">", "ASC")
    passes = CONDITION[which] if skipped is None else f"{CONDITION[which]} AND skipped = {int(skipped)}"
    values: dict[str, Any] = {"annotator": annotator, "task": task, "after": after}
    if ready is not None:
        passes += f" AND ({READY})"
        values |= asdict(ready)
    row = get_row(
        db,
        f"SELECT * FROM assignment WHERE annotator = :annotator AND task = :task AND {passes}"
        f" AND position {beyond} :after ORDER BY position {order} LIMIT 1",
        values,
    )
    return _assignment(row) if row else None


def is_ready(db: Database, assignment: Assignment, ready: Drafted) -> bool:
    """Return whether there is something to judge in an assignment now, if the design waits for drafts."""
    sql = f"SELECT 1 FROM assignment WHERE annotator = :annotator AND instance = :instance AND ({READY})"
    key = {"annotator": assignment.annotator, "instance": assignment.instance}
    return bool(scalar(db, sql, key | asdict(ready)))


def count_assignments(db: Database, annotator: int, task: int) -> dict[str, int]:
    """Return the numbers of instances in a person's queue: total, finished, flagged."""
    row = get_row(
        db,
        "SELECT (SELECT coalesce(max(position), 0) FROM assignment WHERE annotator = :annotator AND task = :task)"
        " AS total, (SELECT count(*) FROM assignment WHERE annotator = :annotator AND task = :task"
        " AND state = 'finished') AS finished, (SELECT count(*) FROM assignment WHERE annotator = :annotator"
        " AND task = :task AND flagged = 1) AS flagged",
        {"annotator": annotator, "task": task},
    )
    assert row is not None
    return row


def list_progress(db: Database, task: int) -> list[dict[str, Any]]:
    """Return the progress of each person who opened the task: name, role, total, finished, flagged, last save."""
    return list(
        db.query(
            "SELECT p.name, p.role, count(*) AS total, count(CASE WHEN a.state = 'finished' THEN 1 END) AS finished,"
            " sum(a.flagged) AS flagged, (SELECT max(s.submitted_at) FROM submission s"
            " JOIN instance i ON i.id = s.instance WHERE s.annotator = p.id AND i.task = :task)"
            " AS last_save FROM assignment a JOIN annotator p ON p.id = a.annotator"
            " WHERE a.task = :task GROUP BY p.id, p.name, p.role ORDER BY p.id",
            {"task": task},
        )
    )


def get_mark(db: Database, annotator: int, instance: int) -> Mark:
    row = get_row(
        db,
        "SELECT flagged, skipped, comment FROM mark WHERE annotator = ? AND instance = ?"
        " ORDER BY id DESC LIMIT 1",
        [annotator, instance],
    )
    return Mark(bool(row["flagged"]), bool(row["skipped"]), row["comment"]) if row else Mark()


def record_mark(db: Database, annotator: int, instance: int, mark: Mark) -> None:
    append(db, "mark", {"annotator": annotator, "instance": instance, **asdict(mark), "marked_at": now()})
    db.conn.execute(
        "UPDATE assignment SET flagged = ?, skipped = ? WHERE annotator = ? AND instance = ?",
        [int(mark.flagged), int(mark.skipped), annotator, instance],
    )
