"""``python -m coeval plan``."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import fields
from typing import TYPE_CHECKING

from coeval.domain.studies import Measure, StoppingRule
from coeval.study.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.stats.planning.pilot import Assumed

SPREADS = (
    "systems",
    "criteria",
    "people",
    "document",
    "system",
    "criterion",
    "person",
    "noise",
    "low",
    "high",
)
COUNTS = ("systems", "criteria", "people", "low", "high")


def add_plan(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    command = commands.add_parser("plan", parents=[task], help="how many documents and people a study needs")
    command.add_argument(
        "--width", type=float, default=0.05, help="alpha to plus or minus this (default .05)"
    )
    command.add_argument(
        "--points", type=float, default=0.3, help="a difference of two systems, in points (default .3)"
    )
    command.add_argument("--phi", type=float, default=0.8, help="a dependable mean of people (default .8)")
    command.add_argument(
        "--assume", nargs="*", metavar="NAME=VALUE",
        help=f"plan without scores, from counts and spreads in points: {', '.join(SPREADS)}",
    )  # fmt: skip
    command.add_argument(
        "--declare", choices=[str(one) for one in Measure], help="declare when it is enough: alpha to --width, or"
        " a difference of --systems to --points",
    )  # fmt: skip
    command.add_argument("--systems", nargs=2, default=("", ""), metavar=("A", "B"))
    command.add_argument(
        "--documents", type=int, default=50, help="how many documents are planned (default 50)"
    )
    command.add_argument("--json", action="store_true", help="one JSON document on stdout")
    command.set_defaults(command=_plan)


def _plan(context: Context, options: argparse.Namespace) -> None:
    from coeval.stats import plain
    from coeval.stats.planning.plan import Wanted
    from coeval.stats.planning.words import tell_plan, tell_progress
    from coeval.study import planning

    if options.declare:
        measure = Measure(options.declare)
        width = options.width if measure is Measure.ALPHA else options.points
        rule = StoppingRule(measure, width, options.documents, *options.systems)
        planning.declare_rule(context, OPERATOR, options.task, rule)
    wanted = Wanted(options.width, options.points, options.phi)
    assumed = None if options.assume is None else read_assumed(options.assume)
    known = planning.get_planning(context, OPERATOR, options.task, wanted, assumed)
    if options.json:
        json.dump(plain(known), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
        print()
        return
    for line in tell_plan(known.plan):
        print(line)
    for line in tell_progress(known.progress, known.rules):
        print(line)


def read_assumed(pairs: list[str]) -> Assumed:
    """``["people=5", "noise=.8"]`` as assumptions.

    Raises:
        InputError: a name that is none of them, or a value that is no number.
    """
    from coeval.cli.importing import read_mapping
    from coeval.errors import InputError
    from coeval.stats.planning.pilot import Assumed

    values: dict[str, float] = {}
    known = {field.name for field in fields(Assumed)}
    for name, text in read_mapping(pairs).items():
        if name not in known:
            raise InputError(f"“{name}” cannot be assumed; the names are {', '.join(SPREADS)}.")
        try:
            values[name] = int(text) if name in COUNTS else float(text)
        except ValueError as error:
            kind = "a whole number" if name in COUNTS else "a number"
            raise InputError(
                f"“{text}” is not {kind}: write {name}={3 if name in COUNTS else 0.5}."
            ) from error
    return Assumed(**values)  # type: ignore[arg-type]
