"""``python -m coeval export``: everything as CSV, scores for another tool, or a study to the Hugging Face Hub."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coeval.datasets.hub.address import START
from coeval.errors import InputError
from coeval.study.access import OPERATOR, Context


def add_export(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    from coeval.study.exporting.formats.registry import NAMES, OUT_FORMATS

    export = commands.add_parser(
        "export",
        parents=[task],
        help="everything as CSV, or scores in another tool's format",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(["formats for --as:", *(f"  {each.name}: {each.summary}" for each in OUT_FORMATS)]),
    )
    export.add_argument("--out", type=Path, metavar="DIR", help="the folder to write to")
    export.add_argument("--as", dest="format", choices=NAMES, help="another tool's format (see below)")
    export.add_argument(
        "--logs",
        nargs="+",
        type=Path,
        metavar="LOG",
        help="with --as inspect: logs to write edited copies of",
    )
    _add_hub(export)
    export.set_defaults(command=_export)


def _add_hub(export: argparse.ArgumentParser) -> None:
    hub = export.add_argument_group(
        "to the Hugging Face Hub", "What would leave is shown first; HF_TOKEN needs to be one that may write."
    )
    hub.add_argument("--to", metavar="ADDRESS", help=f"a data set there: {START}OWNER/NAME")
    hub.add_argument(
        "--licence", default="", metavar="ID", help="such as cc-by-4.0; the Hub's own identifier"
    )
    seen = hub.add_mutually_exclusive_group()
    seen.add_argument(
        "--private", action="store_true", help="a new data set is private (as it is unless --public)"
    )
    seen.add_argument("--public", action="store_true", help="everybody may see the data set")
    hub.add_argument(
        "--confirm", default="", metavar="OWNER/NAME", help="the data set's name again: send without asking"
    )


def _export(context: Context, options: argparse.Namespace) -> None:
    if options.to:
        _push(context, options)
        return
    if options.out is None:
        raise InputError("Say where the export goes: --out DIR, or --to hf://datasets/OWNER/NAME.")
    from coeval.study.exporting.export import export_as, export_folder

    if options.logs and options.format != "inspect":
        raise InputError("--logs names logs of Inspect: write it beside --as inspect.")
    if options.format:
        paths = export_as(context, OPERATOR, options.task, options.format, options.out)
    else:
        paths = export_folder(context, OPERATOR, options.task, options.out)
    for path in paths:
        print(path)
    for log in options.logs or ():
        from coeval.datasets.evallogs.inspect_scores import edit_log

        target, edits = edit_log(log, paths[0], options.out)
        print(f"{target}: {edits:,} edits of scores")


def _push(context: Context, options: argparse.Namespace) -> None:
    """Show what would leave, have the name typed, send."""
    from coeval.study.exporting.hub.pushing import Leaving, Target, preview_push, push_study

    if options.out or options.format or options.logs:
        raise InputError("--to sends a whole study: leave out --out, --as and --logs.")
    if not options.licence:
        raise InputError("Say under which licence: --licence ID, such as --licence cc-by-4.0.")
    target = Target(options.to, options.licence, private=not options.public)
    seen: Leaving = preview_push(context, OPERATOR, options.task, target)
    print(f"{seen.repo}: {seen.standing}")
    for line in (*seen.texts, *seen.ids):
        print(f"- {line}")
    for name, n in seen.counts.items():
        print(f"  {name}: {n:,} {'row' if n == 1 else 'rows'}, {seen.sizes[f'{name}.parquet']:,} bytes")
    for text in seen.examples:
        print(f"  written by people, for example: {' '.join(text.split())[:200]}")
    typed = options.confirm
    if not typed and sys.stdin.isatty():
        typed = input(f"Type {seen.repo} to send this: ")
    if not typed:
        raise InputError(f"Nothing was sent. To send it, add --confirm {seen.repo}.")
    print(push_study(context, OPERATOR, options.task, target, confirmed=typed, digest=seen.digest))
