"""``python -m coeval facets``: the ruler."""

from __future__ import annotations

import argparse

from coeval.cli.results import Parsers, report
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_statistic


def add_facets(parsers: Parsers) -> None:
    command = parsers.commands.add_parser("facets", help=("compare people, judges and systems on one scale"))
    kinds = command.add_subparsers(required=True, metavar="WHAT")
    ruler = kinds.add_parser(
        "ruler", parents=[parsers.task_reported],
        help="estimate fair means of systems and severities of people and judges (many-facet Rasch model)",
    )  # fmt: skip
    ruler.set_defaults(command=_ruler, only_reads=True)


def _ruler(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.facets.ruler import FitRuler, tell_ruler
    from coeval.stats.estimates import spell

    ruler = get_statistic(context, OPERATOR, options.task, FitRuler())
    report(options, spell(ruler) if options.json else ruler, tell_ruler(ruler))
