"""Export a whole study to a file, or import it as new tasks."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import IO

from coeval.clock import now
from coeval.domain import Person
from coeval.errors import InputError, StorageError
from coeval.extensions.study_files.archive import (
    Manifest,
    open_archive,
    read_study_file,
    write_manifest,
    write_table,
)
from coeval.extensions.study_files.queries import (
    Departure,
    PeopleMap,
    Scope,
    count_others,
    get_scope,
    list_known_uids,
    list_people,
    list_rows,
    write_study,
)
from coeval.extensions.study_files.queries_schema import LEDGER, build_scratch, get_schema_of
from coeval.folded_text import compose
from coeval.store import Database, Store
from coeval.store.queries import tasks
from coeval.store.steps import share_use
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.sessions import check_name
from coeval.usecases.tasks import check_slug


class Naming(StrEnum):
    """The names of people in a study file."""

    NAMES = "names"
    PSEUDONYMS = "pseudonyms"


@use_case(OWNERS)
def export_study(
    context: Context, person: Person, slug: str, target: IO[bytes], *, people: Naming, ledger: bool = False
) -> tuple[Manifest, list[str]]:
    """Write a whole study and its exam into one file; return its content and notes.

    Passwords, sessions, tokens, invitations and the secrets of links are never exported. ``ledger`` includes
    the calls to models: all of them, because they do not name a study.
    """
    with context.store.read() as db, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        task = require_task(db, slug)
        schema, scope = get_schema_of(db), get_scope(db, task.id)
        departure = Departure(db, schema, pseudonyms=people is Naming.PSEUDONYMS)
        notes = {}
        for shape in departure.list_tables(ledger=ledger):
            lines = (departure.change(shape.name, row) for row in list_rows(db, schema, shape.name, scope))
            notes[shape.name] = write_table(
                archive,
                shape.name,
                shape.columns,
                ([row[column] for column in shape.columns] for row in lines),
            )
        exam = tasks.get_task_by_id(db, scope["exam"]) if scope["exam"] != task.id else None
        manifest = Manifest(
            task.slug,
            task.name,
            exam.slug if exam else "",
            people.value,
            ledger,
            schema.migrations,
            now(),
            notes,
        )
        write_manifest(archive, manifest)
        return manifest, _list_export_notes(db, manifest, count_others(db, scope))


def _list_export_notes(db: Database, manifest: Manifest, others: int) -> list[str]:
    notes = []
    if manifest.exam:
        notes.append(f"The exam, “{manifest.exam}”, is in the file too.")
    if manifest.people == Naming.PSEUDONYMS:
        notes.append(
            "Comments and reasons are exported unchanged: check them for names before you share the file."
        )
    if LEDGER in manifest.tables and others:
        notes.append(
            "The ledger does not record the study of a call: the file also has the calls for other tasks."
        )
    return notes


@use_case(OWNERS)
def export_study_file(
    context: Context, person: Person, slug: str, path: Path, *, people: Naming, ledger: bool = False
) -> tuple[Manifest, list[str]]:
    """Write a whole study to a path; an existing file is replaced once the new one is complete.

    Raises:
        StorageError: the file cannot be written there.
    """
    partial = path.with_name(path.name + ".part")
    try:
        with partial.open("wb") as target:
            written = export_study(context, person, slug, target, people=people, ledger=ledger)
        os.replace(partial, path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written ({error.strerror}): choose another path.") from error
    finally:
        partial.unlink(missing_ok=True)
    return written


@dataclass(frozen=True, slots=True)
class MovedStudy:
    """The result of an import: the number of rows by table, and the people who were already here (``known``)."""

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
    """Open a study file as a checked temporary database with the current schema, and delete it at the end.

    Raises:
        InputError: the file is not a study, is damaged or hostile, or comes from a newer version.
    """
    with open_archive(path) as archive, tempfile.TemporaryDirectory(prefix="coeval-import-") as folder:
        study = read_study_file(archive, path.stat().st_size)
        store = build_scratch(Path(folder) / "study.db", study.schema.migrations, study.read_tables())
        try:
            with store.read() as db:
                _check_tasks(db, study.manifest)
            yield store, study.manifest
        finally:
            store.close()


def _check_tasks(db: Database, manifest: Manifest) -> None:
    """Check that the file has exactly one task, besides its exam."""
    there = {task.slug for task in tasks.list_tasks(db)}
    if there != {manifest.task, manifest.exam} - {""}:
        raise InputError("The tasks in the file differ from those in its manifest: export the study again.")
    for slug in there:
        check_slug(slug)


def get_own_scope(db: Database, manifest: Manifest) -> Scope:
    task = tasks.get_task(db, manifest.task)
    assert task is not None
    return get_scope(db, task.id)


def read_renamed(renamed: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return the new names in normalized form, by the names in the study, which may have another form.

    Raises:
        InputError: a person is not in the study, or a new name cannot be used.
    """
    stored = {compose(name): name for name in names} | {name: name for name in names}
    if unknown := sorted(old for old in renamed if compose(old) not in stored):
        raise InputError(f"Nobody in the study is called “{unknown[0][:80]}”. Nothing was written.")
    return {stored.get(old, stored[compose(old)]): check_name(new) for old, new in renamed.items()}


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
    """Import a whole study; ``slug`` is its new short name (default: its old one).

    People with the same name or crowd-service id are merged; ``renamed`` (old to new) separates different
    people with the same name. New people become annotators. ``ledger`` also imports the calls to models, so
    that their answers are reused.

    Raises:
        InputError: the file cannot be used, a short name is taken, or its submissions already exist. Nothing
        was written.
    """
    with opened(path) as (scratch, manifest), scratch.read() as source, context.store.write() as db:
        schema, scope = get_schema_of(source), get_own_scope(source, manifest)
        share_use(source, db)
        slugs = _name_tasks(db, manifest, slug)
        _refuse_known(list(islice(list_known_uids(db, source, schema, scope), 1)))
        new_names = read_renamed(renamed or {}, list_people(source, schema, scope))
        persons = PeopleMap(db, source, schema, scope, new_names)
        rows = write_study(db, source, schema, scope, persons, slugs, ledger=ledger)
        return MovedStudy(
            slugs[manifest.task],
            slugs.get(manifest.exam, ""),
            rows,
            len(persons.new),
            tuple(persons.known),
            tuple(_list_import_notes(manifest, rows, persons, ledger=ledger)),
        )


def _name_tasks(db: Database, manifest: Manifest, slug: str) -> dict[str, str]:
    """Return the new short names of the study and its exam."""
    named = {manifest.task: check_slug(slug or manifest.task)}
    if manifest.exam:
        named[manifest.exam] = manifest.exam if not slug else f"{slug}-exam"[:64]
    for new in named.values():
        if tasks.get_task(db, new) is not None:
            raise InputError(
                f"The task “{new}” already exists: give the study another short name with --as. Nothing was "
                "written."
            )
    if len(set(named.values())) < len(named):
        raise InputError("The study and its exam would have the same short name: choose another with --as.")
    return named


def _refuse_known(uids: list[str]) -> None:
    if uids:
        raise InputError(
            "This database already contains submissions of this study: import it into another database, with "
            "--db. Nothing was written."
        )


def _list_import_notes(
    manifest: Manifest, rows: Mapping[str, int], persons: PeopleMap, *, ledger: bool
) -> Iterator[str]:
    if persons.known:
        names = ", ".join(sorted(persons.known)[:10]) + (" …" if len(persons.known) > 10 else "")
        yield f"Merged with people here who have the same name: {names}."
    if manifest.exam:
        yield "The exam was imported as a separate task."
    if rows.get("crowd"):
        yield "The study's links have new secrets: give the crowd service the new link."
    if manifest.ledger and not ledger:
        yield "The file also has a ledger of calls to models, which was not imported: to import it, use --ledger."
