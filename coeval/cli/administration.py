"""``python -m coeval invite``, ``backup``, ``check`` and ``move``: commands for the server's operators."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coeval.cli.results import build_reporting, report
from coeval.domain import Role
from coeval.settings import SignIn
from coeval.usecases.access import OPERATOR, Context


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
