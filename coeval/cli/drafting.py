"""``python -m coeval draft criteria|evaluations``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from coeval.errors import InputError
from coeval.study.access import OPERATOR, Context


def add_draft(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    draft = commands.add_parser("draft", help="have a model draft criteria or evaluations")
    kinds = draft.add_subparsers(required=True, metavar="criteria|evaluations")
    rounds = kinds.add_parser("criteria", parents=[task], help="propose criteria and open the vote on them")
    rounds.add_argument("--model", default="")
    rounds.add_argument("--samples", type=int, default=1, metavar="N", help="how often to ask")
    rounds.set_defaults(command=_draft_criteria)
    one = kinds.add_parser("evaluations", parents=[task], help="evaluate every instance by every criterion")
    one.add_argument("--model", default="")
    one.add_argument("--protocol", default="coeval")
    one.add_argument("--samples", type=int, metavar="N", help="answers to average")
    one.add_argument("--logprobs", action="store_true", help="the expected score from log-probabilities")
    one.add_argument("--temperature", type=float)
    one.add_argument("--persona", default="")
    one.add_argument("--label", default="", help="what the run is called (default: model and protocol)")
    one.add_argument("--concurrency", type=int, default=0, metavar="N")
    one.add_argument("--limit", type=int, metavar="N", help="make at most N drafts now")
    one.add_argument("--price-in", type=float, default=0.0, help="price of a million prompt tokens")
    one.add_argument("--price-out", type=float, default=0.0, help="price of a million answer tokens")
    one.add_argument("--steps", action="store_true", help="write and give evaluation steps (auto-CoT)")
    one.add_argument(
        "--plan", type=Path, metavar="FILE", help="fusion: the plan to follow (default: a drafted one)"
    )
    one.add_argument(
        "--assistants", nargs="+", default=[], metavar="NAME|column:low:high", help="fusion: which"
    )
    one.add_argument("--ablation", action="store_true", help="fusion: the same without assistants")
    one.add_argument("--retry-unscored", action="store_true", help="send unscored drafts again")
    one.add_argument("--replay", action="store_true", help="answer from the ledger alone, without network")
    one.add_argument("--estimate", action="store_true", help="say what it would take, and stop")
    one.set_defaults(command=_draft_evaluations)


def _draft_criteria(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.criteria import rounds
    from coeval.study.drafting.proposing import draft_criteria

    proposals = asyncio.run(
        draft_criteria(context, OPERATOR, options.task, model=options.model, samples=options.samples)
    )
    state = rounds.open_round(context, OPERATOR, options.task, proposals)
    for proposal in state.proposals:
        print(f"{proposal.support} of {proposal.samples}\t{proposal.text}")
    print(f"version {state.version}, round {state.round}: open for votes", file=sys.stderr)


def _draft_evaluations(context: Context, options: argparse.Namespace) -> None:
    from coeval.llm.running.ledger import Prices
    from coeval.study.drafting import estimating, execution
    from coeval.study.drafting.run_settings import RunSettings

    settings = RunSettings(
        model=options.model,
        protocol=options.protocol,
        samples=options.samples,
        temperature=options.temperature,
        persona=options.persona,
        logprobs=options.logprobs,
        label=options.label,
        concurrency=options.concurrency,
        limit=options.limit,
        prices=Prices(options.price_in, options.price_out),
        retry_unscored=options.retry_unscored,
        replay=options.replay,
        steps=options.steps,
        plan=_read_plan(options.plan),
        assistants=tuple(options.assistants),
        ablation=options.ablation,
    )
    if options.estimate:
        print(estimating.estimate_run(context, OPERATOR, options.task, settings))
        return
    show = _show_progress if sys.stderr.isatty() else None
    report = asyncio.run(execution.run_drafting(context, OPERATOR, options.task, settings, on_progress=show))
    print(report)
    if not report.complete:
        raise SystemExit(1)


def _read_plan(path: Path | None) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a plan: {error}.") from error


def _show_progress(progress: object) -> None:
    print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)
