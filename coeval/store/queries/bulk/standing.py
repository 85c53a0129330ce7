"""What stands in a task now: of each draft its last attempt, of each person's work the last revision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coeval.domain import Draft, Group, Submission
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import rows
from coeval.store.queries.drafting.drafts import get_draft
from coeval.store.queries.scrutiny.submissions import submission_of

_DRAFTS = "SELECT id FROM current_draft WHERE run = ? ORDER BY id"
_WORK = """
SELECT s.*, a.name AS person_name, g.group_name, f.score AS first_score
FROM current_submission s
JOIN instance i ON i.id = s.instance
JOIN annotator a ON a.id = s.annotator
LEFT JOIN annotator_group g ON g.annotator = s.annotator
LEFT JOIN first_score f ON f.annotator = s.annotator AND f.instance = s.instance AND f.criterion = s.criterion
WHERE i.task = ? ORDER BY s.id
"""


@dataclass(frozen=True, slots=True)
class Work:
    """One submission, whose it is, and the score given before the draft was shown, if one was."""

    submission: Submission
    person: str
    group: Group
    first_score: float | None


def list_current_drafts(db: Database, run: int) -> Iterator[Draft]:
    """The last attempt of a run at each instance and criterion, with its lines."""
    for row in rows(db, _DRAFTS, [run]):
        draft = get_draft(db, row["id"])
        if draft is not None:
            yield draft


def list_current_work(db: Database, task: int) -> Iterator[Work]:
    """The last revision of everybody's work on a task, in the order in which it was saved."""
    for row in rows(db, _WORK, [task]):
        name, group, first = row.pop("person_name"), row.pop("group_name"), row.pop("first_score")
        yield Work(submission_of(db, row), name, Group(group), first)
