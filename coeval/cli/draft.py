"""``python -m coeval draft criteria|evaluations`` and ``batch write|read``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.cli.results import (
    add_judging_options,
    add_preset_option,
    add_price_options,
    read_given,
    read_judging_options,
    read_prices,
    report,
)
from coeval.llm.prompting.presets import get_preset
from coeval.usecases.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.llm.running.progress import Progress
    from coeval.usecases.drafting.run_settings import RunSettings


def add_draft(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    draft = commands.add_parser("draft", help="have a model draft criteria or evaluations")
    kinds = draft.add_subparsers(required=True, metavar="criteria|evaluations")
    rounds = kinds.add_parser("criteria", parents=[task], help="propose criteria and open the vote on them")
    add_preset_option(rounds)
    rounds.add_argument("--model", help="model to use (default: the server's)")
    rounds.add_argument("--count", type=int, metavar="N", help="number of criteria (default: 5)")
    rounds.add_argument(
        "--examples", type=int, metavar="N", help="number of instances to show the model (default: 0)"
    )
    rounds.add_argument("--temperature", type=float, help="sampling temperature")
    rounds.add_argument("--top-p", type=float, help="nucleus sampling threshold")
    rounds.add_argument("--max-tokens", type=int, metavar="N", help="longest answer, in tokens")
    rounds.add_argument(
        "--templates",
        metavar="DIR",
        help="folder with your copy of criteria.md, or the name of a built-in set",
    )
    rounds.set_defaults(command=_draft_criteria)
    evaluations = kinds.add_parser(
        "evaluations", parents=[task], help="evaluate every instance on every criterion"
    )
    _add_run_options(evaluations)
    evaluations.add_argument("--estimate", action="store_true", help="print the estimated cost and stop")
    evaluations.add_argument(
        "--show-prompt",
        nargs="?",
        const="",
        metavar="INSTANCE",
        help="print the prompt for an instance (default: the first) and stop",
    )
    evaluations.add_argument(
        "--criterion",
        type=int,
        default=1,
        metavar="N",
        help="criterion whose prompt to show (with --show-prompt)",
    )
    evaluations.set_defaults(command=_draft_evaluations)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    add_judging_options(parser)
    parser.add_argument(
        "--concurrency", type=int, default=0, metavar="N", help="number of simultaneous requests"
    )
    add_price_options(parser)
    parser.add_argument("--replay", action="store_true", help="use only saved answers and send no requests")


def _read_run_options(options: argparse.Namespace) -> RunSettings:
    settings = replace(
        read_judging_options(options),
        concurrency=options.concurrency,
        prices=read_prices(options),
        replay=options.replay,
    )
    for doubt in settings.doubts:
        print(f"Warning: {doubt}", file=sys.stderr)
    return settings


def _draft_criteria(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.drafting.model_requests import draft_criteria

    names = ["model", "count", "examples", "temperature", "top_p", "max_tokens", "templates"]
    preset = get_preset(options.preset).ideation if options.preset else {}
    values: dict[str, Any] = {**preset, **read_given(options, names)}
    drafted = asyncio.run(draft_criteria(context, OPERATOR, options.task, **values))
    report(options, drafted.proposals, [proposal.text for proposal in drafted.proposals])
    if (opened := drafted.opened) is None:
        told = "kept as suggestions on the Criteria tab: a vote is open, or the criteria are final by now"
    else:
        told = f"version {opened.version}, round {opened.round}: open for votes"
    print(told, file=sys.stderr)


def _draft_evaluations(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.drafting import execution, preparation
    from coeval.usecases.drafting.model_requests import suggest_decisions

    settings = _read_run_options(options)
    if options.show_prompt is not None:
        where = {"instance": options.show_prompt, "criterion": options.criterion}
        print(preparation.show_question(context, OPERATOR, options.task, settings, **where))
        return
    if (
        not options.protocol
        and not options.preset
        and (advice := suggest_decisions(context, OPERATOR, settings))
    ):
        print(advice, file=sys.stderr)
    if options.estimate:
        estimate = preparation.estimate_run(context, OPERATOR, options.task, settings)
        report(options, estimate, [estimate])
        return
    show = show_progress()
    made = asyncio.run(execution.run_drafting(context, OPERATOR, options.task, settings, on_progress=show))
    report(options, made, [made])
    if made.unscored:
        print("To send the unscored drafts again, add --retry-unscored to the command.", file=sys.stderr)
    if not made.complete:
        raise SystemExit(1)


def show_progress() -> Callable[[Progress], None]:
    """Return a function that shows progress in a terminal, and elsewhere a line for each wait of the run."""
    told = ""

    def show_all(progress: Progress) -> None:
        print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)

    def show_waits(progress: Progress) -> None:
        nonlocal told
        if progress.waiting and progress.waiting != told:
            told = progress.waiting
            print(told, file=sys.stderr, flush=True)

    return show_all if sys.stderr.isatty() else show_waits


def add_batch(
    commands: argparse._SubParsersAction, task: argparse.ArgumentParser, common: argparse.ArgumentParser
) -> None:
    batch = commands.add_parser(
        "batch", help="draft through a batch service, with files in OpenAI's batch format"
    )
    kinds = batch.add_subparsers(required=True, metavar="write|read")
    write = kinds.add_parser(
        "write", parents=[task], help="write a run's unanswered questions to batch files"
    )
    write.add_argument("--out", required=True, type=Path, metavar="F.jsonl", help="file to write")
    add_judging_options(write)
    write.add_argument(
        "--again",
        action="store_true",
        help="ask questions with unreadable answers again, as new attempts",
    )
    write.set_defaults(command=_batch_write)
    read = kinds.add_parser(
        "read", parents=[common], help="read result files and store their answers as drafts"
    )
    read.add_argument(
        "paths", nargs="+", type=Path, metavar="F.jsonl", help="result files of the batch service"
    )
    add_price_options(read)
    read.set_defaults(command=_batch_read)


def _batch_write(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.drafting import batch_files

    settings = read_judging_options(options)
    if options.again:
        settings = replace(settings, retry_unscored=True)
    written = asyncio.run(batch_files.write_questions(context, OPERATOR, options.task, settings, options.out))
    report(options, {"paths": written.batch.paths, "questions": written.written}, written.batch.paths)
    print(written, file=sys.stderr)


def _batch_read(context: Context, options: argparse.Namespace) -> None:
    from coeval.usecases.drafting import batch_files

    results = asyncio.run(batch_files.read_results(context, OPERATOR, options.paths, read_prices(options)))
    for line in results.bad_lines:
        print(line, file=sys.stderr)
    report(options, results, [results])
    if results.unreadable or results.failed or results.refused:
        raise SystemExit(1)
