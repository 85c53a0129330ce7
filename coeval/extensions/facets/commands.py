"""``python -m coeval facets``: the ruler and the connectivity check."""

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
    ruler.add_argument(
        "--partial-credit",
        action="store_true",
        help="estimate thresholds for each criterion (default: shared thresholds)",
    )
    ruler.set_defaults(command=_ruler, only_reads=True)
    links = kinds.add_parser(
        "links",
        parents=[parsers.task_reported],
        help="check, before people score, that shared work connects all of them",
    )
    links.set_defaults(command=_links, only_reads=True)


def _ruler(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.facets.ruler import FitRuler, tell_ruler
    from coeval.stats.estimates import spell

    found = get_statistic(context, OPERATOR, options.task, FitRuler(options.partial_credit))
    report(options, spell(found) if options.json else found, tell_ruler(found))


def _links(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.facets.links import get_links, tell_links

    found = get_links(context, OPERATOR, options.task)
    report(options, found, tell_links(found))
