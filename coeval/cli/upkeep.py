"""``python -m coeval backup``, ``check`` and ``move``."""

from __future__ import annotations

import argparse
from pathlib import Path

from coeval.study.access import OPERATOR, Context


def add_upkeep(commands: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    backup = commands.add_parser("backup", parents=[common], help="copy the file while people work")
    backup.add_argument("target", type=Path)
    backup.set_defaults(command=_backup, read_only=True)
    check = commands.add_parser("check", parents=[common], help="verify the file, and say what it holds")
    check.set_defaults(command=_check, read_only=True)
    move = commands.add_parser(
        "move", help="copy everything into a new database: a file, or one of PostgreSQL"
    )
    move.add_argument("--from", dest="source", required=True, metavar="DB", help="a file or postgresql://...")
    move.add_argument(
        "--to", dest="target", required=True, metavar="DB", help="a new file, or an empty database"
    )
    move.set_defaults(command=_move, opens_file=False)


def _move(options: argparse.Namespace) -> None:
    from coeval.study.hosting.transfer import transfer

    moved = transfer(options.source, options.target)
    for table, content in moved.items():
        if content.rows:
            print(f"{table}: {content.rows:,} rows, checksum {content.checksum:x}")
    print(f"{sum(content.rows for content in moved.values()):,} rows are the same in both")


def _check(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.hosting.upkeep import check_file

    health = check_file(context, OPERATOR)
    print(f"schema: {', '.join(health.migrations)}")
    if health.pending:
        print(f"older than this CoEval: {', '.join(health.pending)} to come when it next opens the file")
    for table, n in health.totals.items():
        print(f"{table}: {n:,}")
    for fault in health.faults:
        print(f"fault: {fault}")
    print("sound" if health.sound else "not sound: keep this file, and go back to the newest good backup")
    if not health.sound:
        raise SystemExit(1)


def _backup(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.hosting.upkeep import back_up

    back_up(context, OPERATOR, options.target)
    print(options.target)
