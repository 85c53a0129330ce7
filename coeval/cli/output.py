"""``python -m coeval stats`` and ``tables``."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coeval.study.access import OPERATOR, Context

HEAD = ("", "alpha, ordinal", "95% interval", "same score", "units", "scores", "people")
NAME = 44


def add_output(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    stats = commands.add_parser("stats", parents=[task], help="agreement, actions, time and more")
    stats.add_argument("--json", action="store_true", help="everything, as one JSON document")
    stats.add_argument(
        "--version", type=int, default=0, metavar="N", help="of the criteria (default: the newest)"
    )
    stats.add_argument(
        "--arm", default="", help="scores of one arm alone, such as assisted or blind (default: all)"
    )
    stats.add_argument(
        "--planted",
        choices=["in", "out"],
        default="in",
        help="scores of drafts with planted errors: counted, or left out",
    )
    stats.set_defaults(command=_stats)
    tables = commands.add_parser(
        "tables", parents=[task], help="the paper's tables, and those a reviewer asks for beside them"
    )
    tables.add_argument("--format", default="md", choices=["csv", "md", "latex"])
    tables.add_argument("--out", type=Path, metavar="DIR", help="a file each, rather than all on stdout")
    tables.set_defaults(command=_tables)


def _stats(context: Context, options: argparse.Namespace) -> None:
    from coeval.stats.basis import Basis
    from coeval.study.statistics import get_report, use_two_processors

    use_two_processors(context)
    basis = Basis(options.version, options.arm, options.planted == "in")
    report = get_report(context, OPERATOR, options.task, basis)
    if not options.json:
        print(render_stats(report, _name_basis(options)))
        return
    json.dump(report, sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
    print()


def _tables(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.statistics import get_table_files, use_two_processors

    use_two_processors(context)
    files = get_table_files(context, OPERATOR, options.task, options.format)
    if options.out is None:
        print("\n".join(files.values()))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.out / name).write_text(text, encoding="utf-8")
        print(options.out / name)


def _name_basis(options: argparse.Namespace) -> str:
    """Which scores were asked for, in words; "" where it is all of them."""
    version = f"criteria version {options.version}" if options.version else ""
    arm = f"{options.arm} scores" if options.arm else ""
    planted = "planted errors left out" if options.planted == "out" else ""
    return ", ".join(part for part in (version, arm, planted) if part)


def render_stats(report: Mapping[str, Any], basis: str = "") -> str:
    """The report's numbers of agreement as an aligned table, then its notes; ``basis`` names the scores under it."""
    rows = [HEAD, *_rows(report["agreement"])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = [_line(row, widths) for row in rows]
    width = min(100, shutil.get_terminal_size().columns)
    notes = [
        textwrap.fill(note, width, initial_indent="- ", subsequent_indent="  ") for note in report["notes"]
    ]
    more = "All numbers: stats --json. The tables of a paper: tables."
    title = f"{report['task']}: {report['units']:,} units, {report['annotators']:,} people"
    title += f" ({basis})" if basis else ""
    return "\n".join((title, "", *lines, "", *notes, "", more))


def _rows(agreement: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for part in agreement["per_criterion"]:
        yield _row(part["criterion"], part, part["humans"]["ordinal"])
    headline = agreement["headline"]
    yield _row(f"Mean over criteria ({headline['scores']})", headline, headline["value"])


def _row(name: str, part: Mapping[str, Any], alpha: float | None) -> tuple[str, ...]:
    low, high = part.get("ci_low"), part.get("ci_high")
    same = part.get("percent")
    same = same.get("value") if isinstance(same, Mapping) else same
    return (
        textwrap.shorten(name, NAME, placeholder="…"),
        _number(alpha),
        "" if low is None or high is None else f"[{_number(low)}, {_number(high)}]",
        "" if same is None else f"{same:.0%}",
        *(_count(part.get(key)) for key in ("n_units", "n_ratings", "n_annotators")),
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    first, *others = zip(row, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()
