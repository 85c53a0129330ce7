"""Create a study from one YAML file, write a study to one, and review a table without set-up."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from coeval.datasets import FIELDS, open_source
from coeval.datasets.study_outline import StudyOutline, read_outline, write_outline
from coeval.domain import Instance, Person, Role, Scale, Task
from coeval.domain.tasks import chat_to_json
from coeval.errors import InputError
from coeval.settings import SignIn
from coeval.store import Database
from coeval.store.queries import criteria, people, tasks
from coeval.store.queries.teams import StoredTeam, get_team
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.policies import set_team
from coeval.usecases.sessions import check_name, open_session
from coeval.usecases.study_import import ImportOptions, import_checked, import_file
from coeval.usecases.tasks import check_task, make_slug

DATA, OUTLINE = "data.jsonl", "study.yaml"


@use_case(OWNERS)
def open_outline(context: Context, person: Person, path: Path) -> str:
    """Create the study of a YAML file; return what was done. An existing task of that name is not changed.

    Raises:
        InputError: the file or its table cannot be used; the message says where and what to do. Nothing was
            written.
    """
    outline = read_outline(path)
    task = check_task(outline.task)
    with context.store.read() as db:
        if tasks.get_task(db, task.slug):
            return f"“{task.slug}” already exists, and {path} does not change it: change it in Set-up."
        _check_people(context, db, outline, path)
    table = path.parent / outline.data
    source = open_source(table, slug=task.slug, mapping=outline.fields or None)
    if outline.criteria and source.criteria:
        raise InputError(f"{table} contains criteria: leave those of {path} out.")
    whole = replace(
        source,
        task=replace(task, columns=source.task.columns),
        criteria=outline.criteria or source.criteria,
    )
    report = import_checked(context, person, whole, ImportOptions(roles=outline.roles))
    set_design(context, person, task.slug, outline.design)
    if outline.people:
        with context.store.write() as db:
            for name, role in outline.people.items():
                people.ensure_person(db, check_name(name), role)
        names = [check_name(name) for name in outline.people]
        set_team(context, person, task.slug, names, outline.per_instance)
    return str(report)


def _check_people(context: Context, db: Database, outline: StudyOutline, path: Path) -> None:
    for name in outline.people:
        check_name(name)
    owned = people.count_owners(db) or Role.OWNER in outline.people.values()
    if outline.people and not owned and context.settings.sign_in is SignIn.NAMES:
        raise InputError(f"{path}: people has no owner: name one, such as “Ana: owner”.")


@use_case(OWNERS)
def export_outline(context: Context, person: Person, slug: str, target: IO[bytes]) -> None:
    """Write a task as a zip of a study file and its table, from which the same study can be created again."""
    with context.store.read() as db, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        task = require_task(db, slug)
        archive.writestr(OUTLINE, write_outline(_describe(db, task)))
        with archive.open(DATA, "w", force_zip64=True) as raw:
            raw.writelines(_list_lines(tasks.list_instances(db, task.id)))


def _describe(db: Database, task: Task) -> StudyOutline:
    current = criteria.get_criteria_set(db, task.id)
    team = get_team(db, task.id) or StoredTeam(0, ())
    people_by_id = {member.person.id: member.person for member in people.list_members(db)}
    members = [people_by_id[member] for member in team.members if member in people_by_id]
    columns = tasks.list_columns(db, task.id)
    return StudyOutline(
        task,
        DATA,
        {name: name for name in FIELDS},
        {_name_column(column.name): column.role for column in columns if not column.is_open},
        current.criteria if current else (),
        tasks.get_design(db, task.id),
        {person.name: person.role for person in members},
        team.per_instance,
    )


def _list_lines(instances: Iterator[Instance]) -> Iterator[bytes]:
    for instance in instances:
        fields = {
            "instance": instance.external_id,
            "input": chat_to_json(instance.input),
            "output": chat_to_json(instance.output),
            "document": instance.document,
            "system": instance.system,
            "reference": instance.reference,
        }
        context = {_name_column(name): value for name, value in instance.context.items()}
        yield (json.dumps(fields | context, ensure_ascii=False) + "\n").encode()


def _name_column(name: str) -> str:
    """Return a name for a further column that differs from the names of fields."""
    return f"{name} (column)" if name in FIELDS else name


def describe_usual(scale: Scale | None = None) -> str:
    """Return the words of the criterion of a study that states none."""
    scale = scale or Scale()
    return f"Overall quality ({scale.low} worst, {scale.high} best)"


USUAL_CRITERIA = f"{describe_usual()} {Scale()}"
REVIEW_DESCRIPTION = "Judge each output by each criterion. A higher score is better."
REVIEWERS = {"Reviewer 1": Role.OWNER, "Reviewer 2": Role.ANNOTATOR}
"""The first person also sees the statistics. The second sees only their own work."""

_SCALE = re.compile(r"(?P<text>.*\S)\s+(?P<scale>-?\d{1,3}\s?[-–]\s?-?\d{1,3})")


@dataclass(frozen=True, slots=True)
class FileReview:
    """A file that is ready to review: the task, what the import says, and the token of each person's link."""

    slug: str
    imported: str
    tokens: Mapping[str, str]


def split_criteria(line: str) -> list[str]:
    """Return the criteria of one line as lines for ``parse_criteria_lines``.

    >>> split_criteria("Fluency; Accuracy 0-1")
    ['Fluency', 'Accuracy\\t0-1']
    >>> split_criteria(USUAL_CRITERIA)
    ['Overall quality (1 worst, 5 best)\\t1-5']
    """
    parts = [" ".join(part.split()) for part in line.split(";")]
    scaled = [(_SCALE.fullmatch(part), part) for part in parts if part]
    return [
        f"{match['text']}\t{match['scale'].replace('–', '-')}" if match else part for match, part in scaled
    ]


def has_criteria(context: Context, path: Path) -> bool:
    """Return whether the criteria of this file's task are established already."""
    with context.store.read() as db:
        task = tasks.get_task(db, make_slug(path.stem))
        return task is not None and criteria.get_criteria_set(db, task.id) is not None


@use_case(OWNERS)
def open_review(
    context: Context,
    person: Person,
    path: Path,
    lines: Sequence[str],
    mapping: Mapping[str, str],
    description: str = "",
) -> FileReview:
    """Import the file, establish the criteria, and open a session for each person.

    A file that was opened before keeps its work: new rows are added. Without ``lines`` the criteria stay.

    Raises:
        InputError: the file or the criteria cannot be used, or a row has other content than before.
    """
    slug = make_slug(path.stem)
    options = ImportOptions(mapping=mapping or None, description=description or REVIEW_DESCRIPTION)
    report = import_file(context, person, path, slug, options)
    if lines:
        establish_list(context, person, slug, lines)
    with context.store.write() as db:
        members = {name: people.ensure_person(db, name, role) for name, role in REVIEWERS.items()}
        tokens = {name: open_session(db, member) for name, member in members.items()}
    return FileReview(slug, str(report), tokens)
