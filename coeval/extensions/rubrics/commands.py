"""``python -m coeval rubrics``: draft, judge, report and test criteria of single instances."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from coeval.cli.results import Parsers, report
from coeval.errors import InputError
from coeval.usecases.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.extensions.rubrics.drafting import RubricsRun, RunReport

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
    _add_run_options(draft)
    draft.add_argument("--count", type=int, default=8, metavar="N", help="criteria per instance (default: 8)")
    draft.set_defaults(command=_draft)
    judge = kinds.add_parser(
        "judge", parents=[parsers.task_reported], help="have a model judge every instance on its own criteria"
    )
    _add_run_options(judge)
    judge.add_argument(
        "--way", choices=("instance", "criterion"), default="instance",
        help="scope of one question (default: instance, with all its criteria)",
    )  # fmt: skip
    judge.add_argument("--retry-unscored", action="store_true", help="ask again if an answer was unreadable")
    judge.add_argument(
        "--show",
        action="store_true",
        help="show these judgments to annotators (automatic for the first run)",
    )
    judge.set_defaults(command=_judge)
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


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="", help="model to use (default: the server's)")
    parser.add_argument("--label", default="", help="label of the run (default: the model)")
    parser.add_argument("--temperature", type=float, help="sampling temperature")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="token limit per answer")
    parser.add_argument("--reference", action="store_true", help="show the model each instance's reference")
    parser.add_argument("--concurrency", type=int, metavar="N", help="number of simultaneous requests")


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


def _read_settings(options: argparse.Namespace, **more: Any) -> RubricsRun:
    from coeval.extensions.rubrics.drafting import RubricsRun

    if options.concurrency is not None and options.concurrency < 1:
        raise InputError(f"The concurrency is {options.concurrency}: give 1 or more.")
    return RubricsRun(
        model=options.model,
        label=options.label,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        reference=options.reference,
        concurrency=options.concurrency,
        **more,
    )


def _tell(options: argparse.Namespace, done: RunReport) -> None:
    usage = done.usage
    found = {
        "label": done.label, "questions": done.asked, "written": done.written, "unscored": done.unscored,
        "failed": done.failed, "calls": usage.calls, "from_ledger": usage.cached, "message": done.message,
        "forms": done.forms,
    }  # fmt: skip
    report(options, found, [done, f"{usage.calls:,} calls, {usage.cached:,} answers from the ledger"])
    if not done.complete:
        raise SystemExit(1)


def _draft(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.drafting import draft_rubrics

    settings = _read_settings(options, count=options.count)
    _tell(options, asyncio.run(draft_rubrics(context, OPERATOR, options.task, settings)))


def _judge(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.drafting import judge_rubrics

    settings = _read_settings(
        options, way=options.way, retry_unscored=options.retry_unscored, show=options.show
    )
    _tell(options, asyncio.run(judge_rubrics(context, OPERATOR, options.task, settings)))


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
        f"{one['label']}: {one['kind']}{' (shown to annotators)' if one['shown'] else ''}" for one in runs
    ]
    report(options, counts | {"runs": runs}, lines)


def _report(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.reports import get_rubrics_report
    from coeval.extensions.rubrics.statistics import tell_report
    from coeval.stats.estimates import spell

    found = get_rubrics_report(context, OPERATOR, options.task, options.run)
    report(options, spell(found) if options.json else found, tell_report(found))


def _gate(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.rubrics.gate import EXIT_CODES, check_figure, check_share, outcome_of
    from coeval.extensions.rubrics.reports import get_rubrics_report

    found = get_rubrics_report(context, OPERATOR, options.task, options.run)
    asked = (
        ("macro-F1", found.overall.macro_f1, options.min_f1),
        ("alpha of people", found.overall.alpha, options.min_alpha),
        ("score by the judge", found.judge_score, options.min_score),
    )
    for name, _, least in asked:
        if least is not None and not -1 <= least <= 1:
            raise InputError(f"The lowest accepted {name} is {least:g}: give a number from -1 to 1.")
    findings = [check_figure(name, figure, least) for name, figure, least in asked if least is not None]
    if not findings:
        raise InputError("The gate has nothing to test: give --min-f1, --min-alpha or --min-score.")
    if not found.judge and (options.min_f1 is not None or options.min_score is not None):
        raise InputError("No judge has judged this task: run “rubrics judge” first.")
    if found.judge:
        findings.append(
            check_share("criteria unscored", found.unscored, found.n_criteria, options.max_unscored)
        )
    outcome = outcome_of(findings)
    report(options, {"outcome": outcome, "findings": findings}, [*findings, f"The gate: {outcome}"])
    sys.stdout.flush()
    if code := EXIT_CODES[outcome]:
        raise SystemExit(code)
