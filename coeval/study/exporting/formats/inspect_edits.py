"""Inspect: people's scores as edits of the scores in its logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from coeval.clock import now
from coeval.datasets.evallogs.inspect_scores import render_edit
from coeval.domain import Person
from coeval.store import Database
from coeval.store.queries.bulk import exports
from coeval.store.queries.bulk.reports import read
from coeval.study.access import Context, require_task
from coeval.study.exporting.formats.format import Files, OutFormat

FILE = "inspect_score_edits.jsonl"


def _build(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        yield FILE, _lines(db, require_task(db, slug).id, slug)


def _lines(db: Database, task: int, slug: str) -> Iterator[str]:
    """A line for each instance and criterion that people scored: those that count."""
    at = now()
    for (instance, criterion), rows in groupby(
        read(db, exports.UNITS, task=task), lambda row: (row[0], row[1])
    ):
        scores = [float(score) for *_, score in rows if score is not None]
        if scores:
            yield json.dumps(render_edit(slug, instance, criterion, scores, at), ensure_ascii=False) + "\n"


FORMAT = OutFormat(
    "inspect",
    "Score edits for Inspect (JSON Lines)",
    "People's mean score of each instance and criterion as a ScoreEdit; on the command line --logs writes them into "
    "copies of the logs that the instances came from.",
    _build,
)
