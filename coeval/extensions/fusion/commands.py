"""``python -m coeval fusion``: how a fused run and its assistants agree with people."""

from __future__ import annotations

import argparse

from coeval.cli.results import Parsers, report
from coeval.usecases.access import OPERATOR, Context


def add_fusion(parsers: Parsers) -> None:
    command = parsers.commands.add_parser(
        "fusion",
        parents=[parsers.task_reported],
        help="compare a fused run and its assistants with people",
    )
    command.add_argument("--run", required=True, metavar="LABEL", help="the fused run")
    command.set_defaults(command=_compare, only_reads=True)


def _compare(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.fusion.correlations import correlate_run
    from coeval.stats import tables_markdown
    from coeval.stats.estimates import plain

    tables = correlate_run(context, OPERATOR, options.task, options.run)
    rows = {table.name: plain(table.frame.to_dict("records")) for table in tables}
    report(options, rows, [tables_markdown(tables)])
