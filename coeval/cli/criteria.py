"""``python -m coeval criteria establish``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coeval.errors import InputError
from coeval.llm.presets.registry import PRESETS
from coeval.study.access import OPERATOR, Context


def add_criteria(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    criteria = commands.add_parser("criteria", help="the criteria set of a task")
    kinds = criteria.add_subparsers(required=True, metavar="establish")
    establish = kinds.add_parser("establish", parents=[task], help="freeze a list of criteria without a vote")
    source = establish.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--file", type=Path, metavar="F.txt",
        help="one criterion a line; a tab and a scale such as 1-3 may follow it, then a tab and a question",
    )  # fmt: skip
    source.add_argument("--preset", choices=[name for name, preset in PRESETS.items() if preset.criteria])
    establish.set_defaults(command=_establish)


def _establish(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.criteria.listed import establish_list, establish_preset

    if options.preset:
        established = establish_preset(context, OPERATOR, options.task, options.preset)
    else:
        established = establish_list(context, OPERATOR, options.task, _read_lines(options.file))
    for number, criterion in enumerate(established.criteria, 1):
        print(f"{number}\t{criterion.scale}\t{criterion.text}")
    print(f"version {established.version}: {len(established.criteria)} criteria", file=sys.stderr)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a list of criteria: {error}.") from error
