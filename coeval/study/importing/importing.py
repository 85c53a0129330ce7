"""Taking a study, or instances for one, into the file: all of it or nothing, while people go on saving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coeval.datasets import Source, source_of
from coeval.datasets.hub.address import HubAddress
from coeval.domain import ColumnRole, CriteriaSet, Instance, Person, Proposal, Study, Task
from coeval.errors import InputError
from coeval.rules.columns.column_roles import guess_columns
from coeval.store import Database
from coeval.store.queries import criteria, sources, tasks
from coeval.store.queries.scrutiny import assignments, submissions
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.criteria.listed import parse_criteria_lines
from coeval.study.importing.import_options import USUAL, ImportOptions
from coeval.study.importing.imported_work import ImportReport, write_work
from coeval.study.importing.staging import Staging, portions, stage_import
from coeval.study.tasks import check_task

__all__ = ["ImportReport", "import_file", "import_study"]


@use_case(OWNERS)
def import_file(
    context: Context, person: Person, path: Path, slug: str, options: ImportOptions = USUAL
) -> ImportReport:
    """Import a file or folder into a task, which is made where there is none yet.

    Raises:
        InputError: the file cannot be used; it says where and what to do. Nothing was written.
    """
    return import_checked(context, person, options.open(path, slug), options)


def import_checked(
    context: Context,
    person: Person,
    source: Source,
    options: ImportOptions,
    origin: HubAddress | None = None,
) -> ImportReport:
    """Import a source that was checked, as ``import_file`` does; ``origin`` is where it was fetched from."""
    stated = source.task
    task = replace(
        stated,
        name=options.name or stated.name,
        description=options.description or stated.description,
        language=options.language or stated.language,
        columns={**stated.columns, **options.roles},
    )
    source = replace(source, task=task, group=options.group)
    if any(line.strip() for line in options.criteria_lines):
        if source.criteria:
            raise InputError("The file brings criteria of its own: leave the box of criteria empty.")
        listed = tuple(parse_criteria_lines(options.criteria_lines, task.scale))
        source = replace(source, criteria=listed)
    return _import(context, person, source, (), origin)


@use_case(OWNERS)
def import_study(
    context: Context, person: Person, study: Study, proposals: Sequence[Proposal] = ()
) -> ImportReport:
    """Import a study that was read already; ``proposals`` open its first vote.

    Raises:
        InputError: an instance, draft or submission is here already with other content, or refers to an
            instance that is neither in the file nor in the task.
    """
    return _import(context, person, source_of(study), proposals)


def _import(
    context: Context,
    person: Person,
    source: Source,
    proposals: Sequence[Proposal],
    origin: HubAddress | None = None,
) -> ImportReport:
    task = check_task(source.task)
    with stage_import(context, person, task) as staging:
        report = ImportReport(task.slug, created_task=staging.task is None, notes=list(source.notes))
        _write_instances(staging, source, report)
        work = write_work(staging, staging.ensure_criteria(source.criteria), source, report)

        def complete(db: Database, task: Task) -> CriteriaSet | None:
            current = _extend_criteria(db, task, source, person)
            _open_round(db, task, current, proposals)
            if origin is not None:
                sources.add_source(
                    db, task.id, str(replace(origin, revision="")), origin.revision, person.name
                )
            if report.submissions and current:
                ids = [criterion.id for criterion in current.criteria]
                for first in work.first_scores:
                    submissions.record_first_score(db, first)
                for annotator in work.people:
                    assignments.refresh_states(db, task.id, ids, annotator=annotator)
            return current

        staging.publish(complete)
    return report


def _write_instances(staging: Staging, source: Source, report: ImportReport) -> None:
    for portion in portions(source.instances, _weigh):
        names = [instance.external_id for instance in portion]
        with staging.write() as db:
            stored = {
                name: instance
                for task in staging.tasks
                for name, instance in tasks.get_instances_by_external_id(db, task.id, names).items()
            }
            for instance in portion:
                if instance.external_id in stored:
                    _refuse_changed(stored[instance.external_id], instance)
            _ensure_columns(db, staging, source.task.columns, portion)
            new = [instance for instance in portion if instance.external_id not in stored]
            tasks.add_instances(db, staging.place.id, new)
        report.unchanged += len(stored)
        report.instances += len(new)


def _weigh(instance: Instance) -> int:
    return len(instance.input) + len(instance.output) + len(instance.reference)


def _ensure_columns(
    db: Database, staging: Staging, given: Mapping[str, ColumnRole], batch: Sequence[Instance]
) -> None:
    """Give every column that the task has not seen before a role: the one given for it, else the rule's."""
    known = {column.name for task in staging.tasks for column in tasks.list_columns(db, task.id)}
    scale = staging.tasks[0].scale
    new = [column for column in guess_columns(batch, scale) if column.name not in known]
    chosen = (
        replace(column, role=given[column.name], set_by=staging.person.name)
        if column.name in given
        else column
        for column in new
    )
    tasks.record_columns(db, staging.place.id, chosen)


def _refuse_changed(stored: Instance, new: Instance) -> None:
    for name in ("input", "output", "document", "system", "reference", "context"):
        if getattr(stored, name) != getattr(new, name):
            raise InputError(
                f"Instance “{new.external_id}” is in the task already with another {name}: give the new one "
                "another id, or import it into another task. Nothing was written."
            )


def _extend_criteria(db: Database, task: Task, source: Source, person: Person) -> CriteriaSet | None:
    """The criteria set that the file's work is by: the task's, with the file's own criteria in it."""
    current = criteria.get_criteria_set(db, task.id)
    known = {criterion.text for criterion in current.criteria} if current else set()
    further = [criterion for criterion in source.criteria if criterion.text not in known]
    if not further:
        return current
    # a file that brings further criteria extends the set: what was established stays in it
    members = [*(current.criteria if current else ()), *further]
    current = criteria.add_criteria_set(db, task.id, members, person.name)
    assignments.refresh_states(db, task.id, [criterion.id for criterion in current.criteria])
    return current


def _open_round(db: Database, task: Task, current: CriteriaSet | None, proposals: Sequence[Proposal]) -> None:
    """Put the proposals to the vote, where nothing was before."""
    if not proposals or criteria.get_round(db, task.id) is not None:
        return
    kept = {criterion.text: criterion.id for criterion in current.criteria} if current else {}
    marked = [replace(proposal, kept_criterion=kept.get(proposal.text)) for proposal in proposals]
    criteria.add_round(db, task.id, current.version + 1 if current else 1, marked)
