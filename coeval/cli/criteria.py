"""``python -m coeval criteria establish``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coeval.errors import InputError
from coeval.study.access import OPERATOR, Context


def add_criteria(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    criteria = commands.add_parser("criteria", help="the criteria set of a task")
    kinds = criteria.add_subparsers(required=True, metavar="establish")
    establish = kinds.add_parser("establish", parents=[task], help="freeze a list of criteria without a vote")
    establish.add_argument(
        "--file", required=True, type=Path, metavar="F.txt",
        help="one criterion a line; a tab and a scale such as 1-3 may follow it",
    )  # fmt: skip
    establish.set_defaults(command=_establish)


def _establish(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.criteria.listed import establish_list

    try:
        lines = options.file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{options.file} cannot be read as a list of criteria: {error}.") from error
    established = establish_list(context, OPERATOR, options.task, lines)
    for number, criterion in enumerate(established.criteria, 1):
        print(f"{number}\t{criterion.scale}\t{criterion.text}")
    print(f"version {established.version}: {len(established.criteria)} criteria", file=sys.stderr)
