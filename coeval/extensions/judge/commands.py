"""``python -m coeval judge run|gate|check|schema``: use a judge from its file. Other commands make the file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.cli.results import Parsers, add_price_options, build_reporting, print_json, read_prices
from coeval.extensions.judge.commands_study import add_making, write_whole

if TYPE_CHECKING:
    import pandas as pd

    from coeval.domain import Instance
    from coeval.extensions.judge.runtime.drift import Check
    from coeval.extensions.judge.runtime.judge import Asked, Judge

KINDS = "seal|learn|examples|wording|people|certify|take|audit|bridge|run|gate|check|schema"


def add_judge(parsers: Parsers) -> None:
    judge = parsers.commands.add_parser(
        "judge", help="make a judge.json from a study, score outputs with it, and gate releases"
    )
    kinds = judge.add_subparsers(required=True, metavar=KINDS)
    add_making(kinds, parsers.task)
    asking = _build_asking()
    inputs = _build_inputs()
    report = build_reporting()
    run = kinds.add_parser(
        "run", parents=[asking, inputs, report], help="score every output on every criterion"
    )
    run.add_argument("--out", type=Path, metavar="F.csv", help="file for the scores (default: stdout)")
    run.add_argument(
        "--write-batch",
        type=Path,
        metavar="F.jsonl",
        help="write the questions to a file for a batch service",
    )
    run.set_defaults(command=_run, opens_file=False)
    _add_gate(kinds, [asking, inputs, report])
    _add_check(kinds, [asking, report])
    schema = kinds.add_parser("schema", help="print the JSON Schema of judge.json")
    schema.set_defaults(command=_print_schema, opens_file=False)


def _add_gate(kinds: argparse._SubParsersAction, parents: list[argparse.ArgumentParser]) -> None:
    gate = kinds.add_parser(
        "gate",
        parents=parents,
        help="test whether a new system is no worse than an old one",
        epilog="Exit codes: 0 no worse, 3 regression, 4 undecided, 1 error, 2 wrong options.",
    )
    gate.add_argument(
        "--system", required=True, metavar="NEW", help="name of the new system in the column “system”"
    )
    gate.add_argument("--against", required=True, metavar="OLD", help="name of the old system")
    gate.add_argument(
        "--margin", type=float, default=-0.1, help="largest accepted loss in points (default: -0.1)"
    )
    gate.add_argument(
        "--min-n",
        type=int,
        default=50,
        metavar="N",
        help="minimum number of documents for a decision (default: 50)",
    )
    gate.add_argument(
        "--level", type=_read_level, default=0.05, help="significance level of the verdict (default: .05)"
    )
    gate.add_argument(
        "--threshold", type=float, metavar="SCORE",
        help="pass mark for counting verdicts that change between runs (default: the middle of the scale)",
    )  # fmt: skip
    gate.add_argument(
        "--labels",
        type=Path,
        metavar="F",
        help="table of people's scores for some outputs (columns: instance, criterion, score)",
    )
    gate.add_argument(
        "--across",
        type=Path,
        nargs=2,
        metavar=("BRIDGE.json", "SCORED.csv"),
        help="bridge from a retired judge (judge bridge --json), and its scores of the old system (judge run)",
    )
    gate.add_argument("--junit", type=Path, metavar="F.xml", help="also write a JUnit file")
    gate.set_defaults(command=_gate, opens_file=False)


def _add_check(kinds: argparse._SubParsersAction, parents: list[argparse.ArgumentParser]) -> None:
    check = kinds.add_parser(
        "check",
        parents=parents,
        help="ask the certificate's questions again to see whether the endpoint's answers have drifted",
        epilog="Exit codes: 0 no drift shown, 3 drift, 4 undecided, 1 error, 2 wrong options.",
    )
    check.add_argument(
        "--questions", type=Path, metavar="F",
        help="table with the study's inputs and outputs (default: questions.jsonl beside the judge)",
    )  # fmt: skip
    check.add_argument("--level", type=_read_level, default=0.01, help="false alarm rate (default: .01)")
    check.add_argument(
        "--passes", type=_read_passes, default=0, metavar="N",
        help="number of passes over the questions (default: two if each score needs one answer, otherwise one)",
    )  # fmt: skip
    check.set_defaults(command=_check, opens_file=False)


def _build_asking() -> argparse.ArgumentParser:
    """Return the options for the judge and for requests to its models."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("judge", type=Path, metavar="judge.json", help="judge file")
    parser.add_argument(
        "--ledger", type=Path, default=Path("coeval-ledger.db"), metavar="F.db",
        help="file that saves every answer, so that repeated runs are free (default: coeval-ledger.db)",
    )  # fmt: skip
    parser.add_argument(
        "--concurrency", type=int, default=0, metavar="N", help="number of simultaneous requests"
    )
    add_price_options(parser)
    return parser


def _build_inputs() -> argparse.ArgumentParser:
    """Return the options for the outputs to judge and the source of answers."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--input",
        required=True,
        type=Path,
        metavar="F",
        help=("CSV, JSONL or Excel file with inputs and outputs"),
    )
    parser.add_argument(
        "--map",
        nargs="*",
        default=[],
        metavar="FIELD=COLUMN",
        help="fields whose columns have other names, as field=column",
    )
    parser.add_argument("--replay", action="store_true", help="use only saved answers and send no requests")
    parser.add_argument(
        "--read-batch", nargs="+", type=Path, default=[], metavar="F.jsonl",
        help="use the answers in these batch result files",
    )  # fmt: skip
    return parser


def _read_level(text: str) -> float:
    if not 0 < (level := float(text)) < 0.5:
        raise argparse.ArgumentTypeError(
            f"{text} is not a significance level: give a number between 0 and .5, such as .05"
        )
    return level


def _read_passes(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 20:
        raise argparse.ArgumentTypeError(f"the number of passes is {text}: give a number from 1 to 20")
    return int(text)


def _open_judge(options: argparse.Namespace) -> Judge:
    """Load the judge from its file, and print the verdict of its certificate on stderr."""
    from coeval.extensions.judge.certificate.findings import read_verdict
    from coeval.extensions.judge.model.judge_file import load_judge
    from coeval.extensions.judge.runtime.judge import Judge

    file = load_judge(options.judge)
    if said := read_verdict(file.certificate):
        print(said, file=sys.stderr)
    return Judge(file)


def _run(options: argparse.Namespace) -> None:
    from coeval.cli.files import read_mapping
    from coeval.extensions.judge.certificate.findings import read_verdict
    from coeval.extensions.judge.runtime.input_files import load_outputs, write_judge_questions
    from coeval.extensions.judge.runtime.judge import COLUMNS
    from coeval.safe_csv import to_csv

    judge = _open_judge(options)
    instances = load_outputs(options.input, read_mapping(options.map))
    if options.write_batch:
        batch = write_judge_questions(judge.file, instances, options.write_batch, options.ledger)
        print(*batch.paths, sep="\n")
        print(f"{batch.written:,} questions", file=sys.stderr)
        return
    scored = _score(judge, instances, options)
    table = scored[list(COLUMNS)]
    if options.json:
        head = {"judge": judge.file.name, "hash": judge.file.hash}
        head["certificate"] = read_verdict(judge.file.certificate)
        print_json(head | {"scores": table.to_dict("records")})
    if options.out:
        write_whole(options.out, to_csv(table).encode("utf-8"))
    elif not options.json:
        print(to_csv(table), end="")
    _tell(table, scored.attrs["rungs"])


def _score(judge: Judge, instances: list[Instance], options: argparse.Namespace) -> pd.DataFrame:
    from dataclasses import replace

    from coeval.extensions.judge.runtime.input_files import read_judge_results
    from coeval.llm.running.batch_files import ENDPOINT

    asked = _read_asked(options)
    if options.read_batch:
        received = read_judge_results(options.read_batch, options.ledger, asked.prices)
        print(*received.bad_lines, received, sep="\n", file=sys.stderr)
        asked = replace(asked, replay=True, endpoint=ENDPOINT)
    return judge.score_instances(instances, asked)


def _read_asked(options: argparse.Namespace) -> Asked:
    from coeval.extensions.judge.runtime.judge import Asked

    return Asked(
        ledger=options.ledger,
        progress=sys.stderr.isatty(),
        concurrency=options.concurrency,
        prices=read_prices(options),
        replay=getattr(options, "replay", False),
    )


def _tell(table: pd.DataFrame, rungs: Mapping[str, int]) -> None:
    """Report the result on stderr; exit with code 1 if some outputs have no score.

    ``rungs`` counts the answers by the rung of their score; those without a score have the rung "".
    """
    from coeval.extensions.judge.model.fitted import find_unmoved, tell_unmoved
    from coeval.rules.answer_forms import tell_forms, tell_sameness

    lost = int(table["score"].isna().sum())
    said = f"{table['instance'].nunique():,} outputs, {len(table):,} scores"
    said += f", {int(table['ask_person'].sum()):,} of them for a person to look at"
    if lost:
        reason = next((reason for reason in table["reason"] if reason), "")
        said += f"; {lost:,} without a score: {reason}"
    scores: Any = table.groupby(["criterion", "raw"]).size().to_dict()
    print(said, *tell_forms(rungs, rungs.get("", 0)), *tell_sameness(scores), sep="\n", file=sys.stderr)
    for criterion, slope in find_unmoved(table).items():
        print(tell_unmoved(criterion, slope), file=sys.stderr)
    if lost:
        raise SystemExit(1)


def _gate(options: argparse.Namespace) -> None:
    from coeval.cli.files import read_mapping
    from coeval.extensions.judge.runtime.across import join_across, load_bridge, load_scored
    from coeval.extensions.judge.runtime.gate import EXIT_CODES, Terms, hold_gate, tell_basis, write_junit
    from coeval.extensions.judge.runtime.input_files import add_people, load_labels, load_outputs

    terms = Terms(
        options.system, options.against, options.margin, options.min_n, options.level, options.threshold
    )
    judge = _open_judge(options)
    instances = load_outputs(options.input, read_mapping(options.map))
    labels = load_labels(options.labels) if options.labels else {}
    bridge = None
    if options.across:
        bridge, old = load_bridge(options.across[0], judge.file), load_scored(options.across[1], terms.old)
        instances = [instance for instance in instances if instance.system == terms.new]
    terms.check([instance.system for instance in instances] + [terms.old] * bool(bridge))
    table = _score(judge, instances, options)
    table = join_across(table, old, bridge) if bridge else add_people(table, judge.file, instances, labels)
    gate = hold_gate(table, judge.file, terms, bridge)
    if options.junit:
        write_junit(options.junit, gate, judge.file.name)
    code, basis = EXIT_CODES[gate.outcome], tell_basis(gate, judge.file, bridge)
    if options.json:
        print_json(
            {
                "outcome": gate.outcome,
                "exit_code": code,
                "hash": judge.file.hash,
                "terms": gate.terms,
                "lines": gate.lines,
                "basis": basis,
            }
        )
    else:
        print(gate, basis, sep="\n")
    if code:
        raise SystemExit(code)


def _check(options: argparse.Namespace) -> None:
    import asyncio

    from coeval.extensions.judge.runtime.drift import POWER, check_judge
    from coeval.extensions.judge.runtime.input_files import load_outputs

    judge = _open_judge(options).file
    beside = options.judge.parent / "questions.jsonl"
    path = options.questions or (beside if beside.is_file() else None)
    samples = load_outputs(path) if path else []
    check = asyncio.run(check_judge(judge, samples, _read_asked(options), options.passes))
    drift = check.drift
    least = drift.find_least(options.level)
    code = 4 if not check.tells else 3 if drift.shown(options.level) else 0
    if options.json:
        head = {"exit_code": code, "level": options.level, "least_shift": least, "power": POWER}
        print_json(head | asdict(check))
    else:
        _tell_check(check, code, options.level, least)
    if code:
        raise SystemExit(code)


def _tell_check(check: Check, code: int, level: float, least: float) -> None:
    from coeval.extensions.judge.runtime.drift import POWER

    print(
        f"{check.answered} of {check.asked} questions were answered readably; the scores moved by "
        f"{check.drift.shift:+.1%} of the scale (p = {check.drift.p_value:.3g})."
    )
    if code == 4:
        print("CANNOT TELL: too few questions were answered to detect a change of the endpoint.")
    elif code == 3:
        print(f"DRIFT: the endpoint's answers have changed (false alarm rate: at most {level:.2g}).")
    elif not least:
        print(f"No drift shown at a level of {level:.2g}: every answer has the score that it had.")
    else:
        print(
            f"No drift shown at a level of {level:.2g}. A shift of the mean by {least:.1%} of the scale is found in "
            f"{POWER:.0%} of such checks, and a smaller one is easily missed: more --passes find more."
        )


def _print_schema(options: argparse.Namespace) -> None:
    from coeval.extensions.judge.model.file_schema import render_json_schema

    print(render_json_schema(), end="")
