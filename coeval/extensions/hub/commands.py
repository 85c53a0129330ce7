"""Let the core's ``import`` and ``export`` accept an address on the Hugging Face Hub."""

from __future__ import annotations

import argparse
import sys

from coeval.cli.files import read_import_options, tell_import
from coeval.cli.results import Parsers, may_ask, report
from coeval.errors import InputError
from coeval.extensions.hub.address import FORM, START, is_hub_address
from coeval.usecases.access import OPERATOR, Context


def add_addresses(parsers: Parsers) -> None:
    """Let the core's ``import`` and ``export`` accept addresses on the Hub."""
    importing, export = parsers.commands.choices["import"], parsers.commands.choices["export"]
    importing.epilog = f"The path can also be a data set on the Hugging Face Hub: {FORM}"
    import_file, export_files = importing.get_default("command"), export.get_default("command")

    def read(context: Context, options: argparse.Namespace) -> None:
        (_fetch if is_hub_address(options.path) else import_file)(context, options)

    def write(context: Context, options: argparse.Namespace) -> None:
        (_push if options.to else export_files)(context, options)

    importing.set_defaults(command=read)
    export.set_defaults(command=write)
    _add_target(export)


def _fetch(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.hub.transfer import import_hub

    if options.sheet:
        raise InputError("--sheet chooses a sheet of an Excel workbook; a data set on the Hub has none.")
    import_options = read_import_options(options)
    tell_import(context, import_hub(context, OPERATOR, options.path, options.task, import_options), options)


def _add_target(export: argparse.ArgumentParser) -> None:
    hub = export.add_argument_group(
        "to the Hugging Face Hub",
        "The command shows a preview before it sends anything. HF_TOKEN must be a token with write access.",
    )
    hub.add_argument("--to", metavar="ADDRESS", help=f"data set to write to: {START}OWNER/NAME")
    hub.add_argument(
        "--licence", default="", metavar="ID", help="the Hub's identifier of the licence, such as cc-by-4.0"
    )
    seen = hub.add_mutually_exclusive_group()
    seen.add_argument("--private", action="store_true", help="make a new data set private (default)")
    seen.add_argument("--public", action="store_true", help="make the data set public")
    hub.add_argument(
        "--confirm",
        default="",
        metavar="OWNER/NAME",
        help="name of the data set, to confirm without a prompt",
    )


def _push(context: Context, options: argparse.Namespace) -> None:
    """Show a preview, ask for the data set's name, and send."""
    from coeval.extensions.hub.transfer import Leaving, Target, preview_push, push_study

    if options.out or options.format:
        raise InputError("--to sends a whole study: leave out --out and --as.")
    if not options.licence:
        raise InputError("State the licence: --licence ID, such as --licence cc-by-4.0.")
    target = Target(options.to, options.licence, private=not options.public)
    seen: Leaving = preview_push(context, OPERATOR, options.task, target)
    shown = sys.stderr if options.json else sys.stdout
    print(f"{seen.repo}: {seen.standing}", file=shown)
    for line in (*seen.texts, *seen.ids):
        print(f"- {line}", file=shown)
    for name, n in seen.counts.items():
        size = seen.sizes[f"{name}.parquet"]
        print(f"  {name}: {n:,} {'row' if n == 1 else 'rows'}, {size:,} bytes", file=shown)
    for text in seen.examples:
        print(f"  written by people, for example: {' '.join(text.split())[:200]}", file=shown)
    typed = options.confirm
    if not typed and may_ask():
        typed = input(f"Type {seen.repo} to send this: ")
    if not typed:
        raise InputError(f"Nothing was sent. To send the study, add --confirm {seen.repo}.")
    sent = push_study(context, OPERATOR, options.task, target, confirmed=typed, digest=seen.digest)
    report(options, {"sent": sent}, [sent])
