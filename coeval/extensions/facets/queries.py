"""The instances of each person in a task, whether assigned or already scored."""

from __future__ import annotations

from coeval.store import Database
from coeval.store.engines.database import rows

LINKS = (
    "SELECT annotator, instance FROM assignment WHERE task = :task"
    " UNION SELECT s.annotator, s.instance FROM submission s JOIN instance i ON i.id = s.instance WHERE i.task = :task"
)


def list_links(db: Database, task: int) -> list[tuple[int, int]]:
    """Return each pair of a person and an instance that was assigned to them or that they scored."""
    return [(row["annotator"], row["instance"]) for row in rows(db, LINKS, {"task": task})]
