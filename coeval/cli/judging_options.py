"""The options of a run that commands share, and the settings that they make."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.errors import InputError

if TYPE_CHECKING:
    from coeval.study.drafting.run_settings import RunSettings


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Everything that says how a run judges."""
    parser.add_argument("--model", default="")
    parser.add_argument("--protocol", default="coeval")
    parser.add_argument("--samples", type=int, metavar="N", help="answers to average")
    parser.add_argument("--logprobs", action="store_true", help="the expected score from log-probabilities")
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--top-p", type=float)
    parser.add_argument("--max-tokens", type=int, metavar="N", help="most tokens of an answer")
    parser.add_argument("--reasoning-effort", default="", metavar="LEVEL", help="for reasoning models")
    parser.add_argument("--persona", default="")
    parser.add_argument("--reference", action="store_true", help="show the judge each instance's reference")
    parser.add_argument(
        "--templates", default="", metavar="DIR", help="a folder with your copies of templates"
    )
    parser.add_argument("--label", default="", help="what the run is called (default: model and protocol)")
    parser.add_argument("--limit", type=int, metavar="N", help="make at most N drafts now")
    parser.add_argument("--steps", action="store_true", help="give evaluation steps (auto-CoT)")
    parser.add_argument("--plan", type=Path, metavar="FILE", help="fusion: the plan (default: a drafted one)")
    parser.add_argument(
        "--assistants", nargs="+", default=[], metavar="NAME|column:low:high", help="fusion: which"
    )
    parser.add_argument("--ablation", action="store_true", help="fusion: the same without assistants")
    parser.add_argument("--retry-unscored", action="store_true", help="send unscored drafts again")


def read_judging_options(options: argparse.Namespace) -> RunSettings:
    """The settings that these options make.

    Raises:
        InputError: the plan cannot be read.
    """
    from coeval.study.drafting.run_settings import RunSettings

    return RunSettings(
        model=options.model,
        protocol=options.protocol,
        samples=options.samples,
        temperature=options.temperature,
        top_p=options.top_p,
        max_tokens=options.max_tokens,
        reasoning_effort=options.reasoning_effort,
        persona=options.persona,
        logprobs=options.logprobs,
        reference=options.reference,
        templates=options.templates,
        label=options.label,
        limit=options.limit,
        retry_unscored=options.retry_unscored,
        steps=options.steps,
        plan=_read_plan(options.plan),
        assistants=tuple(options.assistants),
        ablation=options.ablation,
    )


def _read_plan(path: Path | None) -> str:
    try:
        return path.read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a plan: {error}.") from error
