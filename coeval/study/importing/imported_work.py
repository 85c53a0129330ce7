"""The work that an imported file holds, judges' drafts and people's submissions, written batch by batch.

Only one batch of a file is in memory at a time; all of them are in the caller's transaction.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from coeval.datasets import Source
from coeval.domain import (
    Arm,
    CriteriaSet,
    Draft,
    DraftStatus,
    ImportedDraft,
    ImportedSubmission,
    Role,
    ScrutinyRow,
    Submission,
    Task,
)
from coeval.errors import InputError
from coeval.store import Database
from coeval.store.engines.statements import chunks, to_json
from coeval.store.queries import tasks
from coeval.store.queries.bulk import imports
from coeval.store.queries.drafting import drafts
from coeval.store.queries.people import people
from coeval.store.queries.scrutiny import assignments


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


def write_work(
    db: Database, task: Task, current: CriteriaSet | None, source: Source, report: ImportReport
) -> None:
    """Append the drafts and submissions of a file; ``report`` counts them.

    Raises:
        InputError: a run of that label has other drafts already, or the file rates what is not there.
    """
    names = _Names(db, task, {one.text: one.id for one in current.criteria} if current else {})
    runs = _Runs(names, source, current.id if current else None, report)
    runs.write()
    _Submissions(names, source, runs.ids, report).write()


@dataclass(slots=True)
class _Names:
    """What the names in a file stand for."""

    db: Database
    task: Task
    criteria: dict[str, int]

    def get_instances(self, wanted: Iterable[str]) -> dict[str, int]:
        wanted = set(wanted)
        found = tasks.get_instance_ids(self.db, self.task.id, wanted)
        for name in sorted(wanted - found.keys())[:1]:
            raise InputError(
                f"The file rates an instance “{name}” that is neither in it nor in the task “{self.task.slug}”: "
                "import the instances first."
            )
        return found

    def get_criterion(self, text: str) -> int:
        if text not in self.criteria:
            raise InputError(f"The file rates by “{text[:80]}”, which is not among its criteria.")
        return self.criteria[text]


class _Runs:
    """The runs of a file: new ones are written, those here already must be the same."""

    def __init__(self, names: _Names, source: Source, criteria_set: int | None, report: ImportReport) -> None:
        self.names, self.db, self.source, self.report = names, names.db, source, report
        self.ids: dict[str, int] = {}
        self.old: Counter[str] = Counter()
        """How many drafts of each run that was here before the file has given so far."""
        for run in source.runs:
            stored = drafts.get_run(self.db, names.task.id, run.label)
            if stored is not None:
                self.old[run.label] = 0
            else:
                stored = drafts.add_run(self.db, names.task.id, run, criteria_set)
            self.ids[run.label] = stored.id

    def write(self) -> None:
        for batch in chunks(self.source.drafts):
            instances = self.names.get_instances(draft.instance for _, draft in batch)
            made: dict[str, list[Draft]] = {}
            for label, one in batch:
                made.setdefault(label, []).append(self._build(one, instances[one.instance]))
            for label, found in made.items():
                self._write_batch(label, found)
        for label, n in self.old.items():
            if n != sum(drafts.count_drafts(self.db, self.ids[label]).values()):
                raise _other_drafts(label)

    def _build(self, one: ImportedDraft, instance: int) -> Draft:
        return Draft(
            instance=instance,
            criterion=self.names.get_criterion(one.criterion),
            score=one.score,
            rows=one.rows,
            status=DraftStatus.UNSCORED if one.score is None else DraftStatus.OK,
            reason=one.reason,
            raw=one.raw,
            samples=one.samples,
        )

    def _write_batch(self, label: str, found: Sequence[Draft]) -> None:
        run = self.ids[label]
        if label not in self.old:
            drafts.record_drafts(self.db, run, found)
            self.report.drafts += len(found)
            return
        for draft in found:
            stored = drafts.get_current_draft(self.db, run, draft.instance, draft.criterion)
            if stored is None or _content(stored) != _content(draft):
                raise _other_drafts(label)
        self.old[label] += len(found)
        self.report.unchanged += len(found)


def _content(draft: Draft) -> tuple[float | None, list[str]]:
    return draft.score, [row.text for row in draft.rows]


def _other_drafts(label: str) -> InputError:
    return InputError(
        f"The task has a run “{label}” with other drafts already; drafts are never changed: "
        "give the new ones another label."
    )


class _Submissions:
    """People's finished work; what is here already, word for word, is left as it is."""

    def __init__(self, names: _Names, source: Source, runs: dict[str, int], report: ImportReport) -> None:
        self.names, self.db, self.source, self.report = names, names.db, source, report
        self.runs = runs
        self.people: dict[str, int] = {}
        # the people who scrutinised one draft stand side by side in a file
        self.get_draft = lru_cache(maxsize=1_000)(
            lambda run, instance, criterion: drafts.get_current_draft(self.db, run, instance, criterion)
        )

    def write(self) -> None:
        before = len(people.list_people(self.db))
        for batch in chunks(self.source.submissions):
            self._write_batch(batch)
        self.report.people = len(people.list_people(self.db)) - before
        if self.report.submissions:
            assignments.refresh_states(self.db, self.names.task.id, list(self.names.criteria.values()))

    def _write_batch(self, batch: Sequence[ImportedSubmission]) -> None:
        given = {self._uid(one): one for one in batch}
        known = imports.get_known_uids(self.db, given)
        new = {uid: one for uid, one in given.items() if uid not in known}
        instances = self.names.get_instances(one.instance for one in new.values())
        made = [self._build(uid, one, instances[one.instance]) for uid, one in new.items()]
        imports.record_submissions(self.db, made)
        self.report.submissions += len(new)
        self.report.unchanged += len(batch) - len(new)

    def _uid(self, one: ImportedSubmission) -> str:
        rows = [[row.kind, row.action, row.draft_row, row.reason, row.text] for row in one.rows]
        content = [self.names.task.slug, one.person, one.instance, one.criterion, one.score, rows,
                   one.opened_at, one.submitted_at, one.arm, one.run]  # fmt: skip
        return "import-" + hashlib.sha256(to_json(content).encode()).hexdigest()

    def _build(self, uid: str, one: ImportedSubmission, instance: int) -> Submission:
        criterion = self.names.get_criterion(one.criterion)
        run = self.runs.get(one.run)
        draft = self.get_draft(run, instance, criterion) if run else None
        return Submission(
            person=self._person(one.person),
            instance=instance,
            criterion=criterion,
            score=one.score,
            rows=tuple(_with_id(row, draft) for row in one.rows),
            draft=draft.id if draft else None,
            shown_score=draft.score if draft and one.arm is not Arm.BLIND else None,
            arm=one.arm,
            opened_at=one.opened_at,
            submitted_at=one.submitted_at,
            uid=uid,
        )

    def _person(self, name: str) -> int:
        if name not in self.people:
            self.people[name] = people.ensure_person(self.db, name, Role.ANNOTATOR).id
        return self.people[name]


def _with_id(row: ScrutinyRow, draft: Draft | None) -> ScrutinyRow:
    """The row with the id of the drafted line it names by position."""
    if row.draft_row is None or draft is None:
        return replace(row, draft_row=None)
    return replace(row, draft_row=draft.rows[row.draft_row].id)
