"""``python -m coeval batch write|read``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from coeval.cli.judging.judging_options import add_judging_options, read_judging_options
from coeval.study.access import OPERATOR, Context


def add_batch(
    commands: argparse._SubParsersAction, task: argparse.ArgumentParser, common: argparse.ArgumentParser
) -> None:
    batch = commands.add_parser("batch", help="draft through files of the OpenAI batch format")
    kinds = batch.add_subparsers(required=True, metavar="write|read")
    write = kinds.add_parser("write", parents=[task], help="write the questions a run still has")
    write.add_argument("--out", required=True, type=Path, metavar="F.jsonl")
    add_judging_options(write)
    write.add_argument(
        "--again",
        action="store_true",
        help="write the questions whose answers could not be read, as further attempts",
    )
    write.set_defaults(command=_batch_write)
    read = kinds.add_parser("read", parents=[common], help="read the results, and make drafts of them")
    read.add_argument("paths", nargs="+", type=Path, metavar="F.jsonl", help="the files that came back")
    read.add_argument("--price-in", type=float, default=0.0, help="price of a million prompt tokens")
    read.add_argument("--price-out", type=float, default=0.0, help="price of a million answer tokens")
    read.set_defaults(command=_batch_read)


def _batch_write(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.drafting import batches

    settings = read_judging_options(options)
    if options.again:
        settings = replace(settings, retry_unscored=True)
    written = asyncio.run(batches.write_questions(context, OPERATOR, options.task, settings, options.out))
    for path in written.batch.paths:
        print(path)
    print(written, file=sys.stderr)


def _batch_read(context: Context, options: argparse.Namespace) -> None:
    from coeval.llm.running.ledger import Prices
    from coeval.study.drafting import batches

    prices = Prices(options.price_in, options.price_out)
    report = asyncio.run(batches.read_results(context, OPERATOR, options.paths, prices))
    for path, line in report.bad_lines:
        print(f"{path}, {line}", file=sys.stderr)
    print(report)
    if report.unreadable or report.failed:
        raise SystemExit(1)
