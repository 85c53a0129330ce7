"""The work in an imported file (judges' drafts and people's submissions), written in portions.

Only one portion is in memory at a time, and each portion is a separate transaction.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from coeval.datasets import Source
from coeval.domain import (
    Arm,
    Draft,
    Group,
    ImportedDraft,
    ImportedSubmission,
    ScrutinyRow,
    Submission,
)
from coeval.errors import InputError
from coeval.store import Database
from coeval.store.engines.database import to_json
from coeval.store.queries import drafts as drafts_module
from coeval.store.queries import imports
from coeval.usecases.import_staging import Staging, portions


@dataclass(slots=True)
class ImportReport:
    """The outcome of an import; ``unchanged`` counts items that were already identical.

    ``raters`` gave the added scores; ``people`` are the new ones among them.
    """

    task: str
    created_task: bool = False
    instances: int = 0
    drafts: int = 0
    submissions: int = 0
    people: int = 0
    raters: int = 0
    unchanged: int = 0
    notes: list[str] = field(default_factory=list)
    fields: Mapping[str, str] = field(default_factory=dict)
    """The source column of each field, if the file is a table of instances."""

    @property
    def changed(self) -> bool:
        return bool(self.created_task or self.instances or self.drafts or self.submissions)

    def __str__(self) -> str:
        raters = (
            f" by {self.raters:,} {'person' if self.raters == 1 else 'people'}" if self.submissions else ""
        )
        parts = [
            f"{n:,} {word}{'' if n == 1 else 's'}{raters if word == 'score' else ''}"
            for n, word in (
                (self.instances, "instance"),
                (self.drafts, "draft"),
                (self.submissions, "score"),
            )
            if n
        ]
        if not parts:
            return f"{self.task}: nothing new; {self.unchanged:,} rows already existed and are unchanged."
        old = f"; {self.unchanged:,} rows already existed" if self.unchanged else ""
        return f"{self.task}: added {', '.join(parts)}{old}."


@dataclass(frozen=True, slots=True)
class Work:
    """The data that publication needs after a file's work is written: its people, and scores before a draft."""

    people: Collection[int]
    first_scores: Sequence[Submission]


def write_work(staging: Staging, criteria: Mapping[str, int], source: Source, report: ImportReport) -> Work:
    """Append the drafts and submissions of a file; ``report`` counts them.

    Raises:
        InputError: a run with the same label has other drafts, or the file rates an instance or criterion
            that does not exist.
    """
    names = _Names(staging, criteria)
    runs = _Runs(names, source, report)
    runs.write()
    work = _Submissions(names, source, runs.ids, report)
    work.write()
    return Work(work.people.values(), work.first_scores)


@dataclass(slots=True)
class _Names:
    """The ids of the names in a file."""

    staging: Staging
    criteria: Mapping[str, int]

    def get_instances(self, db: Database, names: Iterable[str]) -> dict[str, int]:
        asked = set(names)
        ids = self.staging.get_instance_ids(db, asked)
        for name in sorted(asked - ids.keys())[:1]:
            raise InputError(
                f"The file rates the instance “{name}”, which is neither in the file nor in the task "
                f"“{self.staging.slug}”: import the instances first."
            )
        return ids

    def get_criterion(self, text: str) -> int:
        if text not in self.criteria:
            raise InputError(
                f"The file rates the criterion “{text[:80]}”, which it does not list: add it to its criteria."
            )
        return self.criteria[text]


class _Runs:
    """The runs of a file. New runs are written; existing ones must be identical."""

    def __init__(self, names: _Names, source: Source, report: ImportReport) -> None:
        self.names, self.staging, self.source, self.report = names, names.staging, source, report
        self.ids: dict[str, int] = {}
        self.old: Counter[str] = Counter()
        """The number of drafts in each run that existed before the file."""
        with self.staging.write() as db:
            for run in source.runs:
                stored = (
                    drafts_module.get_run(db, self.staging.task.id, run.label) if self.staging.task else None
                )
                if stored is not None:
                    self.old[run.label] = 0
                else:
                    stored = drafts_module.add_run(db, self.staging.place.id, run, None)
                self.ids[run.label] = stored.id

    def write(self) -> None:
        for portion in portions(self.source.drafts, _weigh_draft):
            with self.staging.write() as db:
                self._write_portion(db, portion)
        with self.staging.context.store.read() as db:
            for label, n in self.old.items():
                if n != sum(drafts_module.count_drafts(db, self.ids[label]).values()):
                    raise _other_drafts(label)

    def _write_portion(self, db: Database, portion: Sequence[tuple[str, ImportedDraft]]) -> None:
        instances = self.names.get_instances(db, (draft.instance for _, draft in portion))
        by_run: dict[str, list[Draft]] = {}
        for label, draft in portion:
            criterion = self.names.get_criterion(draft.criterion)
            by_run.setdefault(label, []).append(draft.to_draft(instances[draft.instance], criterion))
        for label, drafts_of_run in by_run.items():
            if label in self.old:
                self._compare(db, label, drafts_of_run)
            else:
                drafts_module.record_drafts(db, self.ids[label], drafts_of_run)
                self.report.drafts += len(drafts_of_run)

    def _compare(self, db: Database, label: str, drafts_of_run: Sequence[Draft]) -> None:
        for draft in drafts_of_run:
            stored = drafts_module.get_current_draft(db, self.ids[label], draft.instance, draft.criterion)
            if stored is None or _content(stored) != _content(draft):
                raise _other_drafts(label)
        self.old[label] += len(drafts_of_run)
        self.report.unchanged += len(drafts_of_run)


def _weigh_draft(labelled: tuple[str, ImportedDraft]) -> int:
    _, draft = labelled
    return len(draft.raw) + sum(len(row.text) for row in draft.rows)


def _content(draft: Draft) -> tuple[float | None, list[str]]:
    return draft.score, [row.text for row in draft.rows]


def _other_drafts(label: str) -> InputError:
    return InputError(
        f"The task has a run “{label}” with other drafts already; drafts are never changed: "
        "give the new ones another label."
    )


class _Submissions:
    """People's finished work in a file. Identical existing work is left unchanged."""

    def __init__(self, names: _Names, source: Source, runs: dict[str, int], report: ImportReport) -> None:
        self.names, self.staging, self.source, self.report = names, names.staging, source, report
        self.runs = runs
        self.people: dict[str, int] = {}
        self.first_scores: list[Submission] = []
        # a file lists all people who reviewed one draft together
        self.get_draft = lru_cache(maxsize=1_000)(self._read_draft)

    def _read_draft(self, run: int, instance: int, criterion: int) -> Draft | None:
        with self.staging.context.store.read() as db:
            return drafts_module.get_current_draft(db, run, instance, criterion)

    def write(self) -> None:
        for portion in portions(self.source.submissions, _weigh_submission):
            self._write_portion(portion)
        with self.staging.context.store.read() as db:
            self.report.raters = len(self.people)
            self.report.people = imports.count_new_people(db, self.staging.batch)

    def _write_portion(self, portion: Sequence[ImportedSubmission]) -> None:
        with self.staging.context.store.read() as db:
            instances = self.names.get_instances(db, (submission.instance for submission in portion))
            imported = {_key(self.staging.slug, imported, instances): imported for imported in portion}
            stored = imports.get_known_uids(db, imported)
        new = {uid: submission for uid, submission in imported.items() if uid not in stored}
        self._ensure_people({submission.person: submission.group for submission in new.values()})
        built = [
            self._build(uid, submission, instances[submission.instance]) for uid, submission in new.items()
        ]
        self.first_scores += [
            self._first_score(uid, submission, instances[submission.instance])
            for uid, submission in new.items()
            if submission.first_score is not None
        ]
        with self.staging.write() as db:
            imports.record_submissions(db, self.staging.batch, built)
        self.report.submissions += len(new)
        self.report.unchanged += len(portion) - len(new)

    def _first_score(self, uid: str, submission: ImportedSubmission, instance: int) -> Submission:
        """Return the score before the draft was shown, saved at the time at which the work began."""
        return Submission(
            person=self.people[submission.person],
            instance=instance,
            criterion=self.names.get_criterion(submission.criterion),
            score=submission.first_score,
            rows=(),
            arm=Arm.FIRST,
            opened_at=submission.opened_at,
            submitted_at=submission.opened_at,
            uid=f"{uid}-first",
        )

    def _ensure_people(self, groups: Mapping[str, Group | None]) -> None:
        unknown = sorted(groups.keys() - self.people.keys())
        if unknown:
            with self.staging.write() as db:
                for name in unknown:
                    group = groups[name] or self.source.group
                    self.people[name] = imports.add_person(db, self.staging.batch, name, group).id

    def _build(
        self, uid: str, submission: ImportedSubmission, instance: int
    ) -> tuple[dict[str, Any], list[ScrutinyRow]]:
        """Return the values of a submission by column, and its rows."""
        criterion = self.names.get_criterion(submission.criterion)
        said: dict[str, Any] = {
            "uid": uid,
            "annotator": self.people[submission.person],
            "instance": instance,
            "criterion": criterion,
            "score": submission.score,
            "arm": submission.arm,
            "active_ms": submission.active_ms,
        }
        run = self.runs.get(submission.run)
        draft = self.get_draft(run, instance, criterion) if run else None
        if draft:
            said |= {"draft": draft.id, "shown_score": _shown_score(submission, draft)}
        for column in ("planted", "opened_at", "submitted_at"):
            if told := getattr(submission, column):
                said[column] = told
        return said, [_with_id(row, draft) for row in submission.rows]


def _key(slug: str, submission: ImportedSubmission, instances: Mapping[str, int]) -> str:
    """Return the key of a submission, made from its content, to recognise an identical one.

    It begins with the number of the instance. Work on one instance is adjacent in a file, so its keys are
    adjacent in the index, and a portion changes few index pages.
    """
    rows = [[row.kind, row.action, row.draft_row, row.reason, row.text] for row in submission.rows]
    content = [slug, submission.person, submission.instance, submission.criterion, submission.score, rows,
               submission.opened_at, submission.submitted_at, submission.arm, submission.run]  # fmt: skip
    return f"{instances[submission.instance]}-import-{hashlib.sha256(to_json(content).encode()).hexdigest()}"


def _shown_score(submission: ImportedSubmission, draft: Draft) -> float | None:
    if submission.arm in (Arm.BLIND, Arm.EVIDENCE, Arm.REASONS):
        return None
    return draft.score if submission.shown_score is None else submission.shown_score


def _weigh_submission(submission: ImportedSubmission) -> int:
    return sum(len(row.text) + len(row.reason) for row in submission.rows)


def _with_id(row: ScrutinyRow, draft: Draft | None) -> ScrutinyRow:
    """Return the row with the id of the drafted line that its position refers to."""
    if row.draft_row is None or draft is None:
        return replace(row, draft_row=None)
    return replace(row, draft_row=draft.rows[row.draft_row].id)
