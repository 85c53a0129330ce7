"""Taking a person's data out of the file, the one place where facts are deleted."""

from __future__ import annotations

from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_columns, overwrite_deleted

CHILDREN = {"submission_row": "submission", "vote": "ballot"}
"""Tables whose rows belong to a row of a person's, named by the column that points at it."""
KEPT = frozenset(["enrolment", "reservation", "arrival", "invitation"])
"""What stays: that somebody took part and was given work, under a name that says nothing."""


def remove_person(db: Database, person: int) -> dict[str, int]:
    """Delete all that a person saved, their account and sessions; gives how many rows went, by table.

    Every table with a column ``annotator`` is theirs, so that a table added later is not forgotten.
    """
    overwrite_deleted(db)
    removed = {}
    for table, parent in CHILDREN.items():
        sql = f"DELETE FROM {table} WHERE {parent} IN (SELECT id FROM {parent} WHERE annotator = ?)"
        removed[table] = db.conn.execute(sql, [person]).rowcount
    for table in _tables_with_annotator(db):
        if table not in KEPT:
            cursor = db.conn.execute(f"DELETE FROM {table} WHERE annotator = ?", [person])
            removed[table] = cursor.rowcount
    _forget_name(db, person)
    return {table: n for table, n in removed.items() if table not in ("session", "account", "queue_tally")}


def remove_work(db: Database, person: int, task: int) -> int:
    """Delete what a person saved in one task, and their attempts at its exam; gives how many rows went."""
    overwrite_deleted(db)
    of_task = "instance IN (SELECT id FROM instance WHERE task = :task) AND annotator = :person"
    values = {"task": task, "person": person}
    sql = f"DELETE FROM submission_row WHERE submission IN (SELECT id FROM submission WHERE {of_task})"
    removed = db.conn.execute(sql, values).rowcount
    for table in _tables_with_annotator(db, "instance"):
        if table not in KEPT:
            removed += db.conn.execute(f"DELETE FROM {table} WHERE {of_task}", values).rowcount
    sql = "DELETE FROM exam_attempt WHERE task = :task AND annotator = :person"
    return int(removed + db.conn.execute(sql, values).rowcount)


def _tables_with_annotator(db: Database, also: str = "annotator") -> list[str]:
    """Tables that have a column ``annotator``, and the one named."""
    return [name for name in sorted(db.table_names()) if {"annotator", also} <= get_columns(db, name)]


def _forget_name(db: Database, person: int) -> None:
    db.conn.execute(
        "UPDATE enrolment SET actor = :new WHERE actor = (SELECT name FROM annotator WHERE id = :person)",
        {"new": f"removed-{person}", "person": person},
    )
    db.conn.execute("UPDATE annotator SET name = ? WHERE id = ?", [f"removed-{person}", person])
    db.conn.execute(
        "UPDATE arrival SET study = 'removed', session = 'removed-' || id WHERE annotator = ?", [person]
    )
    db.conn.execute(
        "UPDATE reservation SET outcome = 'rejected' WHERE annotator = ? AND outcome IN ('', 'finished')",
        [person],
    )
