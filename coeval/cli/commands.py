"""Evaluate generated text: a model drafts, and people check every line. Each command has its own --help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import argcomplete

from coeval import CITATION, __version__
from coeval.cli.administration import add_invite, add_upkeep
from coeval.cli.draft import add_batch, add_draft
from coeval.cli.files import add_criteria, add_export, add_import
from coeval.cli.results import Parsers, build_reporting, reported
from coeval.cli.serve import add_review, add_serve, add_study
from coeval.cli.stats import add_output, add_plan
from coeval.errors import StorageError
from coeval.extending import load_parts
from coeval.settings import load_settings
from coeval.usecases.access import Context, open_context


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``python -m coeval``."""
    parser = build_parser()
    argcomplete.autocomplete(parser)  # for completion in the shell, the program ends here
    options = parser.parse_args(arguments)
    if getattr(options, "opens_file", True):
        reported(lambda: _run(options))
    else:
        reported(lambda: options.command(options))


def _run(options: argparse.Namespace) -> None:
    context = _open(options)
    try:
        options.command(context, options)
    finally:
        context.store.close()


def _open(options: argparse.Namespace) -> Context:
    settings = load_settings(db=options.db)
    if not (settings.server or Path(settings.db).exists() or getattr(options, "makes_file", False)):
        raise StorageError(
            f"There is no file {settings.db}: check --db and COEVAL_DB, or import a study first."
        )
    return open_context(
        settings,
        read_only=getattr(options, "read_only", False),
        aside=getattr(options, "only_reads", False),
    )


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m coeval", description=__doc__)
    parser.add_argument("--version", action="version", version=f"coeval {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--db", help="SQLite file or postgresql:// URL (default: COEVAL_DB, or data/coeval.db)"
    )
    task = argparse.ArgumentParser(add_help=False, parents=[common])
    task.add_argument("--task", required=True, type=str.lower, metavar="SLUG", help="short name of the task")
    reporting = build_reporting()
    task_reported = argparse.ArgumentParser(add_help=False, parents=[task, reporting])
    common_reported = argparse.ArgumentParser(add_help=False, parents=[common, reporting])
    add_import(commands, task_reported)
    add_criteria(commands, task_reported)
    add_draft(commands, task_reported)
    add_batch(commands, task_reported, common_reported)
    add_output(commands, task)
    add_export(commands, task_reported)
    add_plan(commands, task)
    study = add_study(commands)
    for add in load_parts("commands"):
        add(Parsers(commands, task, task_reported, common_reported, study))
    add_upkeep(commands, common_reported)
    add_invite(commands, common_reported)
    add_serve(commands, common)
    add_review(commands)
    cite = commands.add_parser("cite", help="print BibTeX entries of this version and of the paper")
    cite.set_defaults(command=lambda _: print(CITATION, end=""), opens_file=False)
    return parser
