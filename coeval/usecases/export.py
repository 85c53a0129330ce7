"""Export everything as CSV files for a spreadsheet, R or pandas, with a README that describes every column.

Rows stream from the database to the files. A text that a spreadsheet would read as a formula gets a leading
apostrophe, so that opening the file runs nothing.
"""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any

from coeval.domain import Draft, ImportedDraft, ImportedRun, ImportedSubmission, Person, Study, Task
from coeval.domain.tasks import chat_to_json
from coeval.errors import InputError, StorageError
from coeval.extending import load_values
from coeval.safe_csv import SUSPECT, safe
from coeval.stats import show_tags
from coeval.store import Database
from coeval.store.queries import criteria, drafts, exports, tasks
from coeval.store.queries.exports import Work, list_current_drafts, list_current_work
from coeval.store.queries.reports import Result, read
from coeval.usecases.access import TEAM, Context, require_task, use_case

Table = Iterator[Iterable[Any]]
Build = Callable[[Database, Task], Table]


@use_case(TEAM)
def export_folder(context: Context, person: Person, slug: str, folder: Path) -> list[Path]:
    """Write a task's CSV files and their README into a folder.

    Existing files with these names are replaced atomically, so a reader never sees a partial file.

    Raises:
        NotFoundError: the task does not exist.
        StorageError: the folder cannot be written to.
    """
    with _written_to(folder), context.store.read() as db:
        task = require_task(db, slug)
        return [_write_file(folder / name, table) for name, table in _build_tables(db, task)] + [
            _write_pieces(folder / "README.md", [describe(task)])
        ]


@use_case(TEAM)
def export_as(context: Context, person: Person, slug: str, name: str, folder: Path) -> list[Path]:
    """Write a task's scores into a folder in another tool's format.

    Existing files with these names are replaced atomically.

    Raises:
        InputError: the format does not exist, or the task has nothing to write in it yet.
        NotFoundError: the task does not exist.
        StorageError: the folder cannot be written to.
    """
    with _written_to(folder):
        files = _build_as(context, person, slug, name)
        return [_write_pieces(folder / place, pieces) for place, pieces in files]


@use_case(TEAM)
def export_zip_as(context: Context, person: Person, slug: str, name: str, target: IO[bytes]) -> None:
    """Write a task's scores in another tool's format into one zip file.

    Raises:
        InputError: the format does not exist, or the task has nothing to write in it yet.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, pieces in _build_as(context, person, slug, name):
            with archive.open(place, "w", force_zip64=True) as raw:
                raw.writelines(piece.encode() for piece in pieces)


@use_case(TEAM)
def export_zip(context: Context, person: Person, slug: str, target: IO[bytes]) -> None:
    """Write a task's CSV files and their README into one zip file."""
    with context.store.read() as db, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        task = require_task(db, slug)
        for name, table in _build_tables(db, task):
            # a table may exceed 2 GB, and the length of a stream is unknown in advance
            with (
                archive.open(name, "w", force_zip64=True) as raw,
                io.TextIOWrapper(raw, "utf-8", newline="") as text,
            ):
                _write_rows(text, table)
        archive.writestr("README.md", describe(task))


@use_case(TEAM)
def export_table(context: Context, person: Person, slug: str, name: str, target: IO[str]) -> None:
    """Write one of a task's CSV files, selected by name."""
    with context.store.read() as db:
        task = require_task(db, slug)
        if name in TABLES:
            _write_rows(target, TABLES[name](db, task))


def _simple(result: Result) -> Table:
    yield result.names
    yield from result


def _instances(db: Database, task: Task) -> Table:
    """Return a row per instance; a conversation is the JSON list of its turns."""
    result = read(db, exports.INSTANCES, task=task.id)
    texts = [result.names.index(name) for name in ("input", "output")]
    yield result.names
    for row in result:
        yield [chat_to_json(value) if place in texts else value for place, value in enumerate(row)]


def _reliability(db: Database, task: Task) -> Table:
    """Return one row per unit (instance x criterion), with a column per annotator, as agreement uses it."""
    people = list(read(db, exports.ANNOTATORS, task=task.id))
    yield ["instance", "criterion", *(name for _, name in people)]
    key: Callable[[tuple[Any, ...]], tuple[Any, Any]] = lambda row: (row[0], row[1])  # noqa: E731
    for unit, rows in groupby(read(db, exports.UNITS, task=task.id), key):
        scores = {row[2]: row[3] for row in rows}
        yield [*unit, *(scores.get(annotator) for annotator, _ in people)]


def _query(sql: str) -> Build:
    return lambda db, task: _simple(read(db, sql, task=task.id))


TABLES: Mapping[str, Build] = {
    "instances.csv": _instances,
    "criteria.csv": _query(exports.CRITERIA),
    "votes.csv": _query(exports.VOTES),
    "drafts.csv": _query(exports.DRAFTS),
    "overall_ratings.csv": _query(exports.OVERALL_RATINGS),
    "comparisons.csv": _query(exports.COMPARISONS),
    "scores.csv": _query(exports.LATEST_SCORES),
    "history.csv": _query(exports.HISTORY),
    "rows.csv": _query(exports.ROWS),
    "first_scores.csv": _query(exports.FIRST_SCORES),
    "adjudicated.csv": _query(exports.ADJUDICATED),
    "marks.csv": _query(exports.MARKS),
    "reliability.csv": _reliability,
}
"""The files of an export, with the functions that build their rows. List new files here and in export.md."""


def _build_tables(db: Database, task: Task) -> Iterator[tuple[str, Table]]:
    for name, build in TABLES.items():
        yield name, build(db, task)


def _build_as(context: Context, person: Person, slug: str, name: str) -> Files:
    """Return the files of a format: at least one, none empty."""
    empty = True
    for place, pieces in get_out_format(name).build(context, person, slug):
        first = next(written := iter(pieces), None)
        if first is not None:
            empty = False
            yield place, chain([first], written)
    if empty:
        raise InputError(
            f"“{slug}” has nothing to export as {name} yet: it needs scores for its current criteria."
        )


@contextmanager
def _written_to(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StorageError(f"{folder} is not writable ({error.strerror}): choose another --out.") from error


def _write_file(path: Path, table: Table) -> Path:
    with _replacing(path) as text:
        _write_rows(text, table)
    return path


def _write_pieces(path: Path, pieces: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _replacing(path) as text:
        text.writelines(pieces)
    return path


@contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    partial = path.with_name(path.name + ".part")
    with partial.open("w", encoding="utf-8", newline="") as text:
        yield text
    os.replace(partial, path)


def _write_rows(target: IO[str], table: Table) -> None:
    # most cells begin with a letter or a digit, which need no function call
    csv.writer(target).writerows(
        [safe(value) if value.__class__ is str and value[:1] in SUSPECT else value for value in row]
        for row in table
    )


def describe(task: Task) -> str:
    """Return the README of an export, which describes every file and column."""
    template = (Path(__file__).parent / "export.md").read_text(encoding="utf-8")
    return template.replace("{task}", show_tags(f"{task.name} ({task.slug})"))


# Formats of other tools, and a task in its current state.


Files = Iterator[tuple[str, Iterable[str]]]
"""The name of each file, including its folders, and its text in pieces."""


@dataclass(frozen=True, slots=True)
class OutFormat:
    """An export format of another tool; an extension adds it as ``exports``."""

    name: str
    """The name for ``--as``."""
    title: str
    """The title on the export page."""
    summary: str
    """One sentence about the content and its users."""
    build: Callable[[Context, Person, str], Files]
    """Yields the files of a task, by its short name; read each file before the next."""


@cache
def list_out_formats() -> tuple[OutFormat, ...]:
    """Return every format to which a study can be exported."""
    return tuple(load_values("exports", OutFormat))


def get_out_format(name: str) -> OutFormat:
    """Return the format with that name.

    Raises:
        InputError: it does not exist.
    """
    for each in list_out_formats():
        if each.name == name:
            return each
    names = ", ".join(each.name for each in list_out_formats())
    raise InputError(f"“{name[:80]}” is not an export format: use one of {names}.")


def read_standing_study(db: Database, slug: str) -> Study:
    """Return a task in its current state: criteria, their last drafts, and last revisions of people's work."""
    task = require_task(db, slug)
    instances = tuple(tasks.list_instances(db, task.id))
    current = criteria.get_criteria_set(db, task.id)
    members = current.criteria if current else ()
    names = _Names(
        {instance.id: instance.external_id for instance in instances},
        {criterion.id: criterion.text for criterion in members},
    )
    runs = []
    shown: dict[int, tuple[str, Draft]] = {}
    for run in drafts.list_runs(db, task.id):
        current_drafts = [
            draft for draft in list_current_drafts(db, run.id) if draft.criterion in names.criteria
        ]
        shown |= {draft.id: (run.label, draft) for draft in current_drafts}
        runs.append(ImportedRun(run, tuple(map(names.build_draft, current_drafts))))
    work = tuple(
        names.build_submission(each, *shown.get(each.submission.draft or 0, ("", None)))
        for each in list_current_work(db, task.id)
        if each.submission.criterion in names.criteria
    )
    return Study(task, instances, members, tuple(runs), work)


class _Names:
    """The names that belong to the ids in a file."""

    def __init__(self, instances: dict[int, str], texts: dict[int, str]) -> None:
        self.instances, self.criteria = instances, texts

    def build_draft(self, draft: Draft) -> ImportedDraft:
        return ImportedDraft.of(draft, self.instances[draft.instance], self.criteria[draft.criterion])

    def build_submission(self, work: Work, label: str, draft: Draft | None) -> ImportedSubmission:
        """Return one person's work. If the draft was replaced later, the work does not refer to its lines."""
        submission = work.submission
        places = {row.id: place for place, row in enumerate(draft.rows)} if draft else {}
        return ImportedSubmission(
            person=work.person,
            instance=self.instances[submission.instance],
            criterion=self.criteria[submission.criterion],
            score=submission.score,
            rows=tuple(replace(row, draft_row=places.get(row.draft_row or 0)) for row in submission.rows),
            opened_at=submission.opened_at,
            submitted_at=submission.submitted_at,
            arm=submission.outcome,
            run=label,
            shown_score=submission.shown_score,
            planted=submission.planted,
            active_ms=submission.active_ms,
            first_score=work.first_score,
            group=work.group,
        )
