"""Import files: each format has its own module.

``open_source`` checks a whole file or folder, or refuses it with one InputError, and then returns its rows one by one.
``load_study`` returns all rows at once. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from coeval.datasets.example_studies import load_demo
from coeval.datasets.file_format import Preview, preview_source, preview_table
from coeval.datasets.known_formats import find_format, list_format_names, list_formats, refuse_own_files
from coeval.datasets.rating_rows import RATING_FIELDS
from coeval.datasets.source import Source, source_of
from coeval.datasets.tables.instances import FIELDS
from coeval.datasets.tables.table_files import list_sheets, on_sheet
from coeval.datasets.text import reading
from coeval.domain import Study
from coeval.errors import InputError

__all__ = [
    "FIELDS",
    "RATING_FIELDS",
    "Preview",
    "Source",
    "find_format",
    "list_format_names",
    "list_formats",
    "list_sheets",
    "load_demo",
    "load_study",
    "on_sheet",
    "open_source",
    "preview",
    "source_of",
]


def open_source(
    path: str | Path,
    *,
    slug: str,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    empty_outputs: bool = False,
) -> Source:
    """Check a file or folder as a study for the task named ``slug``, and return it for reading row by row.

    ``format`` is one of ``list_format_names()``. ``mapping`` (field -> column) is for tabular formats: FIELDS, or
    RATING_FIELDS for ratings. With ``empty_outputs``, empty outputs are valid answers.

    Raises InputError with the file, line, column and remedy for anything that cannot be used.
    """
    path = Path(path)
    with reading(path.name):
        refuse_own_files(path)
        return find_format(path, format, mapping).read(path, slug, mapping, empty_outputs=empty_outputs)


def load_study(
    path: str | Path, *, slug: str, format: str = "auto", mapping: Mapping[str, str] | None = None
) -> Study:
    """Load a file or folder as a study in memory; the arguments are those of ``open_source``."""
    return open_source(path, slug=slug, format=format, mapping=mapping).load()


def preview(path: str | Path, *, format: str = "auto", mapping: Mapping[str, str] | None = None) -> Preview:
    """Return a preview of a file or folder, with the likeliest column for every field.

    Raises InputError as ``load_study``, except for columns that are still to be mapped.
    """
    path = Path(path)
    with reading(path.name):
        refuse_own_files(path)
        kind = find_format(path, format, mapping)
        if kind.table is not None and (kind.fields == FIELDS or not path.is_dir()):
            seen = preview_table(kind.name, kind.table(path), kind.fields, mapping)
            if kind.fields == FIELDS:
                return seen
            with suppress(InputError):  # the import refuses it; columns may still be mapped
                return replace(seen, notes=(*seen.notes, *kind.read(path, "preview", mapping).notes))
            return seen
        return preview_source(kind.name, kind.read(path, "preview", mapping))
