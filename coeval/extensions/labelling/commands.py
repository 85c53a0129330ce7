"""``python -m coeval labelling``: corrected judge scores and sampling designs."""

from __future__ import annotations

import argparse

from coeval.cli.results import Parsers, report
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_statistic


def add_labelling(parsers: Parsers) -> None:
    command = parsers.commands.add_parser(
        "labelling", help="get more precise estimates from few human labels"
    )
    kinds = command.add_subparsers(required=True, metavar="WHAT")
    corrected = kinds.add_parser(
        "corrected", parents=[parsers.task_reported],
        help="correct each system's mean judge score, using the judge's errors on labelled items",
    )  # fmt: skip
    corrected.add_argument(
        "--cut",
        type=float,
        metavar="SCORE",
        help="estimate the share of scores at or above SCORE (default: estimate the mean)",
    )
    corrected.add_argument(
        "--run", default="", metavar="LABEL", help="run of the judge (default: the run that annotators see)"
    )
    corrected.set_defaults(command=_correct, only_reads=True)
    design = kinds.add_parser(
        "design", parents=[parsers.task_reported],
        help="draw instances for people with known probabilities, and weight the means accordingly",
    )  # fmt: skip
    which = design.add_mutually_exclusive_group()
    which.add_argument("--draw", choices=("uniform", "active"), help="create a design of this kind")
    which.add_argument(
        "--end", action="store_true", help="end the design, so that everybody gets all instances again"
    )
    design.add_argument("--labels", type=int, default=100, help="number of instances to draw (default: 100)")
    design.set_defaults(command=_design)


def _design(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.labelling.design import end_design, get_labelling, make_design, tell_labelling
    from coeval.stats.estimates import spell

    if options.draw:
        make_design(context, OPERATOR, options.task, options.draw, options.labels)
    if options.end:
        end_design(context, OPERATOR, options.task)
    labelling = get_labelling(context, OPERATOR, options.task)
    report(options, spell(labelling) if options.json else labelling, tell_labelling(labelling))


def _correct(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.labelling.study_units import CorrectSystems, tell_systems
    from coeval.stats.estimates import spell

    corrected = get_statistic(context, OPERATOR, options.task, CorrectSystems(options.cut, options.run))
    report(options, spell(corrected) if options.json else corrected, tell_systems(corrected))
