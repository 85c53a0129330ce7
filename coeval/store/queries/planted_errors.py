"""Planted errors in the drafts that a person sees."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

from coeval.clock import now
from coeval.domain import Draft, EvaluationRow, Quote, RowKind
from coeval.rules.planted_errors import SAMPLE, PlantedError
from coeval.store.engines.database import Database, append, get_row, rows, scalar


def get_planted_error(db: Database, annotator: int, instance: int, criterion: int) -> PlantedError | None:
    """Return the planted error in the draft that this person sees, if any."""
    if scalar(db, "SELECT 1 FROM planted_error LIMIT 1") is None:
        return None  # the answer for most studies, which the store keeps for all saves of a transaction
    sql = "SELECT * FROM planted_error WHERE annotator = ? AND instance = ? AND criterion = ?"
    row = get_row(db, sql, [annotator, instance, criterion])
    return PlantedError(row["draft"], row["score"]) if row else None


def record_planted_error(
    db: Database, annotator: int, instance: int, criterion: int, planted: PlantedError
) -> None:
    """Store the planted error in the draft that this person sees."""
    values = {
        "annotator": annotator,
        "instance": instance,
        "criterion": criterion,
        "draft": planted.draft,
        "score": planted.score,
        "planted_at": now(),
    }
    append(db, "planted_error", values)


def list_neighbours(db: Database, draft: Draft, position: int) -> list[Draft]:
    """Return up to ``SAMPLE`` other drafts of the same run and criterion, from a position on, then from 1.

    One statement reads all drafts, so the time does not depend on what is planted.
    """
    sql = (
        "SELECT d.id, d.instance, d.score, d.samples_json, r.id AS line, r.kind, r.text, q.text AS quoted"
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
    values |= {"position": position, "wrapped": wrapped}
    heads: dict[int, Draft] = {}
    lines: defaultdict[int, dict[int, EvaluationRow]] = defaultdict(dict)
    for row in rows(db, sql, values):
        if row["id"] not in heads:
            heads[row["id"]] = Draft(
                row["instance"],
                draft.criterion,
                row["score"],
                samples=tuple(json.loads(row["samples_json"])),
                run=draft.run,
                id=row["id"],
            )
        of_draft = lines[row["id"]]
        line = of_draft.get(row["line"]) or EvaluationRow(RowKind(row["kind"]), row["text"], id=row["line"])
        quotes = line.quotes if row["quoted"] is None else (*line.quotes, Quote(row["quoted"]))
        of_draft[row["line"]] = replace(line, quotes=quotes)
    return [replace(head, rows=tuple(lines[number].values())) for number, head in heads.items()]
