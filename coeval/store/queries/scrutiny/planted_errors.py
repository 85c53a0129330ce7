"""What is wrong on purpose in the drafts that a person sees."""

from __future__ import annotations

from collections.abc import Iterator

from coeval.clock import now
from coeval.domain import Draft, EvaluationRow
from coeval.rules.planted_errors import ErrorKind, PlantedError
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import append, get_row, rows, scalar
from coeval.store.queries.drafting.drafts import get_draft

SOURCES = (
    "SELECT d.instance FROM planted_error p JOIN draft_row r ON r.id = p.source_row JOIN draft d ON d.id = r.draft"
    " WHERE p.annotator = :annotator"
)
"""Instances that lines were taken from for a person: they are never given to that person."""


def get_planted_error(db: Database, annotator: int, instance: int, criterion: int) -> PlantedError | None:
    """What is planted in the draft as this person sees it, if anything."""
    sql = "SELECT * FROM planted_error WHERE annotator = ? AND instance = ? AND criterion = ?"
    row = get_row(db, sql, [annotator, instance, criterion])
    if row is None:
        return None
    kind = ErrorKind(row["kind"])
    source = _get_line(db, row["source_row"]) if kind is ErrorKind.EVIDENCE else None
    return PlantedError(row["draft"], kind, row["score"], row["draft_row"], source, row["text"] or "")


def record_planted_error(
    db: Database, annotator: int, instance: int, criterion: int, planted: PlantedError
) -> None:
    """Keep what this person is shown in place of what the draft says."""
    values = {
        "annotator": annotator,
        "instance": instance,
        "criterion": criterion,
        "draft": planted.draft,
        "kind": planted.kind,
        "score": planted.score,
        "draft_row": planted.draft_row,
        "source_row": planted.source.id if planted.source else None,
        "text": planted.text or None,
        "planted_at": now(),
    }
    append(db, "planted_error", values)


def list_evidence_elsewhere(
    db: Database, draft: Draft, annotator: int, position: int, *, most: int = 20
) -> Iterator[Draft]:
    """Drafts of the same run by the same criterion about other inputs, from a position of the task on, then from 1.

    Never of an instance that this person has, has had, or will have: they would know the line again, or learn what
    a draft says that they are not to see. Nor of one that a line was taken from for them before.
    """
    sql = (
        "SELECT d.id FROM instance i JOIN draft d ON d.run = :run AND d.instance = i.id"
        " AND d.criterion = :criterion AND d.status = 'ok'"
        " WHERE i.task = (SELECT task FROM instance WHERE id = :instance) AND i.position {} :position"
        " AND i.input <> (SELECT input FROM instance WHERE id = :instance)"
        " AND NOT EXISTS (SELECT 1 FROM assignment a WHERE a.annotator = :annotator AND a.instance = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM reservation v WHERE v.annotator = :annotator AND v.instance = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.annotator = :annotator AND s.instance = i.id)"
        f" AND i.id NOT IN ({SOURCES}) ORDER BY i.position, d.attempt DESC LIMIT :most"
    )
    values = {"run": draft.run, "instance": draft.instance, "criterion": draft.criterion}
    values |= {"annotator": annotator, "position": position, "most": most}
    for ahead in (">=", "<"):
        for row in list(rows(db, sql.format(ahead), values)):
            source = get_draft(db, row["id"])
            if source is not None:
                yield source


def list_scores(db: Database, draft: Draft, *, most: int = 300) -> list[float]:
    """The run's scores by the draft's criterion; of a large run, those of the first instances."""
    sql = (
        "SELECT score FROM draft WHERE run = ? AND criterion = ? AND status = 'ok' ORDER BY instance LIMIT ?"
    )
    return [row["score"] for row in rows(db, sql, [draft.run, draft.criterion, most])]


def _get_line(db: Database, row: int) -> EvaluationRow | None:
    draft = get_draft(db, scalar(db, "SELECT draft FROM draft_row WHERE id = ?", [row]))
    return next((line for line in draft.rows if line.id == row), None) if draft else None
