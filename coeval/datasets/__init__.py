"""Files to domain: every format that can be imported, each in its own module.

``open_source`` checks a file or folder whole, or refuses it whole with one InputError, and then gives its
rows one by one; ``load_study`` gives them all at once. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coeval.datasets.example_studies import load_demo
from coeval.datasets.file_format import Preview, preview_source, preview_table
from coeval.datasets.known_formats import find_format, list_format_names, list_formats, refuse_own_files
from coeval.datasets.rating_rows import RATING_FIELDS
from coeval.datasets.source import Source, source_of
from coeval.datasets.tables.instances import FIELDS
from coeval.datasets.text import reading
from coeval.domain import Study

__all__ = [
    "FIELDS",
    "RATING_FIELDS",
    "Preview",
    "Source",
    "find_format",
    "list_format_names",
    "list_formats",
    "load_demo",
    "load_study",
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
    """Check a file or folder as a study for the task named ``slug``, to be read row by row.

    ``format`` is one of ``list_format_names()``. ``mapping`` says which column each field is read from (field ->
    column) in the tabular formats: FIELDS, and for ratings RATING_FIELDS. With ``empty_outputs`` a row whose output
    is empty is an answer: its writer said nothing.

    Raises InputError with the file, the line, the column and the remedy for anything that cannot be used.
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


def preview(
    path: str | Path, *, format: str = "auto", mapping: Mapping[str, str] | None = None, limit: int = 20
) -> Preview:
    """Return a look at a file or folder before it is imported, with the likeliest column for every field.

    Raises InputError as ``load_study`` does, but for columns that are still to be mapped.
    """
    path = Path(path)
    with reading(path.name):
        refuse_own_files(path)
        kind = find_format(path, format, mapping)
        if kind.table is not None and (kind.fields == FIELDS or not path.is_dir()):
            return preview_table(kind.name, kind.table(path), kind.fields, mapping, limit)
        return preview_source(kind.name, kind.read(path, "preview", mapping), limit)
