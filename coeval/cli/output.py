"""``python -m coeval stats`` and ``export``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from coeval.study.access import OPERATOR, Context


def add_output(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    stats = commands.add_parser("stats", parents=[task], help="agreement, actions, time and more")
    stats.add_argument("--json", action="store_true", required=True, help="one JSON document on stdout")
    stats.set_defaults(command=_stats)
    export = commands.add_parser("export", parents=[task], help="everything as CSV")
    export.add_argument("--out", required=True, type=Path, metavar="DIR")
    export.set_defaults(command=_export)


def _stats(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.statistics import get_report

    json.dump(
        get_report(context, OPERATOR, options.task), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False
    )
    print()


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.exporting.export import export_folder

    for path in export_folder(context, OPERATOR, options.task, options.out):
        print(path)
