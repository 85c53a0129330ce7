"""Taking a study, or instances for one, into the file: all of it or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coeval.datasets import load_study
from coeval.domain import (
    Arm,
    Criterion,
    Draft,
    DraftStatus,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Person,
    Proposal,
    Role,
    ScrutinyRow,
    Study,
    Submission,
    Task,
)
from coeval.errors import InputError
from coeval.store import Database, assignments, criteria, drafts, people, submissions, tasks
from coeval.store.common import to_json
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.tasks import check_task


@dataclass(slots=True)
class ImportReport:
    """What an import did; ``unchanged`` counts what was there already, word for word."""

    task: str
    created_task: bool = False
    instances: int = 0
    drafts: int = 0
    submissions: int = 0
    people: int = 0
    unchanged: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.created_task or self.instances or self.drafts or self.submissions)

    def __str__(self) -> str:
        parts = [
            f"{n:,} {word}{'' if n == 1 else 's'}"
            for n, word in (
                (self.instances, "instance"),
                (self.drafts, "draft"),
                (self.submissions, "submission"),
            )
            if n
        ]
        if not parts:
            return f"{self.task}: nothing new; {self.unchanged:,} rows were here already and are unchanged."
        old = f"; {self.unchanged:,} rows were here already" if self.unchanged else ""
        return f"{self.task}: added {', '.join(parts)}{old}."


@use_case(OWNERS)
def import_file(
    context: Context,
    person: Person,
    path: Path,
    slug: str,
    *,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
) -> ImportReport:
    """Import a file or folder into a task, which is made where there is none yet.

    Raises:
        InputError: the file cannot be used; it says where and what to do. Nothing was written.
    """
    return import_study(context, person, load_study(path, slug=slug, format=format, mapping=mapping))


@use_case(OWNERS)
def import_study(
    context: Context, person: Person, study: Study, proposals: Sequence[Proposal] = ()
) -> ImportReport:
    """Import a study that was read already; ``proposals`` open its first vote.

    Raises:
        InputError: an instance, draft or submission is here already with other content, or refers to an
            instance that is neither in the file nor in the task.
    """
    task = check_task(study.task)
    with context.store.write() as db:
        return _Import(db, task, study, person).write(proposals)


class _Import:
    """One import inside one transaction: the ids found so far, and the report."""

    def __init__(self, db: Database, task: Task, study: Study, person: Person) -> None:
        self.db, self.study, self.person = db, study, person
        found = tasks.get_task(db, task.slug)
        self.task = found or tasks.add_task(db, task)
        self.report = ImportReport(task.slug, created_task=found is None, notes=list(study.notes))
        self.instances: dict[str, int] = {}
        self.criteria: dict[str, Criterion] = {}
        self.runs: dict[str, int] = {}

    def write(self, proposals: Sequence[Proposal]) -> ImportReport:
        self._write_instances()
        criteria_set = self._write_criteria()
        self._open_round(proposals)
        for imported in self.study.runs:
            self._write_run(imported, criteria_set)
        self._write_submissions()
        return self.report

    def _open_round(self, proposals: Sequence[Proposal]) -> None:
        """Put the proposals to the vote, where nothing was before."""
        if not proposals or criteria.get_round(self.db, self.task.id) is not None:
            return
        current = criteria.get_criteria_set(self.db, self.task.id)
        kept = {text: criterion.id for text, criterion in self.criteria.items()}
        marked = [replace(one, kept_criterion=kept.get(one.text)) for one in proposals]
        criteria.add_round(self.db, self.task.id, current.version + 1 if current else 1, marked)

    def _write_instances(self) -> None:
        wanted = {one.external_id for one in self.study.instances}
        wanted |= {draft.instance for run in self.study.runs for draft in run.drafts}
        wanted |= {one.instance for one in self.study.submissions}
        stored = tasks.get_instances_by_external_id(self.db, self.task.id, wanted)
        new = []
        for one in self.study.instances:
            if one.external_id in stored:
                _refuse_changed(stored[one.external_id], one)
                self.report.unchanged += 1
            else:
                new.append(one)
        self.report.instances = tasks.add_instances(self.db, self.task.id, new)
        if new:
            stored |= tasks.get_instances_by_external_id(
                self.db, self.task.id, [one.external_id for one in new]
            )
        self.instances = {external_id: one.id for external_id, one in stored.items()}

    def _write_criteria(self) -> int | None:
        """The criteria of the file as a criteria set; the id of the set that its drafts are by."""
        current = criteria.get_criteria_set(self.db, self.task.id)
        known = {criterion.text: criterion for criterion in current.criteria} if current else {}
        texts = [criterion.text for criterion in self.study.criteria]
        if texts and not set(texts) <= known.keys():
            # a file that brings further criteria extends the set: what was established stays in it
            members = [*known.values(), *(c for c in self.study.criteria if c.text not in known)]
            current = criteria.add_criteria_set(self.db, self.task.id, members, self.person.name)
            ids = [criterion.id for criterion in current.criteria]
            assignments.refresh_states(self.db, self.task.id, ids)
        self.criteria = {criterion.text: criterion for criterion in current.criteria} if current else {}
        return current.id if current else None

    def _write_run(self, imported: ImportedRun, criteria_set: int | None) -> None:
        content = [
            to_json([d.instance, d.criterion, d.score, [r.text for r in d.rows]]) for d in imported.drafts
        ]
        digest = hashlib.sha256("\n".join(sorted(content)).encode()).hexdigest()
        run = replace(imported.run, params={**imported.run.params, "content_sha256": digest})
        stored = drafts.get_run(self.db, self.task.id, run.label)
        if stored is not None:
            if stored.params.get("content_sha256") != digest:
                raise InputError(
                    f"The task has a run “{run.label}” with other drafts already; drafts are never changed: "
                    "give the new ones another label."
                )
            self.runs[run.label] = stored.id
            self.report.unchanged += len(imported.drafts)
            return
        self.runs[run.label] = drafts.add_run(self.db, self.task.id, run, criteria_set).id
        for one in imported.drafts:
            drafts.record_draft(self.db, self.runs[run.label], self._draft(one))
        self.report.drafts += len(imported.drafts)

    def _draft(self, one: ImportedDraft) -> Draft:
        return Draft(
            instance=self._instance(one.instance),
            criterion=self._criterion(one.criterion).id,
            score=one.score,
            rows=one.rows,
            status=DraftStatus.UNSCORED if one.score is None else DraftStatus.OK,
            reason=one.reason,
            raw=one.raw,
            samples=one.samples,
        )

    def _write_submissions(self) -> None:
        before = people.list_people(self.db)
        touched = False
        for one in self.study.submissions:
            uid = self._uid(one)
            if submissions.get_submission_by_uid(self.db, uid):
                self.report.unchanged += 1
                continue
            submissions.record_submission(self.db, self._submission(one, uid))
            self.report.submissions += 1
            touched = True
        self.report.people = len(people.list_people(self.db)) - len(before)
        if touched:
            ids = [criterion.id for criterion in self.criteria.values()]
            assignments.refresh_states(self.db, self.task.id, ids)

    def _uid(self, one: ImportedSubmission) -> str:
        rows = [[row.kind, row.action, row.draft_row, row.reason, row.text] for row in one.rows]
        content = [self.task.slug, one.person, one.instance, one.criterion, one.score, rows,
                   one.opened_at, one.submitted_at, one.arm, one.run]  # fmt: skip
        return "import-" + hashlib.sha256(to_json(content).encode()).hexdigest()

    def _submission(self, one: ImportedSubmission, uid: str) -> Submission:
        person = people.ensure_person(self.db, one.person, Role.ANNOTATOR).id
        instance, criterion = self._instance(one.instance), self._criterion(one.criterion).id
        earlier = submissions.get_submission(self.db, person, instance, criterion)
        run = self.runs.get(one.run)
        draft = drafts.get_current_draft(self.db, run, instance, criterion) if run else None
        return Submission(
            person=person,
            instance=instance,
            criterion=criterion,
            score=one.score,
            rows=tuple(_with_id(row, draft) for row in one.rows),
            draft=draft.id if draft else None,
            shown_score=draft.score if draft and one.arm is not Arm.BLIND else None,
            arm=one.arm,
            opened_at=one.opened_at,
            submitted_at=one.submitted_at,
            revision=earlier.revision + 1 if earlier else 1,
            uid=uid,
        )

    def _instance(self, external_id: str) -> int:
        if external_id not in self.instances:
            raise InputError(
                f"The file rates an instance “{external_id}” that is neither in it nor in the task “{self.task.slug}”: "
                "import the instances first."
            )
        return self.instances[external_id]

    def _criterion(self, text: str) -> Criterion:
        if text not in self.criteria:
            raise InputError(f"The file rates by “{text[:80]}”, which is not among its criteria.")
        return self.criteria[text]


def _with_id(row: ScrutinyRow, draft: Draft | None) -> ScrutinyRow:
    """The row with the id of the drafted line it names by position."""
    if row.draft_row is None or draft is None:
        return replace(row, draft_row=None)
    return replace(row, draft_row=draft.rows[row.draft_row].id)


def _refuse_changed(stored: Instance, new: Instance) -> None:
    for name in ("input", "output", "document", "system", "reference", "context"):
        if getattr(stored, name) != getattr(new, name):
            raise InputError(
                f"Instance “{new.external_id}” is in the task already with another {name}: give the new one "
                "another id, or import it into another task. Nothing was written."
            )
