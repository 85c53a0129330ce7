"""Taking a person's data out of the file, the one place where facts are deleted."""

from __future__ import annotations

from sqlite_utils import Database

CHILDREN = {"submission_row": "submission", "vote": "ballot"}
"""Tables whose rows belong to a row of a person's, named by the column that points at it."""
KEPT = frozenset(["enrolment", "reservation", "invitation"])
"""What stays: that somebody took part and was given work, under a name that says nothing."""


def remove_person(db: Database, person: int) -> dict[str, int]:
    """Delete all that a person saved, their account and sessions; gives how many rows went, by table.

    Every table with a column ``annotator`` is theirs, so that a table added later is not forgotten.
    """
    db.conn.execute("PRAGMA secure_delete=ON")
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


def _tables_with_annotator(db: Database) -> list[str]:
    sql = (
        "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'annotator'"
        " WHERE m.type = 'table' ORDER BY m.name"
    )
    return [row["name"] for row in db.query(sql)]


def _forget_name(db: Database, person: int) -> None:
    db.conn.execute(
        "UPDATE enrolment SET actor = :new WHERE actor = (SELECT name FROM annotator WHERE id = :person)",
        {"new": f"removed-{person}", "person": person},
    )
    db.conn.execute("UPDATE annotator SET name = ? WHERE id = ?", [f"removed-{person}", person])
    db.conn.execute(
        "UPDATE reservation SET outcome = 'rejected' WHERE annotator = ? AND outcome IN ('', 'finished')",
        [person],
    )
