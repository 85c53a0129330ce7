"""Evaluate generated text: a model drafts, and people check every line. Each command has its own --help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import argcomplete

from coeval import CITATION, __version__
from coeval.cli.draft import add_batch, add_draft
from coeval.cli.files import add_criteria, add_export, add_import
from coeval.cli.results import Parsers, build_reporting, report, reported
from coeval.cli.serve import add_review, add_serve, add_study
from coeval.cli.stats import add_output, add_plan
from coeval.domain import Role
from coeval.errors import StorageError
from coeval.extending import load_parts
from coeval.settings import SignIn, load_settings
from coeval.usecases.access import OPERATOR, Context, open_context


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


def add_invite(commands: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    """Add ``invite`` to the parser."""
    command = commands.add_parser(
        "invite", parents=[common], help="create an invitation link that works once"
    )
    command.add_argument(
        "--role",
        default=Role.ANNOTATOR,
        choices=list(Role),
        type=Role,
        help="role of the person (default: annotator)",
    )
    command.add_argument("--name", default="", help="existing person who needs a new password")
    command.set_defaults(command=_invite, makes_file=True)


def _invite(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.accounts import build_link, find_settings, invite

    settings, is_known = find_settings(context)
    link = build_link(settings, invite(context, OPERATOR, options.role, name=options.name))
    report(options, {"link": link, "role": options.role}, [link])
    if not is_known:
        print(
            "note: no server has recorded an address for this file yet, so the link uses port "
            f"{settings.port}. Set COEVAL_URL to the address that people open, or change the port in the "
            "link.",
            file=sys.stderr,
        )
    if context.settings.sign_in is not SignIn.ACCOUNTS:
        print("note: the link works only if the app runs with COEVAL_SIGN_IN=accounts", file=sys.stderr)


def add_upkeep(commands: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    backup = commands.add_parser(
        "backup", parents=[common], help="back up the database file while people work"
    )
    backup.add_argument("target", type=Path, help="file to write")
    backup.set_defaults(command=_backup, read_only=True)
    check = commands.add_parser("check", parents=[common], help="verify the database and count its rows")
    check.set_defaults(command=_check, read_only=True)
    move = commands.add_parser(
        "move",
        parents=[build_reporting()],
        help="copy everything into a new database (a file or PostgreSQL)",
    )
    move.add_argument(
        "--from", dest="source", required=True, metavar="DB", help="source: a file or a postgresql:// URL"
    )
    move.add_argument(
        "--to", dest="target", required=True, metavar="DB", help="target: a new file or an empty database"
    )
    move.set_defaults(command=_move, opens_file=False)


def _move(options: argparse.Namespace) -> None:
    from coeval.usecases.hosting.maintenance import transfer

    moved = transfer(options.source, options.target)
    lines = [
        f"{table}: {content.rows:,} rows, checksum {content.checksum:x}"
        for table, content in moved.items()
        if content.rows
    ]
    total = f"{sum(content.rows for content in moved.values()):,} rows are the same in both"
    report(options, moved, [*lines, total])


def _check(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.hosting.maintenance import check_file

    health = check_file(context, OPERATOR)
    lines = [f"schema: {', '.join(health.migrations)}"]
    if health.pending:
        lines.append(
            f"older than this CoEval: {', '.join(health.pending)} will run when CoEval next opens the file"
        )
    lines += [f"{table}: {n:,}" for table, n in health.totals.items()]
    lines += [f"fault: {fault}" for fault in health.faults]
    lines.append("sound" if health.sound else "damaged: keep this file and go back to the newest good backup")
    report(options, health, lines)
    if not health.sound:
        raise SystemExit(1)


def _backup(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.hosting.maintenance import back_up

    back_up(context, OPERATOR, options.target)
    report(options, {"path": options.target}, [options.target])
