"""The record of what was asked of Prolific: who, when, for how much, and what came of it."""

from __future__ import annotations

import csv
import io

from coeval.domain import Person
from coeval.domain.crowd import Asked
from coeval.safe_csv import safe
from coeval.store.queries.crowd import prolific as record
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.crowd.prolific.desk import say_money

COLUMNS = [
    "request", "asked_at", "asked_by", "kind", "study", "subject", "person", "amount", "currency", "outcome",
    "answered_at", "prolific_id", "note", "answer",
]  # fmt: skip


@use_case(OWNERS)
def list_asked(context: Context, person: Person, slug: str) -> list[Asked]:
    """Read what was asked of Prolific for a task, oldest first."""
    with context.store.read() as db:
        return record.list_asked(db, require_task(db, slug).id)


@use_case(OWNERS)
def export_asked(context: Context, person: Person, slug: str) -> str:
    """Take out what was asked of Prolific as CSV, a row for each submission, study or person that it was about."""
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(COLUMNS)
    for one in list_asked(context, person, slug):
        for item in one.items:
            cells = [
                one.id, one.asked_at, one.asked_by, str(one.kind), one.study, item.subject, item.who,
                say_money(item.amount), one.currency, str(one.outcome), one.answered_at, one.remote, one.note,
                one.answer,
            ]  # fmt: skip
            writer.writerow([safe(cell) for cell in cells])
    return target.getvalue()
