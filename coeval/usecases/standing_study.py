"""Read a task in its current state: criteria, last drafts, and last revisions of people's work."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Draft, ImportedDraft, ImportedRun, ImportedSubmission, Study
from coeval.store import Database
from coeval.store.queries import criteria, drafts, tasks
from coeval.store.queries.exports import Work, list_current_drafts, list_current_work
from coeval.usecases.access import require_task


def read_standing_study(db: Database, slug: str) -> Study:
    """Return a task in its current state: criteria, their last drafts, and last revisions of people's work."""
    task = require_task(db, slug)
    instances = tuple(tasks.list_instances(db, task.id))
    current = criteria.get_criteria_set(db, task.id)
    members = current.criteria if current else ()
    names = _Names({one.id: one.external_id for one in instances}, {one.id: one.text for one in members})
    runs = []
    shown: dict[int, tuple[str, Draft]] = {}
    for run in drafts.list_runs(db, task.id):
        current_drafts = [
            draft for draft in list_current_drafts(db, run.id) if draft.criterion in names.criteria
        ]
        shown |= {draft.id: (run.label, draft) for draft in current_drafts}
        runs.append(ImportedRun(run, tuple(map(names.build_draft, current_drafts))))
    work = tuple(
        names.build_submission(each, *shown.get(each.submission.draft or 0, ("", None)))
        for each in list_current_work(db, task.id)
        if each.submission.criterion in names.criteria
    )
    return Study(task, instances, members, tuple(runs), work)


class _Names:
    """The names that belong to the ids in a file."""

    def __init__(self, instances: dict[int, str], texts: dict[int, str]) -> None:
        self.instances, self.criteria = instances, texts

    def build_draft(self, draft: Draft) -> ImportedDraft:
        return ImportedDraft(
            instance=self.instances[draft.instance],
            criterion=self.criteria[draft.criterion],
            score=draft.score,
            rows=draft.rows,
            reason=draft.reason,
            raw=draft.raw,
            samples=draft.samples,
            probabilities=draft.probabilities,
            rung=draft.rung,
        )

    def build_submission(self, work: Work, label: str, draft: Draft | None) -> ImportedSubmission:
        """Return one person's work. If the draft was replaced later, the work does not refer to its lines."""
        given = work.submission
        places = {row.id: place for place, row in enumerate(draft.rows)} if draft else {}
        return ImportedSubmission(
            person=work.person,
            instance=self.instances[given.instance],
            criterion=self.criteria[given.criterion],
            score=given.score,
            rows=tuple(replace(row, draft_row=places.get(row.draft_row or 0)) for row in given.rows),
            opened_at=given.opened_at,
            submitted_at=given.submitted_at,
            arm=given.outcome,
            run=label,
            shown_score=given.shown_score,
            planted=given.planted,
            active_ms=given.active_ms,
            first_score=work.first_score,
            group=work.group,
        )
