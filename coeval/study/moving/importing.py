"""A whole study in, from the file that another CoEval wrote: as tasks of its own, all of it or nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from coeval.domain import Person
from coeval.errors import InputError
from coeval.store import Database, Store
from coeval.store.queries import tasks
from coeval.store.queries.moving.reading import Scope, get_scope, list_people
from coeval.store.queries.moving.scratch import build_scratch
from coeval.store.queries.moving.shapes import get_schema
from coeval.store.queries.moving.writing import PeopleMap, list_known_uids, write_study
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.moving.study_file import Manifest, open_archive, read_study_file
from coeval.study.people.sessions import check_name
from coeval.study.tasks import check_slug


@dataclass(frozen=True, slots=True)
class MovedStudy:
    """What came in, with how many rows of each table; ``known`` are people who were here already."""

    task: str
    exam: str
    rows: Mapping[str, int]
    new_people: int
    known: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        counted = [
            f"{self.rows.get(name, 0):,} {words}"
            for name, words in (("instance", "instances"), ("draft", "drafts"), ("submission", "submissions"))
        ]
        return f"{self.task}: {', '.join(counted)}, {self.new_people} new people"


@contextmanager
def opened(path: Path) -> Iterator[tuple[Store, Manifest]]:
    """A study in a file of its own, checked and brought to the schema of today; the file is gone afterwards.

    Raises:
        InputError: the file is no study, damaged, hostile, or of a newer version.
    """
    with open_archive(path) as archive, tempfile.TemporaryDirectory(prefix="coeval-import-") as folder:
        study = read_study_file(archive, path.stat().st_size)
        store = build_scratch(Path(folder) / "study.db", study.schema.migrations[-1], study.read_tables())
        try:
            with store.read() as db:
                _check_tasks(db, study.manifest)
            yield store, study.manifest
        finally:
            store.close()


def _check_tasks(db: Database, manifest: Manifest) -> None:
    """One task, and the exam that it names: what the rest hangs on."""
    there = {task.slug for task in tasks.list_tasks(db)}
    if there != {manifest.task, manifest.exam} - {""}:
        raise InputError("The file's tasks are not those its manifest names: export the study again.")
    for slug in there:
        check_slug(slug)


def get_own_scope(db: Database, manifest: Manifest) -> Scope:
    task = tasks.get_task(db, manifest.task)
    assert task is not None
    return get_scope(db, task.id)


def check_renamed(renamed: Mapping[str, str]) -> dict[str, str]:
    """New names of a file's people, as names have to be."""
    return {old: check_name(new) for old, new in renamed.items()}


@use_case(OWNERS)
def import_study_file(
    context: Context,
    person: Person,
    path: Path,
    *,
    slug: str = "",
    ledger: bool = False,
    renamed: Mapping[str, str] | None = None,
) -> MovedStudy:
    """Take in a whole study; ``slug`` is its short name here, by default the one it had.

    People are those here of the same name, or of the same id at a crowd service; ``renamed`` (old to new) keeps apart
    whoever only shares a name. Everybody new is an annotator. ``ledger``: with the calls to models, whose answers are
    then used as if they had been asked for here.

    Raises:
        InputError: the file cannot be used, a short name is taken, or its submissions are here. Nothing was written.
    """
    new_names = check_renamed(renamed or {})
    with opened(path) as (scratch, manifest), scratch.read() as source, context.store.write() as db:
        schema, scope = get_schema(), get_own_scope(source, manifest)
        slugs = _name_tasks(db, manifest, slug)
        _refuse_known(list(islice(list_known_uids(db, source, schema, scope), 1)))
        refuse_strangers(new_names, list_people(source, schema, scope))
        persons = PeopleMap(db, source, schema, scope, new_names)
        rows = write_study(db, source, schema, scope, persons, slugs, ledger=ledger)
        return MovedStudy(
            slugs[manifest.task],
            slugs.get(manifest.exam, ""),
            rows,
            len(persons.new),
            tuple(persons.known),
            tuple(_list_notes(manifest, rows, persons, ledger=ledger)),
        )


def _name_tasks(db: Database, manifest: Manifest, slug: str) -> dict[str, str]:
    """The short names that the study and its exam get here."""
    named = {manifest.task: check_slug(slug or manifest.task)}
    if manifest.exam:
        named[manifest.exam] = manifest.exam if not slug else f"{slug}-exam"[:64]
    for new in named.values():
        if tasks.get_task(db, new) is not None:
            raise InputError(
                f"There is a task “{new}” already: give the study another short name with --as, or merge it into that "
                "task with “python -m coeval study merge”. Nothing was written."
            )
    if len(set(named.values())) < len(named):
        raise InputError("The study and its exam would have the same short name: choose another with --as.")
    return named


def _refuse_known(uids: list[str]) -> None:
    if uids:
        raise InputError(
            "Submissions of this study are in this file already: merge it into the task that they are of, with “python "
            "-m coeval study merge”. Nothing was written."
        )


def _list_notes(
    manifest: Manifest, rows: Mapping[str, int], persons: PeopleMap, *, ledger: bool
) -> Iterator[str]:
    if persons.known:
        names = ", ".join(sorted(persons.known)[:10]) + (" …" if len(persons.known) > 10 else "")
        yield f"Taken for the people of the same name here: {names}."
    if manifest.exam:
        yield "The exam came along as a task of its own."
    if rows.get("crowd"):
        yield "The secrets of the study's addresses are new here: give the crowd service the new address."
    if manifest.ledger and not ledger:
        yield "The file also holds a ledger of calls to models, which was left out: --ledger takes it in."


def refuse_strangers(renamed: Mapping[str, str], names: Collection[str]) -> None:
    """Refuse a new name for somebody who is not of the study."""
    if unknown := sorted(set(renamed) - set(names)):
        raise InputError(f"Nobody in the study is called “{unknown[0][:80]}”. Nothing was written.")
