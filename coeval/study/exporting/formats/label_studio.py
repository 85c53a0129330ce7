"""Label Studio: the study as tasks of a project, with the configuration that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from coeval.datasets.annotation.label_studio_out import render_config, render_tasks
from coeval.domain import Draft, ImportedDraft, ImportedRun, ImportedSubmission, Person, Study
from coeval.errors import InputError
from coeval.store import Database
from coeval.store.queries import criteria, tasks
from coeval.store.queries.bulk.standing import Work, list_current_drafts, list_current_work
from coeval.store.queries.drafting import drafts
from coeval.study.access import Context, require_task
from coeval.study.exporting.formats.format import Files, OutFormat


def _build(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
    if not study.instances:
        raise InputError(f"“{slug}” has no instances yet: import some first.")
    yield "label_studio_tasks.json", _as_list(study)
    yield "label_studio_config.xml", [render_config([criterion.scale for criterion in study.criteria])]


def _as_list(study: Study) -> Iterator[str]:
    between = "[\n"
    for task in render_tasks(study):
        yield between + json.dumps(task, ensure_ascii=False)
        between = ",\n"
    yield "\n]\n"


def read_standing_study(db: Database, slug: str) -> Study:
    """A task as it stands: the current criteria, the last drafts by them, and the last revision of people's work."""
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
    """What ids stand for in a file."""

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
        )

    def build_submission(self, work: Work, label: str, draft: Draft | None) -> ImportedSubmission:
        """One person's work; of a draft that was made anew since, the lines it acted on are not named."""
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


FORMAT = OutFormat(
    "label-studio",
    "Label Studio project (JSON)",
    "A task for each instance and criterion: people's work as annotations, drafts as predictions, and the labelling "
    "configuration. Imported here again, it is the study it was.",
    _build,
)
