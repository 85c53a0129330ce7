"""Long tables of ratings, one a row: people's (instance, criterion, annotator, score) and models'
(instance, criterion, run, score), with or without the table of instances they are about.

A folder holds ``instances`` and any number of rating tables (CSV, JSONL or Excel); a single rating table
is for a task that has its instances already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coeval.datasets.format import Columns, Format
from coeval.datasets.ratings.rating_rows import RATING_FIELDS, Rating, load_ratings
from coeval.datasets.ratings.rating_survey import Survey, survey_ratings
from coeval.datasets.ratings.wide_ratings import find_asked, unfold_answers, unfold_people
from coeval.datasets.seen import Seen
from coeval.datasets.source import Rows, Source
from coeval.datasets.tables.formats import is_table, open_table
from coeval.datasets.tables.instances import FIELDS, open_instances
from coeval.datasets.tables.table import Table, find_column, guess_mapping, match_columns
from coeval.datasets.text import shorten
from coeval.domain import Arm, Criterion, Group, ImportedDraft, ImportedSubmission, Origin, Run, Task
from coeval.errors import InputError


def is_ratings(table: Table, mapping: Mapping[str, str] | None = None) -> bool:
    """Whether a table's columns, by name or as mapped, are those of ratings."""
    fields = {*guess_mapping(table, RATING_FIELDS), *(mapping or {})}
    return {"instance", "criterion", "score"} <= fields and bool({"annotator", "run"} & fields)


def find_instances(path: Path) -> Path | None:
    """The table of instances in a folder of ratings, if it has one."""
    files = sorted(path.iterdir()) if path.is_dir() else []
    return next((file for file in files if is_table(file) and file.stem.lower() == "instances"), None)


def open_ratings(path: Path, slug: str, mapping: Mapping[str, str] | None) -> Source:
    """People's ratings as blind submissions, the models' as runs, and the instances where there are any.

    Raises InputError for a folder without ratings, a rating given twice, one of an instance that the
    folder's instances lack, and whatever is broken in a table.
    """
    instances = find_instances(path)
    base = instances and open_table(instances)
    tables = _find_ratings(path, instances, mapping)
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
    known = Seen(instance.external_id for instance in source.instances) if base else None
    survey = survey_ratings(ratings, known)
    return _add_ratings(source, ratings, survey)


def _find_ratings(path: Path, source: Path | None, mapping: Mapping[str, str] | None) -> list[Table]:
    if not path.is_dir():
        return [unfold_answers(open_table(path))]
    files = [file for file in sorted(path.iterdir()) if is_table(file) and file != source]
    answered = [unfold_answers(open_table(file)) for file in files]
    asked = find_asked(answered)
    tables = [unfold_people(table, asked) for table in answered]
    fitting = [table for table in tables if is_ratings(table, _fitting(table, RATING_FIELDS, mapping))]
    if not fitting:
        raise InputError(
            f"{path.name}: holds no table of ratings; one has the columns instance, criterion, score, and "
            "annotator (a person's) or run (a model's)."
        )
    return fitting


def _fitting(table: Table, fields: Sequence[str], mapping: Mapping[str, str] | None) -> dict[str, str]:
    """The part of a mapping for several files that is about this one."""
    pairs = (mapping or {}).items()
    return {name: col for name, col in pairs if name in fields and find_column(table.columns, (col,))}


def _check_mapping(mapping: Mapping[str, str], known: Collection[str], tables: Sequence[Table]) -> None:
    for field, column in mapping.items():
        if field not in known:
            raise InputError(
                f"'{shorten(field)}' is not a field that can be mapped; the fields are {', '.join(known)}."
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
