"""A whole study out, in one file that another CoEval takes in."""

from __future__ import annotations

import os
import zipfile
from enum import StrEnum
from pathlib import Path
from typing import IO

from coeval.clock import now
from coeval.domain import Person
from coeval.errors import StorageError
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.moving.reading import Departure, count_others, get_scope, list_rows
from coeval.store.queries.moving.shapes import LEDGER, get_schema
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.moving.study_file import Manifest, write_manifest, write_table


class Naming(StrEnum):
    """How the people of a study are called in its file."""

    NAMES = "names"
    PSEUDONYMS = "pseudonyms"


@use_case(OWNERS)
def export_study(
    context: Context, person: Person, slug: str, target: IO[bytes], *, people: Naming, ledger: bool = False
) -> tuple[Manifest, list[str]]:
    """Write a whole study, and the exam it has, into one file; gives what is in it, and what to know about that.

    Passwords, sessions, tokens, invitations and the secrets of links stay. ``ledger``: with the calls to models. These
    are not marked by study, so that all of them go.
    """
    with context.store.read() as db, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        task = require_task(db, slug)
        schema, scope = get_schema(), get_scope(db, task.id)
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
        return manifest, _list_notes(db, manifest, count_others(db, scope))


def _list_notes(db: Database, manifest: Manifest, others: int) -> list[str]:
    notes = []
    if manifest.exam:
        notes.append(f"The exam, “{manifest.exam}”, is in the file too.")
    if manifest.people == Naming.PSEUDONYMS:
        notes.append(
            "Comments and reasons go as they were written: read them for names before you share the file."
        )
    if LEDGER in manifest.tables and others:
        notes.append(
            "The ledger does not say which study a call was for: calls for the other tasks are in the file."
        )
    return notes


@use_case(OWNERS)
def export_study_file(
    context: Context, person: Person, slug: str, path: Path, *, people: Naming, ledger: bool = False
) -> tuple[Manifest, list[str]]:
    """Write a whole study to a path; what was under that name is replaced once the new file is whole.

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
