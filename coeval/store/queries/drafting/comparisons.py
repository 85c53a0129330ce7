"""Two outputs of one document side by side: which pairs there are, and what a judge said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coeval.clock import now
from coeval.domain import Comparison, Instance, UnscoredDraft
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import rows, scalar, to_json
from coeval.store.queries.tasks import instance_of

COMPARED = "other.task = i.task AND other.document = i.document AND i.document <> '' AND other.id <> i.id"
"""What makes ``other`` a rival of ``i``: another output of its document."""


def list_rivals(db: Database, instance: Instance) -> list[Instance]:
    """The other outputs of an instance's document, in the order of the task."""
    sql = f"SELECT other.* FROM instance i JOIN instance other ON {COMPARED} WHERE i.id = ? ORDER BY other.position"
    return [instance_of(row) for row in rows(db, sql, [instance.id])]


def list_uncompared(
    db: Database, task: int, run: int, criteria: Iterable[int], *, retry_unscored: bool = False
) -> Iterator[tuple[int, int]]:
    """(instance, criterion) where the instance, shown first, has still to be compared with some rival.

    With ``retry_unscored`` also where a comparison could not be read.
    """
    marks = ", ".join(str(int(criterion)) for criterion in criteria) or "NULL"
    read = "AND d.preference IS NOT NULL" if retry_unscored else ""
    sql = (
        "SELECT DISTINCT i.id AS instance, c.id AS criterion, i.position FROM instance i"
        f" JOIN instance other ON {COMPARED} JOIN criterion c ON c.id IN ({marks})"
        " WHERE i.task = ? AND NOT EXISTS (SELECT 1 FROM comparison d WHERE d.run = ? AND d.criterion = c.id"
        f" AND d.first = i.id AND d.second = other.id {read}) ORDER BY i.position, c.id"
    )
    return ((row["instance"], row["criterion"]) for row in db.query(sql, [task, run]))


def next_attempt(db: Database, run: int, instance: int, criterion: int) -> int:
    """The number of a further attempt at an instance, shown first: 1 where it was not compared yet."""
    sql = "SELECT coalesce(max(attempt), 0) + 1 FROM comparison WHERE run = ? AND first = ? AND criterion = ?"
    return int(scalar(db, sql, [run, instance, criterion]))


def record_comparisons(db: Database, run: int, comparisons: Sequence[Comparison], attempt: int) -> None:
    """Append comparisons of a run; a pair whose preference is known already keeps it."""
    made_at = now()
    db.conn.executemany(
        "INSERT INTO comparison (run, criterion, first, second, attempt, preference, reason, raw, samples_json,"
        " created_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM comparison known"
        " WHERE known.run = ? AND known.criterion = ? AND known.first = ? AND known.second = ?"
        " AND known.preference IS NOT NULL)",
        [
            (run, c.criterion, c.first, c.second, attempt, c.preference, c.reason, c.raw, to_json(list(c.samples)),
             made_at, run, c.criterion, c.first, c.second)
            for c in comparisons
        ],
    )  # fmt: skip


def count_comparisons(db: Database, run: int) -> tuple[int, int]:
    """How many comparisons of a run have a preference, and how many could not be read."""
    sql = "SELECT count(preference), count(*) - count(preference) FROM current_comparison WHERE run = ?"
    read, unread = db.conn.execute(sql, [run]).fetchone()
    return int(read), int(unread)


def list_unscored(db: Database, run: int, limit: int) -> list[UnscoredDraft]:
    """The first ``limit`` of a run's comparisons whose latest attempt could not be read."""
    sql = (
        "SELECT a.external_id || ' and ' || b.external_id, c.text, p.attempt, p.reason, p.raw"
        " FROM current_comparison p JOIN instance a ON a.id = p.first JOIN instance b ON b.id = p.second"
        " JOIN criterion c ON c.id = p.criterion WHERE p.run = ? AND p.preference IS NULL"
        " ORDER BY a.position, b.position, c.id LIMIT ?"
    )
    return [UnscoredDraft(*row) for row in db.conn.execute(sql, [run, limit])]
