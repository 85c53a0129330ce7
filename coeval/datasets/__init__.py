"""Files to domain: every format that can be imported, each in its own module.

``open_source`` checks a file or folder whole, or refuses it whole with one InputError, and then gives its
rows one by one; ``load_study`` gives them all at once. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from coeval.datasets.demo import is_demo, load_demo
from coeval.datasets.previews import Preview, preview_source, preview_table
from coeval.datasets.ratings import rating_tables
from coeval.datasets.ratings.rating_rows import RATING_FIELDS
from coeval.datasets.release import loading
from coeval.datasets.source import Source, source_of
from coeval.datasets.tables.formats import TABLES, guess_table
from coeval.datasets.tables.instances import FIELDS, open_instances
from coeval.datasets.tables.table import match_columns
from coeval.datasets.text import load_json, reading
from coeval.domain import Study
from coeval.errors import InputError

__all__ = [
    "FIELDS",
    "FORMATS",
    "RATING_FIELDS",
    "Preview",
    "Source",
    "detect_format",
    "load_demo",
    "load_study",
    "open_source",
    "preview",
    "source_of",
]

RELEASE, RATINGS, DEMO = "coeval-release", "ratings-csv", "demo"
FORMATS = ("auto", *TABLES, RELEASE, RATINGS, DEMO)
"""What ``format`` may be."""


def open_source(
    path: str | Path, *, slug: str, format: str = "auto", mapping: Mapping[str, str] | None = None
) -> Source:
    """Check a file or folder as a study for the task named ``slug``, to be read row by row.

    ``mapping`` says which column each field is read from (field -> column) in the tabular formats: FIELDS,
    and for ratings RATING_FIELDS.

    Raises InputError with the file, the line, the column and the remedy for anything that cannot be used.
    """
    path = Path(path)
    with reading(path.name):
        kind = detect_format(path, mapping) if format == "auto" else _check_format(format)
        return _open(path, kind, slug, mapping)


def load_study(
    path: str | Path, *, slug: str, format: str = "auto", mapping: Mapping[str, str] | None = None
) -> Study:
    """A file or folder as a study in memory; otherwise as ``open_source``."""
    return open_source(path, slug=slug, format=format, mapping=mapping).load()


def preview(
    path: str | Path, *, format: str = "auto", mapping: Mapping[str, str] | None = None, limit: int = 20
) -> Preview:
    """A look at a file or folder before it is imported, with the likeliest column for every field.

    Raises InputError as ``load_study`` does, but for columns that are still to be mapped.
    """
    path = Path(path)
    with reading(path.name):
        kind = detect_format(path, mapping) if format == "auto" else _check_format(format)
        if kind in TABLES or (kind == RATINGS and path.is_file()):
            return preview_table(path, kind, mapping, limit)
        return preview_source(_open(path, kind, "preview", mapping), kind, limit)


def detect_format(path: Path, mapping: Mapping[str, str] | None = None) -> str:
    """The format of a file or folder, by its files, its ending and its columns.

    Raises InputError where there is no such file, or nothing in it that can be imported.
    """
    if not path.exists():
        raise InputError(f"There is no file or folder '{path}'; check the path.")
    if path.is_dir():
        return _detect_folder(path)
    if path.suffix.lower() == ".json":
        return DEMO if is_demo(load_json(path)) else RELEASE
    kind = guess_table(path)
    table = TABLES[kind](path)
    named = {*(mapping or {}), *match_columns(table, (*FIELDS, *RATING_FIELDS), None)}
    rated = {"instance", "criterion"} <= named and not {"input", "output"} & named
    return RATINGS if rated and rating_tables.is_ratings(table, mapping) else kind


def _detect_folder(path: Path) -> str:
    if loading.find_files(path):
        return RELEASE
    if rating_tables.find_instances(path):
        return RATINGS
    raise InputError(
        f"'{path.name}' holds neither A*.json of the CoEval release nor instances.csv with tables of ratings; "
        "give the path of one file to import just that."
    )


def _check_format(format: str) -> str:
    if format not in FORMATS:
        raise InputError(f"'{format}' is not a format; the formats are {', '.join(FORMATS)}.")
    return format


def _open(path: Path, kind: str, slug: str, mapping: Mapping[str, str] | None) -> Source:
    if kind in TABLES:
        return open_instances(TABLES[kind](path), slug, mapping)
    if kind == RATINGS:
        return rating_tables.open_ratings(path, slug, mapping)
    if mapping:
        raise InputError(
            f"columns cannot be mapped in the format {kind}, whose fields are fixed; leave it out."
        )
    if kind == RELEASE:
        return source_of(loading.load(path, slug))
    study, _ = load_demo(path)
    return source_of(replace(study, task=replace(study.task, slug=slug)))
