"""``python -m coeval stats``, ``tables`` and ``export``."""

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
    tables = commands.add_parser(
        "tables", parents=[task], help="the paper's tables, and those a reviewer asks for beside them"
    )
    tables.add_argument("--format", default="md", choices=["csv", "md", "latex"])
    tables.add_argument("--out", type=Path, metavar="DIR", help="a file each, rather than all on stdout")
    tables.set_defaults(command=_tables)
    export = commands.add_parser("export", parents=[task], help="everything as CSV")
    export.add_argument("--out", required=True, type=Path, metavar="DIR")
    export.set_defaults(command=_export)


def _stats(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.statistics import get_report

    json.dump(
        get_report(context, OPERATOR, options.task), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False
    )
    print()


def _tables(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.statistics import get_table_files

    files = get_table_files(context, OPERATOR, options.task, options.format)
    if options.out is None:
        print("\n".join(files.values()))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.out / name).write_text(text, encoding="utf-8")
        print(options.out / name)


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.exporting.export import export_folder

    for path in export_folder(context, OPERATOR, options.task, options.out):
        print(path)
