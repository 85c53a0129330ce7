"""Each person's queue of instances: their order, arms, and finished or flagged state.

A confirm's queries read a few rows through an index, so their time does not grow with the task. Drawing a
queue, ``refresh_states`` and ``list_progress`` read more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import count
from typing import Any

from coeval.clock import now
from coeval.domain import Arm, Assignment, Filter, Mark
from coeval.store.engines.database import Database, append, get_row, join_ids, scalar

CONDITION = {Filter.ALL: "1 = 1", Filter.UNFINISHED: "state = 'open'", Filter.FLAGGED: "flagged = 1"}

IS_WANTED = """
NOT EXISTS (SELECT 1 FROM current_asked_line l WHERE l.task = :task AND l.instance = assignment.instance)
OR EXISTS (SELECT 1 FROM current_asked_line l WHERE l.task = :task AND l.instance = assignment.instance
  AND l.criterion = c.id)
"""
"""The condition that a criterion ``c`` must be judged for an instance: always, unless lines are requested."""


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


FIRST_PART = 500
"""The number of places of a new long queue that are added while its person waits."""
PART = 2_000
"""The most places that one transaction adds to a queue, because saves wait for it."""

_MINE = "FROM assignment WHERE annotator = :annotator AND task = :task"


def has_unassigned(db: Database, annotator: int, task: int) -> bool:
    """Return whether the task has an instance that is not in the person's queue."""
    last = f"(SELECT coalesce(max(position), 0) {_MINE})"
    sql = (
        f"SELECT (SELECT coalesce(max(position), 0) FROM instance WHERE task = :task) <> {last} OR"
        f" ({last} > :after AND NOT EXISTS (SELECT 1 {_MINE} AND position = :after))"
    )
    return bool(scalar(db, sql, {"annotator": annotator, "task": task, "after": FIRST_PART + 1}))


def find_gap(db: Database, annotator: int, task: int) -> tuple[range, int]:
    """Return the free places in the middle of an unfinished queue, and its last place (0 if it is empty)."""
    values = {"annotator": annotator, "task": task, "first": FIRST_PART}
    last = int(scalar(db, f"SELECT coalesce(max(position), 0) {_MINE}", values))
    after = scalar(db, f"SELECT min(position) {_MINE} AND position > :first", values)
    return range(FIRST_PART + 1, after or 0), last


def list_unassigned(db: Database, annotator: int, task: int) -> list[int]:
    """Return the instances of the task that are not in the person's queue."""
    sql = (
        "SELECT id FROM instance i WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM assignment a"
        " WHERE a.annotator = ? AND a.instance = i.id) ORDER BY i.position"
    )
    return [instance for (instance,) in db.conn.execute(sql, [task, annotator])]


def add_assignments(db: Database, annotator: int, task: int, instances: Iterable[int]) -> None:
    """Append instances to a person's queue, in this order; a queue that is only begun gets its middle first."""
    gap, last = find_gap(db, annotator, task)
    first, taken = last + 1, set()
    if gap:
        sql = "SELECT position FROM assignment WHERE annotator = ? AND task = ? AND position > ?"
        first, values = FIRST_PART + 1, [annotator, task, FIRST_PART]
        taken = {position for (position,) in db.conn.execute(sql, values)}
    _add(db, annotator, task, zip((n for n in count(first) if n not in taken), instances, strict=False))


def add_part(db: Database, annotator: int, task: int, instances: Sequence[int]) -> Sequence[int]:
    """Add at most ``PART`` of the instances, in this order, to a person's queue; return those that are left.

    A new long queue gets its first part, and its last place, which tells everybody its length. Its middle follows
    from its end, so that the queue counts as begun until it is complete.
    """
    gap, last = find_gap(db, annotator, task)
    middle, late = instances[: len(gap)], instances[len(gap) :]
    places: Iterable[tuple[int, int]]
    if not last and len(instances) > 2 * FIRST_PART:
        places = [*enumerate(instances[:FIRST_PART], 1), (len(instances), instances[-1])]
        left = instances[FIRST_PART:-1]
    elif late:
        places = enumerate(_list_free(db, annotator, late[:PART]), last + 1)
        left = [*middle, *late[PART:]]
    else:
        places, left = zip(gap[: len(middle)][-PART:], middle[-PART:], strict=True), middle[:-PART]
    _add(db, annotator, task, places)
    return left


def _list_free(db: Database, annotator: int, instances: Sequence[int]) -> list[int]:
    """Return those of the instances that are not in the person's queue: a redraw may have added some."""
    sql = f"SELECT instance FROM assignment WHERE annotator = ? AND instance IN ({join_ids(instances)})"
    taken = {instance for (instance,) in db.conn.execute(sql, [annotator])}
    return [instance for instance in instances if instance not in taken]


def _add(db: Database, annotator: int, task: int, places: Iterable[tuple[int, int]]) -> None:
    db.conn.executemany(
        "INSERT INTO assignment (annotator, task, position, instance, state) VALUES (?, ?, ?, ?, 'open')",
        ((annotator, task, position, instance) for position, instance in places),
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
    saved = "SELECT 1 FROM submission s WHERE s.annotator = assignment.annotator AND s.instance = assignment.instance"
    # nothing is saved for most instances of a new queue
    changes = f" AND EXISTS ({saved})" if annotator is not None and instance is None else ""
    db.conn.execute(
        "UPDATE assignment SET state = CASE WHEN :n > 0 AND NOT EXISTS (SELECT 1 FROM criterion c"
        f" WHERE c.id IN ({marks}) AND ({IS_WANTED}) AND NOT EXISTS ({saved} AND s.criterion = c.id))"
        f" THEN 'finished' ELSE 'open' END WHERE task = :task{mine}{changes}",
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
) -> Assignment | None:
    """Return the nearest assignment after (or before) a position that passes the filter.

    ``skipped`` selects only skipped assignments (True), only others (False), or both (None).
    """
    beyond, order = ("<", "DESC") if backwards else (">", "ASC")
    passes = CONDITION[which] if skipped is None else f"{CONDITION[which]} AND skipped = {int(skipped)}"
    values: dict[str, Any] = {"annotator": annotator, "task": task, "after": after}
    row = get_row(
        db,
        f"SELECT * FROM assignment WHERE annotator = :annotator AND task = :task AND {passes}"
        f" AND position {beyond} :after ORDER BY position {order} LIMIT 1",
        values,
    )
    return _assignment(row) if row else None


def count_assignments(db: Database, annotator: int, task: int) -> dict[str, Any]:
    """Return the numbers of instances in a person's queue: total, finished, flagged.

    ``active_ms`` is the mean active time of the person's last 100 saves; None before the first timed one.
    """
    row = get_row(
        db,
        "SELECT (SELECT coalesce(max(position), 0) FROM assignment WHERE annotator = :annotator AND task = :task)"
        " AS total, (SELECT count(*) FROM assignment WHERE annotator = :annotator AND task = :task"
        " AND state = 'finished') AS finished, (SELECT count(*) FROM assignment WHERE annotator = :annotator"
        " AND task = :task AND flagged = 1) AS flagged, (SELECT avg(active_ms) FROM (SELECT active_ms"
        " FROM submission WHERE annotator = :annotator AND active_ms IS NOT NULL ORDER BY id DESC LIMIT 100)"
        " timed) AS active_ms",
        {"annotator": annotator, "task": task},
    )
    assert row is not None
    return row


def list_progress(db: Database, task: int) -> list[dict[str, Any]]:
    """Return the progress of each person who opened the task: name, role, total, finished, flagged, last save."""
    return list(
        db.query(
            "SELECT p.name, p.role, max(a.position) AS total,"
            " count(CASE WHEN a.state = 'finished' THEN 1 END) AS finished,"
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
