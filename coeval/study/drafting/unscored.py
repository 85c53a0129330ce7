"""The judgments of a run that no score could be read from, with the model's own words."""

from __future__ import annotations

from coeval.domain import Person, UnscoredDraft
from coeval.store.queries.drafting import comparisons, drafts
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.tasks import require_run

MOST = 200
"""Unscored drafts that are listed; the export holds all of them."""


@use_case(OWNERS)
def list_unscored(context: Context, person: Person, slug: str, label: str) -> list[UnscoredDraft]:
    """See which drafts of a run are unscored, why, and what the model answered: the first ``MOST`` of them.

    Raises:
        NotFoundError: the task has no run of that label.
    """
    with context.store.read() as db:
        run = require_run(db, require_task(db, slug), label)
        unscored = drafts.list_unscored(db, run.id, MOST) + comparisons.list_unscored(db, run.id, MOST)
        return unscored[:MOST]
