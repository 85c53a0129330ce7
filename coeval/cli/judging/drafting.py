"""``python -m coeval draft criteria|evaluations|assistants``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coeval.cli.judging.judging_options import (
    add_judging_options,
    add_preset_option,
    read_given,
    read_judging_options,
)
from coeval.llm.presets.registry import get_preset
from coeval.study.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.study.drafting.run_settings import RunSettings


def add_draft(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    draft = commands.add_parser("draft", help="have a model draft criteria or evaluations")
    kinds = draft.add_subparsers(required=True, metavar="criteria|evaluations|compare|assistants")
    rounds = kinds.add_parser("criteria", parents=[task], help="propose criteria and open the vote on them")
    add_preset_option(rounds)
    rounds.add_argument("--model")
    rounds.add_argument("--samples", type=int, metavar="N", help="how often to ask (default: 1)")
    rounds.add_argument("--count", type=int, metavar="N", help="criteria to ask for each time (default: 5)")
    rounds.add_argument("--examples", type=int, metavar="N", help="instances to show the model (default: 0)")
    rounds.add_argument("--temperature", type=float)
    rounds.add_argument("--top-p", type=float)
    rounds.add_argument("--templates", metavar="DIR", help="a folder with your copy of criteria.md")
    rounds.set_defaults(command=_draft_criteria)
    evaluations = kinds.add_parser(
        "evaluations", parents=[task], help="evaluate every instance by every criterion"
    )
    _add_run_options(evaluations)
    evaluations.add_argument("--estimate", action="store_true", help="say what it would take, and stop")
    evaluations.add_argument(
        "--show-prompt",
        nargs="?",
        const="",
        metavar="INSTANCE",
        help="print the question about an instance (default: the first), and stop",
    )
    evaluations.add_argument(
        "--criterion", type=int, default=1, metavar="N", help="with --show-prompt: by which"
    )
    evaluations.set_defaults(command=_draft_evaluations)
    compared = kinds.add_parser(
        "compare",
        parents=[task],
        help="several criteria in one question beside one by one: both on a pilot, and what it does to scores",
    )
    _add_run_options(compared)
    compared.set_defaults(command=_compare_ways)
    followed = kinds.add_parser(
        "assistants", parents=[task], help="how closely a fused run follows each of its assistants"
    )
    followed.add_argument("--label", required=True, metavar="RUN")
    followed.set_defaults(command=_show_assistants)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    add_judging_options(parser)
    parser.add_argument("--concurrency", type=int, default=0, metavar="N")
    parser.add_argument("--price-in", type=float, default=0.0, help="price of a million prompt tokens")
    parser.add_argument("--price-out", type=float, default=0.0, help="price of a million answer tokens")
    parser.add_argument("--replay", action="store_true", help="answer from the ledger alone, without network")


def _read_run_options(options: argparse.Namespace) -> RunSettings:
    from coeval.llm.running.ledger import Prices

    settings = replace(
        read_judging_options(options),
        concurrency=options.concurrency,
        prices=Prices(options.price_in, options.price_out),
        replay=options.replay,
    )
    for doubt in settings.doubts:
        print(f"Warning: {doubt}", file=sys.stderr)
    return settings


def _draft_criteria(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.criteria import rounds
    from coeval.study.drafting.proposing import draft_criteria

    names = ["model", "samples", "count", "examples", "temperature", "top_p", "templates"]
    values = dict(get_preset(options.preset).ideation) if options.preset else {}
    given: dict[str, Any] = values | read_given(options, names)
    proposals = asyncio.run(draft_criteria(context, OPERATOR, options.task, **given))
    state = rounds.open_round(context, OPERATOR, options.task, proposals)
    for proposal in state.proposals:
        print(f"{proposal.support} of {proposal.samples}\t{proposal.text}")
    print(f"version {state.version}, round {state.round}: open for votes", file=sys.stderr)


def _draft_evaluations(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.drafting import execution
    from coeval.study.drafting.before import estimating, question_preview

    settings = _read_run_options(options)
    if options.show_prompt is not None:
        where = {"instance": options.show_prompt, "criterion": options.criterion}
        print(question_preview.show_question(context, OPERATOR, options.task, settings, **where))
        return
    if options.estimate:
        print(estimating.estimate_run(context, OPERATOR, options.task, settings))
        return
    show = _show_progress if sys.stderr.isatty() else None
    report = asyncio.run(execution.run_drafting(context, OPERATOR, options.task, settings, on_progress=show))
    print(report)
    if report.unscored:
        print("To send the unscored drafts again, add --retry-unscored to the command.", file=sys.stderr)
    if not report.complete:
        raise SystemExit(1)


def _compare_ways(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.drafting.before import comparing

    settings = _read_run_options(options)
    show = _show_progress if sys.stderr.isatty() else None
    reports = asyncio.run(comparing.run_pilot(context, OPERATOR, options.task, settings, on_progress=show))
    for report in reports:
        print(report, file=sys.stderr)
    print(comparing.compare_ways(context, OPERATOR, options.task, settings))
    if not all(report.complete for report in reports):
        raise SystemExit(1)


def _show_assistants(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.drafting.assistants import correlate_run

    columns = ("criterion", "assistant", "n", "pearson", "spearman", "kendall", "reason")
    print("\t".join(columns))
    for row in correlate_run(context, OPERATOR, options.task, options.label):
        cells = (row[name] for name in columns)
        print("\t".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells))


def _show_progress(progress: object) -> None:
    print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)
