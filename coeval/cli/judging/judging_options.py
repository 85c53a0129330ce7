"""The options of a run that commands share, and the settings that they make."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.errors import InputError
from coeval.llm.presets.registry import PRESETS, get_preset

if TYPE_CHECKING:
    from coeval.study.drafting.run_settings import RunSettings


def add_preset_option(parser: argparse.ArgumentParser) -> None:
    """A published way to judge, in one word."""
    parser.add_argument(
        "--preset", choices=list(PRESETS), help="settings of a publication; options given beside it win"
    )


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Everything that says how a run judges. What is not given is None, so that a preset can say it."""
    add = parser.add_argument
    flag: dict[str, Any] = {"action": "store_true", "default": None}
    add_preset_option(parser)
    add("--model")
    add("--protocol", help="how the model is asked (default: coeval)")
    add("--samples", type=int, metavar="N", help="answers to average")
    add("--logprobs", help="the expected score from log-probabilities", **flag)
    add("--temperature", type=float)
    add("--top-p", type=float)
    add("--max-tokens", type=int, metavar="N", help="most tokens of an answer")
    add("--reasoning-effort", metavar="LEVEL", help="for reasoning models")
    add("--persona")
    add(
        "--criteria-per-call",
        type=_read_number_of_criteria,
        metavar="all|N",
        help="criteria in one question (default: 1; see draft compare for what it does to scores)",
    )
    add("--reference", help="show the judge each instance's reference", **flag)
    add("--templates", metavar="DIR", help="a folder with your copies of templates, or a wording of ours")
    add("--label", help="what the run is called (default: model and protocol)")
    add("--limit", type=int, metavar="N", help="make at most N drafts now")
    add("--pilot", type=int, metavar="N", help="only N instances now, spread over the task")
    add("--steps", help="give evaluation steps (auto-CoT)", **flag)
    add("--plan", type=Path, metavar="FILE", help="fusion: the plan (default: a drafted one)")
    add("--assistants", nargs="+", metavar="NAME|column:low:high", help="fusion: which")
    add("--ablation", help="fusion: the same without assistants", **flag)
    add("--retry-unscored", help="send unscored drafts again", **flag)


def read_judging_options(options: argparse.Namespace) -> RunSettings:
    """The settings that these options make: what is given, then what the preset says, then the defaults.

    Raises:
        InputError: the plan cannot be read.
    """
    from coeval.study.drafting.run_settings import RunSettings

    given = read_given(options, [member.name for member in fields(RunSettings)])
    if "plan" in given:
        given["plan"] = _read_plan(options.plan)
    if "assistants" in given:
        given["assistants"] = tuple(options.assistants)
    values: dict[str, Any] = dict(get_preset(options.preset).settings) if options.preset else {}
    return RunSettings(**(values | given))


def read_given(options: argparse.Namespace, names: list[str]) -> dict[str, Any]:
    """The options of these names that the command was given."""
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _read_number_of_criteria(text: str) -> int:
    if text == "all":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is neither “all” nor a number of criteria from 1")
    return int(text)


def _read_plan(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a plan: {error}.") from error
