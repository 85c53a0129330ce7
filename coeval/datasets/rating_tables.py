"""Tables of ratings, with one rating per row.

A table has the columns (instance, criterion, annotator, score) for people or (instance, criterion, run, score) for
models. A folder contains ``instances`` and any number of rating tables (CSV, JSONL or Excel). A single rating table is
for a task that already has its instances.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.rating_rows import RATING_FIELDS, Rating, Survey, load_ratings, survey_ratings
from coeval.datasets.source import Rows, Seen, Source
from coeval.datasets.tables.instances import FIELDS, open_instances
from coeval.datasets.tables.table import Table, find_column, guess_mapping, match_columns
from coeval.datasets.tables.table_files import is_table, open_table
from coeval.datasets.text import shorten
from coeval.domain import Arm, Criterion, Group, ImportedDraft, ImportedSubmission, Origin, Run, Task
from coeval.errors import InputError


def is_ratings(table: Table, mapping: Mapping[str, str] | None = None) -> bool:
    """Return whether a table has the columns of ratings, by name or by mapping."""
    fields = {*guess_mapping(table, RATING_FIELDS), *(mapping or {})}
    return {"instance", "criterion", "score"} <= fields and bool({"annotator", "run"} & fields)


def find_instances(path: Path) -> Path | None:
    """Return the table of instances in a folder of ratings, if it has one."""
    files = sorted(path.iterdir()) if path.is_dir() else []
    return next((file for file in files if is_table(file) and file.stem.lower() == "instances"), None)


Unfold = Callable[[Sequence[Table]], Sequence[Table]]
"""Returns the tables of a file or folder with one rating per row."""


def open_ratings(path: Path, slug: str, mapping: Mapping[str, str] | None, unfold: Unfold = tuple) -> Source:
    """Return people's ratings as blind submissions, models' ratings as runs, and the instances, if any.

    Raises InputError for a folder without ratings, a duplicate rating, a rating of an instance that the folder lacks,
    or a broken table.
    """
    instances = find_instances(path)
    base = instances and open_table(instances)
    tables = _find_ratings(path, instances, mapping, unfold)
    fields = (*FIELDS, *RATING_FIELDS) if base else RATING_FIELDS
    _check_mapping(mapping or {}, dict.fromkeys(fields), [*tables, *([base] if base else [])])
    source = Source(Task(slug, slug))
    if base:
        source = open_instances(base, slug, _fitting(base, FIELDS, mapping), guess=True)
    ratings = Rows(
        lambda: (
            rating
            for table in tables
            for rating in load_ratings(table, _fitting(table, RATING_FIELDS, mapping))
        )
    )
    seen = Seen(instance.external_id for instance in source.instances) if base else None
    survey = survey_ratings(ratings, seen)
    return _add_ratings(source, ratings, survey)


def _find_ratings(
    path: Path, source: Path | None, mapping: Mapping[str, str] | None, unfold: Unfold
) -> Sequence[Table]:
    if not path.is_dir():
        return unfold([open_table(path)])
    files = [file for file in sorted(path.iterdir()) if is_table(file) and file != source]
    tables = unfold([open_table(file) for file in files])
    fitting = [table for table in tables if is_ratings(table, _fitting(table, RATING_FIELDS, mapping))]
    if not fitting:
        raise InputError(
            f"{path.name}: contains no table of ratings; a rating table has the columns instance, "
            "criterion, score, and annotator (a person) or run (a model)."
        )
    return fitting


def _fitting(table: Table, fields: Sequence[str], mapping: Mapping[str, str] | None) -> dict[str, str]:
    """Return the entries of a mapping that apply to this file."""
    pairs = (mapping or {}).items()
    return {name: col for name, col in pairs if name in fields and find_column(table.columns, (col,))}


def _check_mapping(mapping: Mapping[str, str], fields: Collection[str], tables: Sequence[Table]) -> None:
    for field, column in mapping.items():
        if field not in fields:
            raise InputError(
                f"'{shorten(field)}' is not a field that can be mapped; the fields are {', '.join(fields)}."
            )
        if not any(find_column(table.columns, (column,)) for table in tables):
            columns = "; ".join(f"{table.name}: {shorten(', '.join(table.columns), 200)}" for table in tables)
            raise InputError(
                f"no file has a column '{shorten(column)}' to map '{field}' to; the columns are {columns}."
            )


def _add_ratings(source: Source, ratings: Rows[Rating], survey: Survey) -> Source:
    scales, notes = survey.scales.choose()
    shared = set(scales.values())
    return replace(
        source,
        task=replace(source.task, scale=shared.pop()) if len(shared) == 1 else source.task,
        criteria=tuple(Criterion(text, origin=Origin.HUMAN, scale=scale) for text, scale in scales.items()),
        runs=tuple(_build_run(label, asked) for label, asked in survey.runs.items()),
        drafts=Rows(lambda: _read_drafts(ratings)) if survey.runs else (),
        submissions=Rows(lambda: _read_submissions(ratings, survey.groups)) if survey.people else (),
        notes=(*source.notes, *notes, *survey.tell(scales)),
        guessed=tuple(name for name, stated in survey.scales.stated.items() if stated is None),
    )


def _build_run(label: str, asked: Collection[float | None]) -> Run:
    n_samples = next(iter(asked)) if len(asked) == 1 else None
    params = {} if n_samples is None else {"n_samples": int(n_samples)}
    return Run(protocol="imported", model=label, label=label, params=params)


def _read_drafts(ratings: Iterable[Rating]) -> Iterator[tuple[str, ImportedDraft]]:
    for rating in ratings:
        if rating.run:
            reason = "" if rating.score is not None else "the file gives no score"
            yield (
                rating.run,
                ImportedDraft(
                    rating.instance, rating.criterion, rating.score, reason=reason, raw=rating.probabilities
                ),
            )


def _read_submissions(ratings: Iterable[Rating], groups: Mapping[str, Group]) -> Iterator[ImportedSubmission]:
    for rating in ratings:
        if rating.person and rating.score is not None:
            yield ImportedSubmission(
                rating.person,
                rating.instance,
                rating.criterion,
                rating.score,
                arm=Arm.BLIND,
                group=groups.get(rating.person),
            )


def _fits(path: Path, mapping: Columns) -> bool:
    if path.is_dir():
        return find_instances(path) is not None
    if not path.is_file():
        return False
    table = open_table(path)
    named = {*(mapping or {}), *match_columns(table, (*FIELDS, *RATING_FIELDS), None)}
    rated = {"instance", "criterion"} <= named and not {"input", "output"} & named
    return rated and is_ratings(table, mapping)


FORMAT = Format(
    "ratings-csv",
    "Table of ratings",
    fits=_fits,
    open=open_ratings,
    fields=RATING_FIELDS,
    table=open_table,
    folder="instances.csv with tables of ratings",
)
