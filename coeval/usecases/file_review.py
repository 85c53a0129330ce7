"""Review one file without set-up: its task, its criteria, and a link for each of two people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coeval.domain import Person, Role
from coeval.store.queries import criteria, people, tasks
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.sessions import open_session
from coeval.usecases.study_import import ImportOptions, import_file
from coeval.usecases.tasks import make_slug

USUAL_CRITERIA = "Overall quality 1-5"
USUAL_DESCRIPTION = "A system gets the input and writes the output."
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
    given = ImportOptions(mapping=mapping or None, description=description or USUAL_DESCRIPTION)
    report = import_file(context, person, path, slug, given)
    if lines:
        establish_list(context, person, slug, lines)
    with context.store.write() as db:
        members = {name: people.ensure_person(db, name, role) for name, role in REVIEWERS.items()}
        tokens = {name: open_session(db, member) for name, member in members.items()}
    return FileReview(slug, str(report), tokens)
