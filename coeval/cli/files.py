"""``python -m coeval import``, ``criteria establish`` and ``export``: import and export files."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.cli.results import may_ask, report
from coeval.datasets import FIELDS, preview
from coeval.datasets.file_format import CHOOSE
from coeval.datasets.known_formats import find_format, list_format_names
from coeval.datasets.tables.table import SYNONYMS, find_column
from coeval.datasets.tables.table_files import on_sheet
from coeval.domain import ColumnRole, Group
from coeval.errors import InputError
from coeval.language import list_languages
from coeval.llm.prompting.presets import PRESETS
from coeval.usecases.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.usecases.study_import import ImportOptions, ImportReport


# ``python -m coeval import``.


def add_import(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    command = commands.add_parser("import", parents=[task], help="import instances or a whole study")
    command.add_argument("path", help="file or folder to import")
    command.add_argument(
        "--format", default="auto", choices=list_format_names(), help="file format (default: detected)"
    )
    command.add_argument(
        "--map", nargs="+", default=[], metavar="field=column", help="column to read a field from"
    )
    command.add_argument(
        "--sheet",
        default="",
        metavar="NAME",
        help="sheet of an Excel workbook to import (default: the first)",
    )
    command.add_argument(
        "--description",
        default="",
        metavar="TEXT",
        help="description of the systems' task, if none is stored yet",
    )
    command.add_argument(
        "--show",
        action="append",
        default=[],
        metavar="COLUMN",
        help="show this extra column to the judge and people (repeatable); other extra columns are hidden",
    )
    command.add_argument(
        "--group",
        type=Group,
        choices=list(Group),
        help="group of the people in the file, if the file names none",
    )
    command.add_argument(
        "--language", default="", choices=list(list_languages()),
        help="language of the annotators' screens for a new task (default: English)",
    )  # fmt: skip
    command.add_argument(
        "--scale",
        default="",
        metavar="LOW-HIGH",
        help="scale of the criteria whose scale the file does not state (default: taken from the scores)",
    )
    command.add_argument(
        "--empty-outputs",
        action="store_true",
        help="keep rows with an empty output",
    )
    command.set_defaults(command=_import, makes_file=True)


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.study_import import import_file

    import_options = read_import_options(options)
    with on_sheet(Path(options.path), options.sheet) as path:
        import_options, notes = _add_people(path, import_options)
        imported = import_file(context, OPERATOR, path, options.task, import_options)
    imported.notes.extend(notes)
    tell_import(context, imported, options)


def _add_people(path: Path, options: ImportOptions) -> tuple[ImportOptions, list[str]]:
    """Return the options with the columns of people's scores that a table shows, and the note on them."""
    mapping = options.mapping or {}
    if options.format != "auto" or mapping.keys() & {"annotator", "scores"} or not path.is_file():
        return options, []
    with suppress(InputError):  # the import refuses it, and says why
        kind = find_format(path, columns=mapping)
        if (
            kind.table
            and kind.fields == FIELDS
            and find_column(kind.table(path).columns, SYNONYMS["annotator"])
        ):
            seen = preview(path, mapping=mapping)
            if "scores" in seen.mapping:
                shown = {"context": "\n".join(options.roles)} if options.roles else {}
                end = f"Choose others with --map scores=COLUMN, or none with --format {seen.format}."
                notes = [note.replace(CHOOSE, end) for note in seen.notes if note.endswith(CHOOSE)]
                return replace(options, mapping={**shown, **seen.mapping, **mapping}), notes
    return options, []


def read_import_options(options: argparse.Namespace) -> ImportOptions:
    """Return the import options that the command line gives."""
    from coeval.usecases.study_import import ImportOptions, read_scale

    return ImportOptions(
        format=options.format,
        mapping=read_mapping(options.map),
        group=options.group,
        empty_outputs=options.empty_outputs,
        scale=read_scale(options.scale),
        language=options.language,
        description=options.description,
        roles=dict.fromkeys(options.show, ColumnRole.SHOWN),
    )


def tell_import(context: Context, imported: ImportReport, options: argparse.Namespace) -> None:
    """Print the number of imported items and the role of each column, and ask about columns without a role."""
    from coeval.usecases.scrutiny.design import list_columns, set_columns

    columns = list_columns(context, OPERATOR, options.task)
    undecided = [column.name for column in columns if column.is_open]
    if undecided and may_ask() and not options.json:
        answers = {name: _ask(name) for name in undecided}
        columns = set_columns(context, OPERATOR, options.task, answers)
        undecided = []
    lines = [*(f"note: {note}" for note in imported.notes), str(imported)]
    lines += [f"column {column}: read as the {field}" for field, column in imported.fields.items()]
    withheld = " (shown to nobody: it names a system, and this study hides its systems)"
    lines += [
        f"column {column.name}: {column.role}{withheld if column.withheld else ''}" for column in columns
    ]
    if undecided:
        show = " ".join(f"--show {shlex.quote(name)}" for name in undecided)
        lines.append(
            f"No role was chosen for {', '.join(undecided)}, so they are hidden. To show them to the judge and people, "
            f"import again with {show}. Name only columns that belong to the judged item."
        )
    report(options, {"imported": imported, "columns": columns}, lines)


def _ask(name: str) -> ColumnRole:
    shown = input(f"Is the column “{name}” part of the judged item? Show it to the judge and people [y/N]: ")
    return ColumnRole.SHOWN if shown.strip().lower() in ("y", "yes") else ColumnRole.HIDDEN


def read_mapping(pairs: Sequence[str], form: str = "field=column, such as input=question") -> dict[str, str]:
    """Return ``{"input": "question"}`` for ``["input=question"]``; ``form`` describes the correct form in
    errors.

    Raises:
        InputError: a pair has no ``=`` or names a field twice.
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field.strip() or not column.strip() or field.strip() in mapping:
            raise InputError(f"“{pair}” cannot be read: write {form}, and each name only once.")
        mapping[field.strip()] = column.strip()
    return mapping


def add_criteria(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    criteria = commands.add_parser("criteria", help="define the criteria of a task")
    kinds = criteria.add_subparsers(required=True, metavar="establish")
    establish = kinds.add_parser("establish", parents=[task], help="freeze a list of criteria without a vote")
    source = establish.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--file", type=Path, metavar="F.txt",
        help="file with one criterion per line, optionally followed by a tab and a scale such as 1-3, "
        "then a tab and a question",
    )  # fmt: skip
    source.add_argument(
        "--preset",
        choices=[name for name, preset in PRESETS.items() if preset.criteria],
        help="use the criteria of a publication",
    )
    establish.set_defaults(command=_establish)


def _establish(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.criteria_sets import establish_list, establish_preset

    if options.preset:
        established = establish_preset(context, OPERATOR, options.task, options.preset)
    else:
        established = establish_list(context, OPERATOR, options.task, _read_lines(options.file))
    rows = enumerate(established.criteria, 1)
    report(
        options, established, (f"{number}\t{criterion.scale}\t{criterion.text}" for number, criterion in rows)
    )
    print(f"version {established.version}: {len(established.criteria)} criteria", file=sys.stderr)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(
            f"{path} cannot be read as a list of criteria ({reason}): check the path."
        ) from error


# ``python -m coeval export``: everything as CSV, or scores for another tool.


def add_export(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    from coeval.usecases.export import list_out_formats

    export = commands.add_parser(
        "export",
        parents=[task],
        help="export everything as CSV, or scores in another tool's format",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(
            ["formats for --as:", *(f"  {each.name}: {each.summary}" for each in list_out_formats())]
        ),
    )
    export.add_argument("--out", type=Path, metavar="DIR", help="folder for the exported files")
    export.add_argument(
        "--as",
        dest="format",
        choices=[each.name for each in list_out_formats()],
        help="another tool's format (see below)",
    )
    export.set_defaults(command=_export, only_reads=True)


def _export(context: Context, options: argparse.Namespace) -> None:
    if options.out is None:
        raise InputError("Name a folder for the export: --out DIR.")
    from coeval.usecases.export import export_as, export_folder

    if options.format:
        paths = export_as(context, OPERATOR, options.task, options.format, options.out)
    else:
        paths = export_folder(context, OPERATOR, options.task, options.out)
    report(options, {"paths": paths}, paths)
