"""``python -m coeval study export``, ``import`` and ``merge``: whole studies between files."""

from __future__ import annotations

import argparse
from pathlib import Path

from coeval.cli.importing import read_mapping
from coeval.study.access import OPERATOR, Context


def add_study(
    commands: argparse._SubParsersAction, task: argparse.ArgumentParser, common: argparse.ArgumentParser
) -> None:
    study = commands.add_parser("study", help="move a whole study to another file, or merge two")
    actions = study.add_subparsers(required=True, metavar="ACTION")
    _add_export(actions, task)
    _add_import(actions, common)
    _add_merge(actions, task)


def _add_export(actions: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    export = actions.add_parser("export", parents=[task], help="write a whole study into one zip file")
    export.add_argument("path", type=Path)
    export.add_argument(
        "--people",
        required=True,
        choices=["names", "pseudonyms"],
        help="how people are called in the file; with pseudonyms, their ids at a crowd service stay here too",
    )
    export.add_argument(
        "--ledger", action="store_true", help="with every call to models that this file holds"
    )
    export.set_defaults(command=_export)


def _add_import(actions: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    command = actions.add_parser("import", parents=[common], help="take a study in as a task of its own")
    command.add_argument("path", type=Path)
    command.add_argument("--as", dest="slug", default="", metavar="SLUG", help="its short name here")
    _add_common(command)
    command.set_defaults(command=_import)


def _add_merge(actions: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    merge = actions.add_parser("merge", parents=[task], help="add a study's work to the same task here")
    merge.add_argument("path", type=Path)
    merge.add_argument(
        "--rename-run", nargs="+", default=[], metavar="OLD=NEW", help="keep apart two runs of one label"
    )
    merge.add_argument(
        "--keep-texts", action="store_true",
        help="where the task's texts and settings differ, go on with those of this file",
    )  # fmt: skip
    merge.add_argument("--dry-run", action="store_true", help="say what would be added, and write nothing")
    _add_common(merge)
    merge.set_defaults(command=_merge)


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rename", nargs="+", default=[], metavar="OLD=NEW", help="keep apart two people of one name"
    )
    command.add_argument("--ledger", action="store_true", help="with the calls to models that the file holds")


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.moving.exporting import Naming, export_study_file

    manifest, notes = export_study_file(
        context, OPERATOR, options.task, options.path, people=Naming(options.people), ledger=options.ledger
    )
    for note in notes:
        print(f"note: {note}")
    print(
        f"{options.path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, people by {manifest.people}"
    )


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.moving.importing import import_study_file

    moved = import_study_file(
        context,
        OPERATOR,
        options.path,
        slug=options.slug,
        ledger=options.ledger,
        renamed=read_mapping(options.rename),
    )
    for note in moved.notes:
        print(f"note: {note}")
    print(moved)


def _merge(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.moving.merging import Choices, merge_study_file

    choices = Choices(
        people=read_mapping(options.rename),
        runs=read_mapping(options.rename_run),
        keep_texts=options.keep_texts,
    )
    merged = merge_study_file(
        context, OPERATOR, options.path, options.task, choices, ledger=options.ledger, dry_run=options.dry_run
    )
    for conflict in merged.conflicts:
        print(f"conflict: {conflict}")
    for note in merged.notes:
        print(f"note: {note}")
    print(merged)
    if merged.n_conflicts:
        raise SystemExit(1)
