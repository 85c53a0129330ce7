"""Planted errors in the drafts that a person sees."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

from coeval.clock import now
from coeval.domain import Draft, EvaluationRow, Quote, RowKind
from coeval.rules.planted_errors import SAMPLE, ErrorKind, Neighbour, PlantedError
from coeval.store.engines.database import Database, append, get_row, rows, scalar
from coeval.store.queries.drafts import get_draft

SOURCES = (
    "SELECT d.instance FROM planted_error p JOIN draft_row r ON r.id = p.source_row JOIN draft d ON d.id = r.draft"
    " WHERE p.annotator = :annotator"
)
"""The instances whose lines were shown to a person as planted errors; the person never gets them."""


def get_planted_error(db: Database, annotator: int, instance: int, criterion: int) -> PlantedError | None:
    """Return the planted error in the draft that this person sees, if any."""
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
    """Store the planted error in the draft that this person sees."""
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


def list_neighbours(db: Database, draft: Draft, annotator: int, position: int) -> list[Neighbour]:
    """Return up to ``SAMPLE`` drafts of the same run and criterion, from a position on, then from 1.

    Instances that this person has had or will get are left out, because they would recognise the line or
    learn what a hidden draft says. So are instances from which a line was taken before. One statement reads
    all drafts, so the time does not depend on what is planted.
    """
    sql = (
        "SELECT d.id, d.instance, d.score, d.samples_json, r.id AS line, r.kind, r.text, q.text AS quoted,"
        " CASE WHEN i.input <> (SELECT input FROM instance WHERE id = :instance)"
        " AND NOT EXISTS (SELECT 1 FROM assignment a WHERE a.annotator = :annotator AND a.instance = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM reservation v WHERE v.annotator = :annotator AND v.instance = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM answer_key k WHERE k.instance = i.id)"
        " AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.annotator = :annotator AND s.instance = i.id)"
        f" AND i.id NOT IN ({SOURCES}) THEN 1 ELSE 0 END AS lends"
        " FROM instance i JOIN draft d ON d.run = :run AND d.instance = i.id AND d.criterion = :criterion"
        " AND d.status = 'ok' AND d.attempt = (SELECT max(n.attempt) FROM draft n WHERE n.run = d.run"
        " AND n.instance = d.instance AND n.criterion = d.criterion)"
        " JOIN draft_row r ON r.draft = d.id LEFT JOIN quote q ON q.draft_row = r.id"
        " WHERE i.task = (SELECT task FROM instance WHERE id = :instance) AND i.id <> :instance"
        " AND (i.position BETWEEN :position AND :position + :most - 1 OR i.position BETWEEN 1 AND :wrapped)"
        " ORDER BY d.id, r.position, q.position"
    )
    size = scalar(
        db,
        "SELECT max(position) FROM instance WHERE task = (SELECT task FROM instance WHERE id = ?)",
        [draft.instance],
    )
    values = {"run": draft.run, "instance": draft.instance, "criterion": draft.criterion, "most": SAMPLE}
    wrapped = min(position - 1, position + SAMPLE - 1 - int(size))
    values |= {"annotator": annotator, "position": position, "wrapped": wrapped}
    heads: dict[int, tuple[Draft, bool]] = {}
    lines: defaultdict[int, dict[int, EvaluationRow]] = defaultdict(dict)
    for row in rows(db, sql, values):
        if row["id"] not in heads:
            head = Draft(
                row["instance"],
                draft.criterion,
                row["score"],
                samples=tuple(json.loads(row["samples_json"])),
                run=draft.run,
                id=row["id"],
            )
            heads[row["id"]] = head, bool(row["lends"])
        of_draft = lines[row["id"]]
        line = of_draft.get(row["line"]) or EvaluationRow(RowKind(row["kind"]), row["text"], id=row["line"])
        quotes = line.quotes if row["quoted"] is None else (*line.quotes, Quote(row["quoted"]))
        of_draft[row["line"]] = replace(line, quotes=quotes)
    return [
        Neighbour(replace(head, rows=tuple(lines[number].values())), lends)
        for number, (head, lends) in heads.items()
    ]


def _get_line(db: Database, row: int) -> EvaluationRow | None:
    draft = get_draft(db, scalar(db, "SELECT draft FROM draft_row WHERE id = ?", [row]))
    return next((line for line in draft.rows if line.id == row), None) if draft else None
