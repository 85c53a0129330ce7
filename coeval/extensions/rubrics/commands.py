"""``python -m coeval rubrics``: draft, judge, report and test criteria of single instances."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import fields
from typing import TYPE_CHECKING

from coeval.cli.results import Parsers, add_item_options, read_given, report, report_items
from coeval.errors import InputError
from coeval.usecases.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.extensions.rubrics.questions import RubricsRun

EPILOG = "Exit codes: 0 every limit met, 3 a limit missed, 4 undecided, 1 error, 2 wrong options."


def add_rubrics(parsers: Parsers) -> None:
    rubrics = parsers.commands.add_parser(
        "rubrics", help="draft, judge and test criteria of single instances (as in HealthBench)"
    )
    kinds = rubrics.add_subparsers(required=True, metavar="draft|judge|show|status|report|gate")
    draft = kinds.add_parser(
        "draft",
        parents=[parsers.task_reported],
        help="have a model write criteria for instances that have none",
    )
    draft.add_argument("--count", type=int, metavar="N", help="criteria per instance (default: 8)")
    draft.set_defaults(command=_draft)
    judge = kinds.add_parser(
        "judge", parents=[parsers.task_reported], help="have a model judge every instance on its own criteria"
    )
    judge.add_argument(
        "--way",
        choices=("instance", "criterion"),
        help="scope of one question (default: instance, with all its criteria)",
    )
    judge.add_argument(
        "--show",
        action="store_true",
        help="show these judgments to annotators (automatic for the first run)",
    )
    judge.set_defaults(command=_judge)
    for run in (draft, judge):
        add_item_options(run)
        run.add_argument("--reference", action="store_true", help="show the model each instance's reference")
    show = kinds.add_parser("show", parents=[parsers.task_reported], help="show another run to annotators")
    show.add_argument("--run", required=True, metavar="LABEL", help="run to show to annotators")
    show.set_defaults(command=_show)
    status = kinds.add_parser("status", parents=[parsers.task_reported], help="count criteria and list runs")
    status.set_defaults(command=_status)
    figures = kinds.add_parser(
        "report",
        parents=[parsers.task_reported],
        help=("report agreement, scores and changes, overall and for each axis"),
    )
    figures.add_argument(
        "--run", default="", metavar="LABEL", help="run to compare with people (default: the shown run)"
    )
    figures.set_defaults(command=_report)
    _add_gate(kinds, parsers)


def _add_gate(kinds: argparse._SubParsersAction, parsers: Parsers) -> None:
    gate = kinds.add_parser(
        "gate", parents=[parsers.task_reported], epilog=EPILOG,
        help="test agreement, the score and the share of unscored criteria against limits",
    )  # fmt: skip
    gate.add_argument("--run", default="", metavar="LABEL", help="run to test (default: the shown run)")
    gate.add_argument(
        "--min-f1", type=float, metavar="X", help=("lowest accepted macro-F1 of the judge against people")
    )
    gate.add_argument("--min-alpha", type=float, metavar="X", help="lowest accepted alpha of people")
    gate.add_argument(
        "--min-score", type=float, metavar="X", help=("lowest accepted score by the judge, 0 to 1")
    )
    gate.add_argument(
        "--max-unscored", type=float, default=0.05, metavar="X",
        help="largest share of criteria without a judgment (default: 0.05)",
    )  # fmt: skip
    gate.set_defaults(command=_gate)


def _read_settings(options: argparse.Namespace) -> RubricsRun:
    from coeval.extensions.rubrics.questions import RubricsRun

    return RubricsRun(**read_given(options, [member.name for member in fields(RubricsRun)]))


def _draft(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.drafting import draft_rubrics

    report_items(
        options, asyncio.run(draft_rubrics(context, OPERATOR, options.task, _read_settings(options)))
    )


def _judge(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.drafting import judge_rubrics

    report_items(
        options, asyncio.run(judge_rubrics(context, OPERATOR, options.task, _read_settings(options)))
    )


def _show(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.drafting import show_rubrics_run

    run = show_rubrics_run(context, OPERATOR, options.task, options.run)
    report(options, {"shown": run.label}, [f"Annotators now see the judgments of “{run.label}”."])


def _status(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.drafting import list_rubrics_runs
    from coeval.extensions.rubrics.reviews import count_criteria

    counts = count_criteria(context, OPERATOR, options.task)
    runs = [
        {"label": run.label, "kind": run.kind, "model": run.model, "way": run.way, "shown": shown}
        for run, shown in list_rubrics_runs(context, OPERATOR, options.task)
    ]
    lines = [
        f"{counts['with_criteria']:,} of {counts['instances']:,} instances have {counts['criteria']:,} criteria."
    ]
    lines += [
        f"{run['label']}: {run['kind']}{' (shown to annotators)' if run['shown'] else ''}" for run in runs
    ]
    report(options, counts | {"runs": runs}, lines)


def _report(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.reports import get_rubrics_report
    from coeval.extensions.rubrics.statistics import tell_report
    from coeval.stats.estimates import spell

    figures = get_rubrics_report(context, OPERATOR, options.task, options.run)
    report(options, spell(figures) if options.json else figures, tell_report(figures))


def _gate(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.reports import (
        EXIT_CODES,
        check_figure,
        check_share,
        get_rubrics_report,
        outcome_of,
    )

    figures = get_rubrics_report(context, OPERATOR, options.task, options.run)
    asked = (
        ("macro-F1", figures.overall.macro_f1, options.min_f1),
        ("alpha of people", figures.overall.alpha, options.min_alpha),
        ("score by the judge", figures.judge_score, options.min_score),
    )
    for name, _, least in asked:
        if least is not None and not -1 <= least <= 1:
            raise InputError(f"The lowest accepted {name} is {least:g}: give a number from -1 to 1.")
    findings = [check_figure(name, figure, least) for name, figure, least in asked if least is not None]
    if not findings:
        raise InputError("The gate has nothing to test: give --min-f1, --min-alpha or --min-score.")
    if not figures.judge and (options.min_f1 is not None or options.min_score is not None):
        raise InputError("No judge has judged this task: run “rubrics judge” first.")
    if figures.judge:
        findings.append(
            check_share("criteria unscored", figures.unscored, figures.n_criteria, options.max_unscored)
        )
    outcome = outcome_of(findings)
    report(options, {"outcome": outcome, "findings": findings}, [*findings, f"The gate: {outcome}"])
    sys.stdout.flush()
    if code := EXIT_CODES[outcome]:
        raise SystemExit(code)
