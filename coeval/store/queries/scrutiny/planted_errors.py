"""What is wrong on purpose in the drafts that a person sees."""

from __future__ import annotations

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import EvaluationRow
from coeval.rules.planted_errors import ErrorKind, PlantedError
from coeval.store.engines.statements import append, get_row, scalar
from coeval.store.queries.drafting.drafts import get_draft


def get_planted_error(db: Database, annotator: int, instance: int, criterion: int) -> PlantedError | None:
    """What is planted in the draft as this person sees it, if anything."""
    sql = "SELECT * FROM planted_error WHERE annotator = ? AND instance = ? AND criterion = ?"
    row = get_row(db, sql, [annotator, instance, criterion])
    if row is None:
        return None
    kind = ErrorKind(row["kind"])
    source = _get_line(db, row["source_row"]) if kind is ErrorKind.EVIDENCE else None
    return PlantedError(row["draft"], kind, row["score"], row["draft_row"], source)


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
        "planted_at": now(),
    }
    append(db, "planted_error", values)


def find_evidence_elsewhere(
    db: Database, task: int, run: int, instance: int, criterion: int, position: int
) -> EvaluationRow | None:
    """A run's first line of evidence by a criterion about another input, from a position of the task on.

    Where there is none from there to the end, the search goes on from the beginning.
    """
    sql = (
        "SELECT r.id FROM instance i JOIN draft d ON d.run = :run AND d.instance = i.id"
        " AND d.criterion = :criterion AND d.status = 'ok' JOIN draft_row r ON r.draft = d.id AND r.kind = 'evidence'"
        " WHERE i.task = :task AND i.position {} :position AND i.input <> (SELECT input FROM instance"
        " WHERE id = :instance) ORDER BY i.position, d.attempt, r.position LIMIT 1"
    )
    key = {"task": task, "run": run, "instance": instance, "criterion": criterion, "position": position}
    line = scalar(db, sql.format(">="), key) or scalar(db, sql.format("<"), key)
    return _get_line(db, line) if line else None


def _get_line(db: Database, row: int) -> EvaluationRow | None:
    draft = get_draft(db, scalar(db, "SELECT draft FROM draft_row WHERE id = ?", [row]))
    return next((line for line in draft.rows if line.id == row), None) if draft else None
