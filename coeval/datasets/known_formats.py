"""All formats that can be imported, and CoEval's own files, which other commands read.

To add a format, write a file with its ``FORMAT``, and add a line here. To add a kind of table (columns and rows), add a
line in ``TABLES`` of ``tables.table_files``. The format then appears in ``--format`` and on the import page, and its
files are recognised.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from coeval.datasets import example_studies, rating_tables
from coeval.datasets.file_format import Columns, Format
from coeval.datasets.source import Rows, Source
from coeval.datasets.tables import table_files, text_tables
from coeval.datasets.tables.instances import FIELDS, open_instances
from coeval.datasets.tables.table import Row, Table
from coeval.datasets.tables.table_files import TABLES, TableFormat, guess_table
from coeval.datasets.text import parse_json, read_head, shorten
from coeval.domain import Instance
from coeval.errors import InputError
from coeval.extending import load_values
from coeval.safe_csv import INSTANCE_COLUMNS

EXPORTED = frozenset(("scores.csv", "rows.csv", "instances.csv", "votes.csv"))
"""The files that every CSV export contains."""

HEADS = {
    "scores.csv": frozenset(("arm", "revision", "latest", "draft_score", "shown_score")),
    "rows.csv": frozenset(("arm", "revision", "latest", "drafted", "new_text")),
    "votes.csv": frozenset(("evaluator", "revision", "latest", "proposal", "new_text")),
    "drafts.csv": frozenset(("protocol", "prompt_hash", "attempt", "quotes_not_found")),
    "first_scores.csv": frozenset(("annotator", "check", "timed_out", "score", "active_ms")),
}
"""Columns that only these files of a CSV export have. Its instances.csv can be imported."""

MAKE = "“python -m coeval study export study.zip --task SLUG --people names”, or in Set-up under Hosting"
IS_EXPORT = (
    "{name} is a CSV export of CoEval, for spreadsheets and statistics: it leaves out what only a database needs, and "
    f"is not imported. To move a study, make its file with {MAKE}, and take that in with “python -m coeval study "
    "import study.zip”."
)  # fmt: skip


def refuse_own_files(path: Path) -> None:
    """Raise InputError for a CSV export, one of its files, or a whole study's file.

    The message names the right command.
    """
    if path.is_dir():
        if all((path / name).is_file() for name in EXPORTED):
            raise InputError(IS_EXPORT.format(name=path.name))
    elif path.is_file():
        names = _list_packed(path)
        if "manifest.json" in names and any(name.startswith("tables/") for name in names):
            raise InputError(
                f"{path.name} is a whole study: import it with “python -m coeval study import {path.name}”, "
                "or in Set-up under Hosting."
            )
        if names >= EXPORTED or _has_own_head(path):
            raise InputError(IS_EXPORT.format(name=path.name))


def _list_packed(path: Path) -> set[str]:
    try:
        if path.suffix.lower() == ".zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        pass
    return set()


def _has_own_head(path: Path) -> bool:
    if path.suffix.lower() != ".csv":
        return False
    head = read_head(path, 4096).partition(b"\n")[0]
    columns = set(head.decode("utf-8-sig", "replace").strip().split(","))
    return any(signs <= columns for signs in HEADS.values())


# All formats that can be imported.


def _of_table(kind: TableFormat) -> Format:
    """Return the format of a table of instances."""
    return Format(
        kind.name,
        kind.title,
        fits=lambda path, columns: path.is_file() and guess_table(path) is kind,
        open=lambda path, slug, columns: open_instances(
            kind.open(path),
            slug,
            columns,
            guess=kind.name == "json",  # a list of records comes from another program
        ),
        fields=FIELDS,
        table=kind.open,
        open_empty=lambda path, slug, columns: open_instances(
            kind.open(path), slug, columns, guess=kind.name == "json", empty_outputs=True
        ),
    )


_PARTS = Format(
    "parts",
    "Parts of one table (NAME-00000-of-00002.parquet, ...)",
    fits=lambda path, columns: table_files.holds_parts(path),
    open=lambda path, slug, columns: open_instances(table_files.open_parts(path), slug, columns),
    fields=FIELDS,
    table=table_files.open_parts,
    folder="parts of one table",
    open_empty=lambda path, slug, columns: open_instances(
        table_files.open_parts(path), slug, columns, empty_outputs=True
    ),
)


# Our own instances.csv.


def _is_own(path: Path) -> bool:
    if not path.is_file() or guess_table(path).name != "csv":
        return False
    head = read_head(path, 4096).decode("utf-8-sig", "replace").partition("\n")[0]
    return tuple(head.strip().split(",")) == INSTANCE_COLUMNS


def _open_own(path: Path, slug: str) -> Source:
    """Return the instances of our own export, with their further columns and without what the export counts."""
    table = text_tables.open_csv(path)
    kept = tuple(column for column in table.columns if column not in ("position", "check"))
    source = open_instances(replace(table, columns=kept, records=lambda: _drop_counts(table, kept)), slug, None,
                            empty_outputs=True)  # fmt: skip
    checks = sum(row.cells["check"] == "1" for row in table.rows())
    note = f"Marks of instances as attention checks, left out: {checks:,}."
    instances = Rows(lambda: (_restore_context(path, instance) for instance in source.instances))
    for _ in instances:  # a broken column is refused before anything is imported
        pass
    return replace(
        source, instances=instances, columns=(), notes=(*source.notes, *([note] if checks else []))
    )


def _drop_counts(table: Table, kept: tuple[str, ...]) -> Iterator[Row]:
    for row in table.records():
        yield Row(row.line, {column: row.cells[column] for column in kept})


def _restore_context(path: Path, instance: Instance) -> Instance:
    try:
        context = parse_json(instance.context.get("context") or "{}")
    except (ValueError, RecursionError):
        context = None
    if not isinstance(context, dict) or not all(isinstance(text, str) for text in context.values()):
        raise InputError(
            f"{path.name}: the context of “{shorten(instance.external_id)}” is not an object of texts; export the "
            "file again."
        )
    return replace(instance, context=context)


_OWN = Format(
    "coeval-instances",
    "instances.csv of CoEval",
    fits=lambda path, columns: not columns and _is_own(path),
    open=lambda path, slug, columns: _open_own(path, slug),
)


@cache
def list_formats() -> tuple[Format, ...]:
    """Return all formats, from general to specific. The last format that fits a file is used."""
    return (
        *map(_of_table, TABLES),
        _PARTS,
        _OWN,
        rating_tables.FORMAT,
        *load_values("formats", Format),
        example_studies.FORMAT,
    )


def list_format_names() -> tuple[str, ...]:
    """Return the possible values of ``format``."""
    return ("auto", *(each.name for each in list_formats()))


def find_format(path: Path, name: str = "auto", columns: Columns = None) -> Format:
    """Return the format with this name; for "auto", detect it from the files, the ending and the columns.

    Raises InputError for an unknown name, a path that does not exist, or one that no format fits.
    """
    names = list_format_names()
    if name not in names:
        raise InputError(f"'{name}' is not a format; the formats are {', '.join(names)}.")
    if name != "auto":
        return next(each for each in list_formats() if each.name == name)
    if not path.exists():
        raise InputError(f"There is no file or folder '{path}'; check the path.")
    for each in reversed(list_formats()):
        if each.fits(path, columns):
            return each
    folders = " nor ".join(each.folder for each in list_formats() if each.folder)
    raise InputError(f"'{path.name}' contains neither {folders}; to import a single file, give its path.")
