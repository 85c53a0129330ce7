"""Every format that can be imported. A new one is a file with its ``FORMAT``, and a line here.

A new kind of table (columns and rows) is a line in ``tables.formats.TABLES`` instead. Either way it appears in
``--format``, on the import page, and is recognised.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.annotation.registry import ANNOTATION_TOOLS
from coeval.datasets.evallogs.registry import EVAL_LOGS
from coeval.datasets.examples import demo
from coeval.datasets.format import Columns, Format
from coeval.datasets.hub import ours
from coeval.datasets.ratings import rating_tables
from coeval.datasets.release import loading
from coeval.datasets.tables import table_parts
from coeval.datasets.tables.formats import TABLES, TableFormat, guess_table
from coeval.datasets.tables.instances import FIELDS, open_instances
from coeval.errors import InputError


def _of_table(kind: TableFormat) -> Format:
    """The format of a table of instances."""
    return Format(
        kind.name,
        kind.title,
        fits=lambda path, columns: path.is_file() and guess_table(path) is kind,
        open=lambda path, slug, columns: open_instances(kind.open(path), slug, columns),
        fields=FIELDS,
        table=kind.open,
        open_empty=lambda path, slug, columns: open_instances(
            kind.open(path), slug, columns, empty_outputs=True
        ),
    )


_PARTS = Format(
    "parts",
    "Parts of one table (NAME-00000-of-00002.parquet, ...)",
    fits=lambda path, columns: table_parts.holds_parts(path),
    open=lambda path, slug, columns: open_instances(table_parts.open_parts(path), slug, columns),
    fields=FIELDS,
    table=table_parts.open_parts,
    folder="parts of one table",
    open_empty=lambda path, slug, columns: open_instances(
        table_parts.open_parts(path), slug, columns, empty_outputs=True
    ),
)

FORMATS: tuple[Format, ...] = (
    *map(_of_table, TABLES),
    _PARTS,
    rating_tables.FORMAT,
    loading.FORMAT,
    *EVAL_LOGS,
    *ANNOTATION_TOOLS,
    demo.FORMAT,
    ours.FORMAT,
)
"""From the most general to the most special: a file is of the last format that it fits."""

NAMES = ("auto", *(each.name for each in FORMATS))
"""What ``format`` may be."""


def find_format(path: Path, name: str = "auto", columns: Columns = None) -> Format:
    """The format of that name; with "auto" that of the file or folder, by its files, its ending and its columns.

    Raises InputError for an unknown name, a path where nothing is, or one that no format fits.
    """
    if name not in NAMES:
        raise InputError(f"'{name}' is not a format; the formats are {', '.join(NAMES)}.")
    if name != "auto":
        return next(each for each in FORMATS if each.name == name)
    if not path.exists():
        raise InputError(f"There is no file or folder '{path}'; check the path.")
    for each in reversed(FORMATS):
        if each.fits(path, columns):
            return each
    folders = " nor ".join(each.folder for each in FORMATS if each.folder)
    raise InputError(f"'{path.name}' holds neither {folders}; give the path of one file to import just that.")
