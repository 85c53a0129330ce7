"""Import a study, or instances for an existing task, completely or not at all. The demo studies use the same
import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from coeval.datasets import Source, open_source, source_of
from coeval.datasets.example_studies import SLUG, load_demo, load_finished_example
from coeval.datasets.rating_rows import MAX_STEPS, parse_scale, share_scale
from coeval.domain import (
    Column,
    ColumnRole,
    CriteriaSet,
    Group,
    Instance,
    Person,
    Proposal,
    Role,
    Scale,
    Study,
    Task,
    TaskSource,
)
from coeval.errors import InputError
from coeval.rules.column_roles import guess_columns
from coeval.settings import DEMO_FOLDER
from coeval.store import Database
from coeval.store.queries import assignments, criteria, people, submissions, tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.criteria_rounds import require_no_other_vote
from coeval.usecases.criteria_sets import parse_criteria_lines
from coeval.usecases.import_staging import Staging, normalize_names, portions, stage_import
from coeval.usecases.imported_work import ImportReport, write_work
from coeval.usecases.leases import Hold
from coeval.usecases.tasks import check_task


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a file that an extension fetched, and its revision; both are stored with the task."""

    address: str
    revision: str


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options for reading a file, and settings that replace those in the file."""

    format: str = "auto"
    mapping: Mapping[str, str] | None = None
    """The source column of each field (field -> column, "" for none)."""
    name: str = ""
    """The name of a new task; by default that in the file, as for ``description``."""
    description: str = ""
    usual_description: str = ""
    """The description of a new task if neither ``description`` nor the file gives one."""
    language: str = ""
    """The language of annotators' screens in a new task; by default that in the file, or English."""
    roles: Mapping[str, ColumnRole] = field(default_factory=dict)
    """Who may see each further column. Columns that are not named keep their role; new ones are hidden."""
    group: Group | None = None
    """The group for the file's new people, if the file names none."""
    criteria_lines: Sequence[str] = ()
    """Criteria to establish with the file, without a vote (see ``parse_criteria_lines``)."""
    usual_criteria: Sequence[str] = ()
    """Such criteria if neither ``criteria_lines`` nor the file names one."""
    scale: Scale | None = None
    """The scale of the criteria whose scale no file states. By default it is taken from the scores."""
    empty_outputs: bool = False
    """True to keep rows without an output as instances."""

    def open(self, path: Path, slug: str) -> Source:
        """Return the checked file or folder; raise InputError if it cannot be used."""
        return open_source(
            path, slug=slug, format=self.format, mapping=self.mapping, empty_outputs=self.empty_outputs
        )


USUAL = ImportOptions()
USUAL_DESCRIPTION = "A system gets the input and writes the output."


# Import of a study, or of instances for one, in full or not at all, while people continue to save.

__all__ = ["ImportReport", "import_file", "import_study"]


@use_case(OWNERS)
def import_file(
    context: Context, person: Person, path: Path, slug: str, options: ImportOptions = USUAL
) -> ImportReport:
    """Import a file or folder into a task, and create the task if it does not exist.

    Raises:
        InputError: the file cannot be used; the message says where and what to do. Nothing was written.
    """
    return import_checked(context, person, options.open(path, slug), options)


def import_checked(
    context: Context,
    person: Person,
    source: Source,
    options: ImportOptions,
    origin: Origin | None = None,
) -> ImportReport:
    """Import a checked source like ``import_file``; ``origin`` is where it was fetched."""
    stated = source.task
    task = replace(
        stated,
        name=options.name or stated.name,
        description=options.description.strip() or stated.description.strip() or options.usual_description,
        language=options.language or stated.language,
    )
    source = _set_scale(replace(source, task=task, group=options.group), options.scale)
    if options.usual_description and task.description == options.usual_description:
        note = f"The systems' task was left empty: it is “{task.description}” Change it under Tasks."
        source = replace(source, notes=(*source.notes, note))
    written = any(line.strip() for line in options.criteria_lines)
    if written and source.criteria:
        raise InputError("The file contains criteria: leave the box of criteria empty.")
    lines = options.criteria_lines if written else () if source.criteria else options.usual_criteria
    if lines:
        criteria = tuple(parse_criteria_lines(lines, options.scale or task.scale))
        notes = (*source.notes, f"Final criteria: {len(criteria)}.")
        task = replace(source.task, scale=options.scale or source.task.scale)
        source = replace(source, task=task, criteria=criteria, notes=notes)
    return _import(context, person, source, (), origin, options.roles)


def _set_scale(source: Source, scale: Scale | None) -> Source:
    """Return the source with this scale for the criteria whose scale was taken from their scores."""
    if scale is None or not source.guessed:
        return source
    criteria = tuple(
        replace(each, scale=scale) if each.text in source.guessed else each for each in source.criteria
    )
    task = replace(source.task, scale=share_scale(each.scale for each in criteria))
    off = sum(
        each.score is not None
        and each.criterion in source.guessed
        and not scale.low <= each.score <= scale.high
        for each in source.submissions
    )
    notes = (*source.notes, f"The scale {scale} was stated for the import instead.")
    notes += (f"People's scores off this scale, kept unchanged: {off:,}.",) if off else ()
    return replace(source, task=task, criteria=criteria, notes=notes)


def read_scale(text: str) -> Scale | None:
    """Return the scale in a text such as "1-5"; None for an empty text. Raises InputError for another text."""
    ends = parse_scale(text.strip())
    if text.strip() and (ends is None or not 0 < ends[1] - ends[0] < MAX_STEPS):
        raise InputError(
            f"“{text[:60]}” is no scale: write its ends, such as 1-5, with at most {MAX_STEPS} steps."
        )
    return Scale(*ends) if ends else None


@use_case(OWNERS)
def import_study(
    context: Context, person: Person, study: Study, proposals: Sequence[Proposal] = ()
) -> ImportReport:
    """Import a study that is already in memory; ``proposals`` open its first vote.

    Raises:
        InputError: an instance, draft or submission already exists with other content, or refers to an
            instance that is neither in the file nor in the task.
    """
    return _import(context, person, source_of(study), proposals)


def _import(
    context: Context,
    person: Person,
    source: Source,
    proposals: Sequence[Proposal],
    origin: Origin | None = None,
    roles: Mapping[str, ColumnRole] = MappingProxyType({}),
) -> ImportReport:
    task = check_task(source.task)
    with stage_import(context, person, task) as staging:
        source = normalize_names(source)
        report = ImportReport(
            task.slug, created_task=staging.task is None, notes=list(source.notes), fields=source.fields
        )
        _write_instances(staging, source, report)
        work = write_work(staging, staging.ensure_criteria(source.criteria), source, report)

        def complete(db: Database, task: Task) -> CriteriaSet | None:
            if source.task.description.strip() and not task.description:
                tasks.update_task(db, check_task(replace(task, description=source.task.description)))
            _set_roles(db, task, source, roles, person)
            current = _extend_criteria(db, task, source, person)
            _open_round(db, task, current, proposals)
            if origin is not None:
                tasks.add_source(db, task.id, origin.address, origin.revision, person.name)
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
            _ensure_columns(db, staging, source.task.columns, portion)
            new: dict[str, Instance] = {}
            for instance in portion:
                same = stored.get(instance.external_id) or new.setdefault(instance.external_id, instance)
                _refuse_changed(same, instance)
            tasks.add_instances(db, staging.place.id, new.values())
        report.unchanged += len(portion) - len(new)
        report.instances += len(new)


def _weigh(instance: Instance) -> int:
    return len(instance.input) + len(instance.output) + len(instance.reference)


def _ensure_columns(
    db: Database, staging: Staging, stated: Mapping[str, ColumnRole], batch: Sequence[Instance]
) -> None:
    """Give every new column of the task a role: the file's, or else a guess from its name and values."""
    names = {column.name for task in staging.tasks for column in tasks.list_columns(db, task.id)}
    new = [column for column in guess_columns(batch) if column.name not in names]
    by = staging.person.name
    tasks.record_columns(
        db,
        staging.place.id,
        [
            replace(column, role=stated[column.name], set_by=by) if column.name in stated else column
            for column in new
        ],
    )


def _set_roles(
    db: Database, task: Task, source: Source, roles: Mapping[str, ColumnRole], person: Person
) -> None:
    """Set the roles that the person chose for the import."""
    stored = {column.name: column for column in tasks.list_columns(db, task.id)}
    for name in roles:
        if name not in stored and name not in source.columns:
            raise InputError(
                f"There is no further column “{name[:80]}”; the further columns are "
                f"{', '.join(stored) or 'none'}. Nothing was written."
            )
        if name in source.fields.values() and name not in stored:
            raise InputError(
                f"“{name[:80]}” is read as a field of the instance, not as a further column: leave it out of the "
                "columns to show. Nothing was written."
            )
    chosen = [Column(name, role, person.name) for name, role in roles.items() if name in stored]
    tasks.record_columns(db, task.id, [column for column in chosen if column != stored[column.name]])


def _refuse_changed(stored: Instance, new: Instance) -> None:
    for name in ("input", "output", "document", "system", "reference", "context"):
        if getattr(stored, name) != getattr(new, name):
            raise InputError(
                f"Instance “{new.external_id}” already exists in the task with another {name}: give the "
                "new one another id, or import it into another task. Nothing was written."
            )


def _extend_criteria(db: Database, task: Task, source: Source, person: Person) -> CriteriaSet | None:
    """Return the criteria set for the file's work: the task's set, extended by the file's own criteria."""
    current = criteria.get_criteria_set(db, task.id)
    texts = {criterion.text for criterion in current.criteria} if current else set()
    further = [criterion for criterion in source.criteria if criterion.text not in texts]
    if not further:
        return current
    # a file with further criteria extends the set: existing criteria stay in it
    members = [*(current.criteria if current else ()), *further]
    require_no_other_vote(db, task, unvoted=True)
    current = criteria.add_criteria_set(db, task.id, members, person.name)
    assignments.refresh_states(db, task.id, [criterion.id for criterion in current.criteria])
    return current


def _open_round(db: Database, task: Task, current: CriteriaSet | None, proposals: Sequence[Proposal]) -> None:
    """Open a vote on the proposals if the task has none."""
    if not proposals or criteria.get_round(db, task.id) is not None:
        return
    kept = {criterion.text: criterion.id for criterion in current.criteria} if current else {}
    marked = [replace(proposal, kept_criterion=kept.get(proposal.text)) for proposal in proposals]
    criteria.add_round(db, task.id, current.version + 1 if current else 1, marked)


DEMO = DEMO_FOLDER / "study.json"
FINISHED = DEMO_FOLDER / "finished.json.gz"
AUTHOR = Person("the demo", Role.OWNER)
"""The author of the final criteria in the demo studies."""


def ensure_demo(context: Context) -> bool:
    """Import the demo task into a file without tasks; return whether it was imported.

    A file that was used before is left alone, even if it never had the demo.
    """
    with context.store.read() as db:
        if tasks.list_tasks(db):
            return False
    if not DEMO.is_file():
        return False
    with Hold(context) as hold:
        # for servers that start together on one database
        hold.take("demo", "The demo task", wait=True)
        with context.store.read() as db:
            if tasks.list_tasks(db):
                return False
        study, proposals = load_demo(DEMO)
        import_study(context, AUTHOR, study, proposals)
        add_finished_example(context)
    return True


def add_finished_example(context: Context) -> bool:
    """Import the finished, simulated study; return whether it is new. An owner can archive it like any task."""
    with context.store.read() as db:
        if tasks.get_task(db, SLUG):
            return False
    study = load_finished_example(FINISHED)
    import_study(context, AUTHOR, study)
    with context.store.write() as db:
        task = tasks.get_task(db, SLUG)
        assert task is not None
        design = replace(tasks.get_design(db, task.id), blind_share=0.3, first_share=0.3, planted_share=0.15)
        tasks.set_design(db, task.id, design, AUTHOR.name)
        for name in sorted({work.person for work in study.submissions}):
            # nobody can sign in as one of these people, or assign them instances of another study
            person = people.get_person(db, name)
            assert person is not None
            if not people.is_disabled(db, person.id):
                people.disable(db, person.id, AUTHOR.name)
    return True


@use_case(OWNERS)
def list_sources(context: Context, person: Person, slug: str) -> list[TaskSource]:
    """Return the sources of a task's instances, with their revisions."""
    with context.store.read() as db:
        return tasks.list_sources(db, require_task(db, slug).id)
