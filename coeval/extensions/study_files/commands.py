"""``python -m coeval study export``, and ``import``: move whole studies as files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from coeval.cli.files import read_mapping
from coeval.cli.results import Parsers, report
from coeval.usecases.access import OPERATOR, Context


def add_study(parsers: Parsers) -> None:
    _add_export(parsers.study, parsers.task_reported)
    _add_import(parsers.study, parsers.common_reported)


def _add_export(actions: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    export = actions.add_parser("export", parents=[task], help="write a whole study into one zip file")
    export.add_argument("path", type=Path, help="file to write")
    export.add_argument(
        "--people",
        required=True,
        choices=["names", "pseudonyms"],
        help="write people's names or pseudonyms; pseudonyms also leave out crowd-service ids",
    )
    export.add_argument("--ledger", action="store_true", help="include all cached model calls")
    export.set_defaults(command=_export, only_reads=True)


def _add_import(actions: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    command = actions.add_parser("import", parents=[common], help="import a study as a new task")
    command.add_argument("path", type=Path, help="study file to import")
    command.add_argument("--as", dest="slug", default="", metavar="SLUG", help="short name of the new task")
    _add_common(command)
    command.set_defaults(command=_import, makes_file=True)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rename",
        nargs="+",
        default=[],
        metavar="OLD=NEW",
        help="rename a person if both studies have one with this name",
    )
    command.add_argument("--ledger", action="store_true", help="include the cached model calls of the file")


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.study_files.transfer import Naming, export_study_file

    manifest, notes = export_study_file(
        context, OPERATOR, options.task, options.path, people=Naming(options.people), ledger=options.ledger
    )
    said = f"{options.path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, people by {manifest.people}"
    result = {"path": options.path, "rows": manifest.rows, "people": manifest.people, "notes": notes}
    report(options, result, [*_told(notes), said])


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.study_files.transfer import import_study_file

    moved = import_study_file(
        context,
        OPERATOR,
        options.path,
        slug=options.slug,
        ledger=options.ledger,
        renamed=read_mapping(options.rename),
    )
    report(options, moved, [*_told(moved.notes), moved])


def _told(notes: Iterable[str]) -> list[str]:
    return [f"note: {note}" for note in notes]
