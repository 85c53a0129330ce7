"""``python -m coeval judge run|gate|check|schema``: a judge from its file; the other commands make it from a study."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.cli.judging.making import add_making, write_whole

if TYPE_CHECKING:
    import pandas as pd

    from coeval.domain import Instance
    from coeval.judge.running.judge import Asked, Judge

KINDS = "seal|learn|examples|wording|people|certify|take|run|gate|check|schema"


def add_judge(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    judge = commands.add_parser(
        "judge", help="make a judge.json of a study, score outputs by it, hold a gate"
    )
    kinds = judge.add_subparsers(
        required=True, metavar="seal|learn|examples|wording|people|certify|take|run|gate|check|schema"
    )
    add_making(kinds, task)
    asking = _build_asking()
    inputs = _build_inputs()
    run = kinds.add_parser("run", parents=[asking, inputs], help="score every output by every criterion")
    run.add_argument("--out", type=Path, metavar="F.csv", help="where the scores go (default: the terminal)")
    run.add_argument(
        "--write-batch", type=Path, metavar="F.jsonl", help="write the questions instead, for a batch service"
    )
    run.set_defaults(command=_run, opens_file=False)
    gate = kinds.add_parser(
        "gate",
        parents=[asking, inputs],
        help="test that a new system is no worse than an old one",
        epilog="Exit codes: 0 no worse, 3 a regression, 4 it cannot be decided, 1 an error, 2 wrong options.",
    )
    gate.add_argument("--system", required=True, metavar="NEW", help="as the column “system” names it")
    gate.add_argument("--against", required=True, metavar="OLD")
    gate.add_argument(
        "--margin", type=float, default=-0.1, help="the loss in points that is let pass (default -0.1)"
    )
    gate.add_argument(
        "--min-n", type=int, default=50, metavar="N", help="fewest documents to decide by (default 50)"
    )
    gate.add_argument("--level", type=_read_level, default=0.05, help="chance of a wrong word (default .05)")
    gate.add_argument(
        "--labels", type=Path, metavar="F", help="people's scores of some outputs: instance, criterion, score"
    )
    gate.add_argument("--junit", type=Path, metavar="F.xml", help="write a JUnit file as well")
    gate.set_defaults(command=_gate, opens_file=False)
    check = kinds.add_parser(
        "check",
        parents=[asking],
        help="ask the certificate's questions again: does the endpoint still answer as it did?",
        epilog="Exit codes: 0 no drift shown, 3 drift, 4 it cannot be told, 1 an error, 2 wrong options.",
    )
    check.add_argument(
        "--questions", type=Path, metavar="F",
        help="a table with the inputs and outputs of the study (default: questions.jsonl beside the judge)",
    )  # fmt: skip
    check.add_argument(
        "--level", type=_read_level, default=0.01, help="chance of a false alarm (default .01)"
    )
    check.add_argument(
        "--passes", type=_read_passes, default=0, metavar="N",
        help="how often each question is asked (default: twice where one answer makes a score, else once)",
    )  # fmt: skip
    check.set_defaults(command=_check, opens_file=False)
    schema = kinds.add_parser("schema", help="print the JSON Schema of judge.json")
    schema.set_defaults(command=_print_schema, opens_file=False)


def _build_asking() -> argparse.ArgumentParser:
    """The judge, and how its models are asked."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("judge", type=Path, metavar="judge.json")
    parser.add_argument(
        "--ledger", type=Path, default=Path("coeval-ledger.db"), metavar="F.db",
        help="keeps every answer, and repeat runs are free (default: coeval-ledger.db)",
    )  # fmt: skip
    parser.add_argument("--concurrency", type=int, default=0, metavar="N")
    parser.add_argument("--price-in", type=float, default=0.0, help="price of a million prompt tokens")
    parser.add_argument("--price-out", type=float, default=0.0, help="price of a million answer tokens")
    return parser


def _build_inputs() -> argparse.ArgumentParser:
    """The outputs that are judged, and where their answers come from."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--input", required=True, type=Path, metavar="F", help="CSV, JSONL or Excel with input and output"
    )
    parser.add_argument("--map", nargs="*", default=[], metavar="FIELD=COLUMN", help="columns of other names")
    parser.add_argument("--replay", action="store_true", help="answer from the ledger alone, without network")
    parser.add_argument(
        "--read-batch", nargs="+", type=Path, default=[], metavar="F.jsonl",
        help="read the results of a batch first, and answer from them",
    )  # fmt: skip
    return parser


def _read_level(text: str) -> float:
    if not 0 < (level := float(text)) < 0.5:
        raise argparse.ArgumentTypeError(f"{text} is no level: give a number between 0 and .5, such as .05")
    return level


def _read_passes(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 20:
        raise argparse.ArgumentTypeError(f"{text} passes cannot be made: give a number from 1 to 20")
    return int(text)


def _run(options: argparse.Namespace) -> None:
    from coeval.cli.importing import read_mapping
    from coeval.judge.running.batches import write_judge_questions
    from coeval.judge.running.inputs import load_outputs
    from coeval.judge.running.judge import Judge
    from coeval.safe_csv import to_csv

    judge = Judge.load(options.judge)
    instances = load_outputs(options.input, read_mapping(options.map))
    if options.write_batch:
        batch = write_judge_questions(judge.file, instances, options.write_batch, options.ledger)
        print(*batch.paths, sep="\n")
        print(f"{batch.written:,} questions", file=sys.stderr)
        return
    table = _score(judge, instances, options)
    text = to_csv(table)
    if options.out:
        write_whole(options.out, text.encode("utf-8"))
    else:
        print(text, end="")
    _tell(table)


def _score(judge: Judge, instances: list[Instance], options: argparse.Namespace) -> pd.DataFrame:
    from dataclasses import replace

    from coeval.judge.running.batches import read_judge_results
    from coeval.llm.running.batch_files import ENDPOINT

    asked = _read_asked(options)
    if options.read_batch:
        received = read_judge_results(options.read_batch, options.ledger, asked.prices)
        print(*received.bad_lines, received, sep="\n", file=sys.stderr)
        asked = replace(asked, replay=True, endpoint=ENDPOINT)
    return judge.score_instances(instances, asked)


def _read_asked(options: argparse.Namespace) -> Asked:
    from coeval.judge.running.judge import Asked
    from coeval.llm.running.ledger import Prices

    return Asked(
        ledger=options.ledger,
        progress=sys.stderr.isatty(),
        concurrency=options.concurrency,
        prices=Prices(options.price_in, options.price_out),
        replay=getattr(options, "replay", False),
    )


def _tell(table: pd.DataFrame) -> None:
    """What came of it, on stderr; exit code 1 where some outputs have no score."""
    lost = int(table["score"].isna().sum())
    said = f"{table['instance'].nunique():,} outputs, {len(table):,} scores"
    said += f", {int(table['ask_person'].sum()):,} of them for a person to look at"
    if lost:
        reason = next((reason for reason in table["reason"] if reason), "")
        said += f"; {lost:,} without a score: {reason}"
    print(said, file=sys.stderr)
    if lost:
        raise SystemExit(1)


def _gate(options: argparse.Namespace) -> None:
    from coeval.cli.importing import read_mapping
    from coeval.judge.gate.deciding import EXIT_CODES, Terms, hold_gate, tell_basis
    from coeval.judge.gate.junit import write_junit
    from coeval.judge.running.inputs import add_people, load_labels, load_outputs
    from coeval.judge.running.judge import Judge

    terms = Terms(options.system, options.against, options.margin, options.min_n, options.level)
    judge = Judge.load(options.judge)
    instances = load_outputs(options.input, read_mapping(options.map))
    labels = load_labels(options.labels) if options.labels else {}
    terms.check([one.system for one in instances])
    table = add_people(_score(judge, instances, options), judge.file, instances, labels)
    gate = hold_gate(table, judge.file, terms)
    if options.junit:
        write_junit(options.junit, gate, judge.file.name)
    print(gate)
    print(tell_basis(gate, judge.file))
    if code := EXIT_CODES[gate.outcome]:
        raise SystemExit(code)


def _check(options: argparse.Namespace) -> None:
    import asyncio

    from coeval.judge.artifact.judge_file import load_judge
    from coeval.judge.running.checking import check_judge
    from coeval.judge.running.inputs import load_outputs

    judge = load_judge(options.judge)
    beside = options.judge.parent / "questions.jsonl"
    path = options.questions or (beside if beside.is_file() else None)
    samples = load_outputs(path) if path else []
    check = asyncio.run(check_judge(judge, samples, _read_asked(options), options.passes))
    drift = check.drift
    print(
        f"{check.answered} of {check.asked} questions were answered readably; the scores moved by {drift.shift:+.1%} "
        f"of the scale (p = {drift.p_value:.3g})."
    )
    if not check.tells:
        print("CANNOT TELL: too few questions were answered to say whether the endpoint changed.")
        raise SystemExit(4)
    if drift.shown(options.level):
        print(f"DRIFT: the endpoint does not answer as it did (false alarm: {options.level:.2g} at most).")
        raise SystemExit(3)
    print(f"No drift shown at a level of {options.level:.2g}.")


def _print_schema(options: argparse.Namespace) -> None:
    from coeval.judge.artifact.schema import render_json_schema

    print(render_json_schema(), end="")
