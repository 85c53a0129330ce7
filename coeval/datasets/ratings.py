"""Long tables of ratings, one a row: people's (instance, criterion, annotator, score) and models'
(instance, criterion, run, score), with or without the table of instances they are about.

A folder holds ``instances`` and any number of rating tables (CSV, JSONL or Excel); a single rating table
is for a task that has its instances already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coeval.datasets.formats import is_table, open_table
from coeval.datasets.instances import FIELDS, load_instances
from coeval.datasets.rating_rows import RATING_FIELDS, Rating, load_ratings
from coeval.datasets.rating_scales import choose_scales
from coeval.datasets.table import Table, find_column, guess_mapping
from coeval.datasets.text import shorten
from coeval.domain import (
    Arm,
    Criterion,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Origin,
    Run,
    Scale,
    Study,
    Task,
)
from coeval.errors import InputError


def is_ratings(table: Table, mapping: Mapping[str, str] | None = None) -> bool:
    """Whether a table's columns, by name or as mapped, are those of ratings."""
    fields = {*guess_mapping(table, RATING_FIELDS), *(mapping or {})}
    return {"instance", "criterion", "score"} <= fields and bool({"annotator", "run"} & fields)


def find_instances(path: Path) -> Path | None:
    """The table of instances in a folder of ratings, if it has one."""
    files = sorted(path.iterdir()) if path.is_dir() else []
    return next((file for file in files if is_table(file) and file.stem.lower() == "instances"), None)


def load(path: Path, slug: str, mapping: Mapping[str, str] | None) -> Study:
    """People's ratings as blind submissions, the models' as runs, and the instances where there are any.

    Raises InputError for a folder without ratings, a rating given twice, one of an instance that the
    folder's instances lack, and whatever is broken in a table.
    """
    source = find_instances(path)
    base = source and open_table(source)
    tables = _find_ratings(path, source, mapping)
    fields = (*FIELDS, *RATING_FIELDS) if base else RATING_FIELDS
    _check_mapping(mapping or {}, dict.fromkeys(fields), [*tables, *([base] if base else [])])
    study = Study(Task(slug, slug))
    if base:
        study = load_instances(base, slug, _fitting(base, FIELDS, mapping), guess=True)
    ratings = [
        one for table in tables for one in load_ratings(table, _fitting(table, RATING_FIELDS, mapping))
    ]
    _check_ratings(ratings, {one.external_id for one in study.instances} if base else None)
    return _add_ratings(study, ratings)


def _find_ratings(path: Path, source: Path | None, mapping: Mapping[str, str] | None) -> list[Table]:
    if not path.is_dir():
        return [open_table(path)]
    tables = [open_table(file) for file in sorted(path.iterdir()) if is_table(file) and file != source]
    found = [table for table in tables if is_ratings(table, _fitting(table, RATING_FIELDS, mapping))]
    if not found:
        raise InputError(
            f"{path.name}: holds no table of ratings; one has the columns instance, criterion, score, and "
            "annotator (a person's) or run (a model's)."
        )
    return found


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


def _check_ratings(ratings: Iterable[Rating], known: set[str] | None) -> None:
    places: dict[tuple[str, str, str, str], str] = {}
    for rating in ratings:
        if known is not None and rating.instance not in known:
            raise InputError(
                f"{rating.place}: rates instance '{shorten(rating.instance)}', which is not among the instances; "
                "correct the id or remove the row."
            )
        key = (rating.instance, rating.criterion, rating.person, rating.run)
        first = places.setdefault(key, rating.place)
        if first != rating.place:
            raise InputError(
                f"{rating.place}: rates '{shorten(rating.criterion)}' of instance '{shorten(rating.instance)}' by "
                f"'{shorten(rating.person or rating.run)}' again, after {first}; keep one."
            )


def _add_ratings(study: Study, ratings: Sequence[Rating]) -> Study:
    scales, notes = choose_scales(ratings)
    shared = set(scales.values())
    people = [rating for rating in ratings if rating.person and rating.score is not None]
    return replace(
        study,
        task=replace(study.task, scale=shared.pop()) if len(shared) == 1 else study.task,
        criteria=tuple(Criterion(text, origin=Origin.HUMAN, scale=scale) for text, scale in scales.items()),
        runs=tuple(_build_runs(ratings)),
        submissions=tuple(
            ImportedSubmission(one.person, one.instance, one.criterion, one.score, arm=Arm.BLIND)
            for one in people
        ),
        notes=(*study.notes, *notes, *_tell(ratings, scales)),
    )


def _build_runs(ratings: Iterable[Rating]) -> Iterable[ImportedRun]:
    """One run for each judge, in order of appearance."""
    judges: dict[str, list[Rating]] = {}
    for rating in ratings:
        if rating.run:
            judges.setdefault(rating.run, []).append(rating)
    for label, given in judges.items():
        asked = {rating.n_samples for rating in given}
        n_samples = asked.pop() if len(asked) == 1 else None
        params = {} if n_samples is None else {"n_samples": int(n_samples)}
        run = Run(protocol="imported", model=label, label=label, params=params)
        yield ImportedRun(run, tuple(map(_build_draft, given)))


def _build_draft(rating: Rating) -> ImportedDraft:
    reason = "" if rating.score is not None else "the file gives no score"
    return ImportedDraft(rating.instance, rating.criterion, rating.score, reason=reason)


def _tell(ratings: Sequence[Rating], scales: Mapping[str, Scale]) -> Iterable[str]:
    missing = sum(1 for one in ratings if one.person and one.score is None)
    unscored = sum(1 for one in ratings if one.run and one.score is None)
    fewer = sum(1 for one in ratings if one.n_valid is not None and one.n_valid < (one.n_samples or 0))
    off = sum(1 for one in ratings if _is_off(one, scales[one.criterion]))
    for text, count in (
        ("People's ratings without a score, left out", missing),
        ("Models' ratings without a score, kept as unscored", unscored),
        ("Models' scores that rest on fewer samples than were asked for", fewer),
        ("Ratings off the scale, or people's between its steps, kept as they are", off),
    ):
        if count:
            yield f"{text}: {count:,}."


def _is_off(rating: Rating, scale: Scale) -> bool:
    if rating.score is None:
        return False
    return not (scale.admits(rating.score) if rating.person else scale.low <= rating.score <= scale.high)
