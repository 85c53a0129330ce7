"""``python -m coeval stats``, ``tables`` and ``plan``: the results of a study, and the number of scores that
it needs.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coeval.cli.results import add_asked_again_option, print_json, report
from coeval.domain.studies import StoppingRule
from coeval.usecases.access import OPERATOR, Context

# ``python -m coeval stats`` and ``tables``.


def add_output(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    stats = commands.add_parser("stats", parents=[task], help="report agreement, actions, time and more")
    stats.add_argument("--json", action="store_true", help="print everything as one JSON document")
    stats.add_argument(
        "--version", type=int, default=0, metavar="N", help="version of the criteria set (default: newest)"
    )
    stats.add_argument(
        "--unaided", action="store_true", help="use only scores without a draft's influence (blind and first)"
    )
    add_asked_again_option(stats)
    stats.set_defaults(command=_stats, only_reads=True)
    tables = commands.add_parser("tables", parents=[task], help="write tables for a paper and its reviewers")
    tables.add_argument(
        "--format", default="md", choices=["csv", "md", "latex"], help="table format (default: md)"
    )
    tables.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the files, one per table (default: print the tables)",
    )
    tables.add_argument("--json", action="store_true", help="print the tables as JSON, by file name")
    tables.set_defaults(command=_tables, only_reads=True)


def _stats(context: Context, options: argparse.Namespace) -> None:
    from coeval.stats.basis import Basis
    from coeval.usecases.reports.statistics import get_report

    basis = Basis(options.version, options.unaided, options.asked_again == "in")
    document = get_report(context, OPERATOR, options.task, basis)
    if options.json:
        print_json(document)
    else:
        print(render_stats(document, _name_basis(options)))


def _tables(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.reports.statistics import get_table_files

    files = get_table_files(context, OPERATOR, options.task, options.format)
    if options.out is None:
        report(options, files, ["\n".join(files.values())])
        return
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.out / name).write_text(text, encoding="utf-8")
    paths = [options.out / name for name in files]
    report(options, {"paths": paths}, paths)


def _name_basis(options: argparse.Namespace) -> str:
    """Describe the requested scores in words; return "" for all scores."""
    version = f"criteria version {options.version}" if options.version else ""
    unaided = "blind and first scores" if options.unaided else ""
    again = "scores from asking again counted" if options.asked_again == "in" else ""
    return ", ".join(part for part in (version, unaided, again) if part)


def render_stats(report: Mapping[str, Any], basis: str = "") -> str:
    """Return the report's agreement figures as a table, then its notes; ``basis`` describes the scores."""
    from coeval.stats.report.tables import make_table, tables_markdown

    headline = report["agreement"]["headline"]
    rows = [
        {**part, "alpha": part["humans"]["ordinal"], "same_score": part["percent"]["value"]}
        for part in report["agreement"]["per_criterion"]
    ]
    mean = {**headline, "criterion": f"Mean over criteria ({headline['scores']})", "alpha": headline["value"]}
    title = f"{report['task']}: {report['units']:,} units, {report['annotators']:,} people"
    table = make_table(
        "agreement",
        title + (f" ({basis})" if basis else ""),
        "Ordinal alpha with its 95% interval, and percent agreement.",
        [*rows, mean],
        ("criterion", "alpha", "ci_low", "ci_high", "same_score", "n_units", "n_ratings", "n_annotators"),
    )
    width = min(100, shutil.get_terminal_size().columns)
    notes = [
        textwrap.fill(note, width, initial_indent="- ", subsequent_indent="  ") for note in report["notes"]
    ]
    more = "All numbers: stats --json. Tables for a paper: tables."
    return "\n".join((tables_markdown([table]), *notes, "", more))


# ``python -m coeval plan``.


def add_plan(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    command = commands.add_parser("plan", parents=[task], help="compute how many documents a study needs")
    command.add_argument(
        "--width", type=float, default=0.05, help="target half-width of alpha (default: .05)"
    )
    command.add_argument(
        "--points",
        type=float,
        default=0.3,
        help="difference between two systems to detect, in points (default: .3)",
    )
    command.add_argument(
        "--declare", nargs=2, metavar=("A", "B"),
        help="declare the stopping rule: stop when the difference of two systems is known (--points, --documents)",
    )  # fmt: skip
    command.add_argument(
        "--documents", type=int, default=50, help="planned number of documents (default: 50)"
    )
    command.add_argument("--json", action="store_true", help="print the result as one JSON document")
    command.set_defaults(command=_plan)


def _plan(context: Context, options: argparse.Namespace) -> None:
    from coeval.stats.plan import Wanted, tell_plan, tell_progress
    from coeval.usecases import planning

    if options.declare:
        rule = StoppingRule(options.points, options.documents, *options.declare)
        planning.declare_rule(context, OPERATOR, options.task, rule)
    plans = planning.get_planning(context, OPERATOR, options.task, Wanted(options.width, options.points))
    if options.json:
        print_json(plans)
        return
    for line in tell_plan(plans.plan):
        print(line)
    for line in tell_progress(plans.progress, plans.rules):
        print(line)
