"""Everybody's saves of evaluations that showed a draft, as columns: millions are a few dozen megabytes."""

from __future__ import annotations

from coeval.domain import Task
from coeval.rules.habits import Saves
from coeval.store import Database
from coeval.store.queries.bulk import reports
from coeval.store.queries.people import people
from coeval.store.queries.scrutiny import review
from coeval.study.computing.column_blocks import read_columns, read_numbers, read_small, read_whole


def read_saves(db: Database, task: Task) -> Saves:
    """The latest of each, in the order of saving."""
    kinds = {"annotator": read_whole, "active_ms": read_numbers, "what": read_small}
    columns = read_columns(reports.read(db, review.SAVES, task=task.id), kinds)
    what = columns["what"]
    return Saves(
        names={person.id: person.name for person in people.list_people(db)},
        person=columns["annotator"],
        kept_all=what & 2 > 0,
        bulk=what & 1 > 0,
        seconds=columns["active_ms"] / 1000,
        planted=what >= 4,
        caught=what >= 8,
    )
