"""``python -m coeval judge seal|learn|examples|wording|people|certify|take``: a judge is made of a study."""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coeval.cli.judging.judging_options import add_judging_options, read_judging_options
from coeval.study.access import OPERATOR, Context

RUN: dict[str, Any] = {
    "metavar": "LABEL",
    "default": "",
    "help": "the run of the judge (default: the one that annotators see)",
}


def add_making(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    """Add the commands to those of ``judge``."""
    seal = kinds.add_parser("seal", parents=[task], help="split the documents, once")
    seal.add_argument("--share", type=float, default=0.5, help="of the documents to seal (default .5)")
    seal.set_defaults(command=_seal)
    learn = kinds.add_parser("learn", parents=[task], help="learn from the dev part, and freeze")
    learn.add_argument("--run", **RUN)
    learn.set_defaults(command=_learn)
    _add_examples(kinds, task)
    _add_wording(kinds, task)
    people = kinds.add_parser("people", parents=[task], help="the lines that the judge leaves to people")
    people.add_argument(
        "--out", type=Path, metavar="F.csv", help="where the list goes (default: the terminal)"
    )
    which = people.add_mutually_exclusive_group()
    which.add_argument("--assign", action="store_true", help="ask the team for just these from now on")
    which.add_argument("--end", action="store_true", help="ask for everything again")
    people.set_defaults(command=_list_people)
    proof = kinds.add_parser("certify", parents=[task], help="open the seal, on record")
    proof.add_argument(
        "--confirm", default="", metavar='"opening N"', help="what the command asks you to type"
    )
    proof.add_argument("--margin", type=float, help="of equivalence, a share of the scale (default .125)")
    proof.set_defaults(command=_certify)
    take = kinds.add_parser(
        "take", parents=[task], help="write judge.json",
        description="The further options say how a judge asks whose scores were imported; others need none.",
    )  # fmt: skip
    take.add_argument("--out", type=Path, default=Path("judge.json"), metavar="F.json")
    take.add_argument("--texts", action="store_true", help="with the texts that judge check asks again")
    add_judging_options(take)
    take.set_defaults(command=_take)


def _add_examples(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    parser = kinds.add_parser(
        "examples", parents=[task], help="examples from corrections: see them, take some"
    )
    parser.add_argument("--run", **RUN)
    parser.add_argument("--number", type=int, default=4, metavar="N", help="by each criterion (default 4)")
    parser.add_argument(
        "--take", nargs="+", type=int, metavar="N", help="draft a run with these, by their numbers"
    )
    parser.set_defaults(command=_examples)


def _add_wording(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    parser = kinds.add_parser(
        "wording", parents=[task], help="a sharper wording from corrections: take or leave it"
    )
    parser.add_argument("--run", **RUN)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--criterion", metavar="TEXT", help="have the model propose a wording of it")
    which.add_argument("--take", type=int, metavar="N", help="put proposal N to the vote")
    which.add_argument("--leave", type=int, metavar="N", help="leave the criterion as it is")
    parser.set_defaults(command=_wording)


def _seal(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.judging.sealing import seal_task

    seal = seal_task(context, OPERATOR, options.task, options.share)
    print(f"sealed: {seal.share:.0%} of the documents, for good")


def _learn(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.judging.fitting import fit_judge

    frozen = fit_judge(context, OPERATOR, options.task, options.run)
    print(*(frozen.kept or ["No step helped by more than noise: the judge stays as it is."]), sep="\n")
    print(f"frozen: {frozen.judge}, {frozen.hash}", file=sys.stderr)


def _examples(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.drafting.execution import run_drafting
    from coeval.study.judging.examples import propose_examples, take_examples

    chosen = propose_examples(context, OPERATOR, options.task, options.run, options.number)
    if not options.take:
        rows = [
            {"number": n, "criterion": one.criterion, "score": one.example.score, "drafted": one.drafted,
             "why": one.why, "reason": one.example.reason, "input": one.example.input, "output": one.example.output}
            for n, one in enumerate(chosen, 1)
        ]  # fmt: skip
        _print_csv(rows, ("number", "criterion", "score", "drafted", "why", "reason", "input", "output"))
        return
    keys = [one.key for n, one in enumerate(chosen, 1) if n in options.take]
    settings = take_examples(context, OPERATOR, options.task, keys, options.run, options.number)
    report = asyncio.run(run_drafting(context, OPERATOR, options.task, settings))
    print(report)
    print(f"Now: judge learn --task {options.task} --run “{settings.label}”", file=sys.stderr)
    if not report.complete:
        raise SystemExit(1)


def _wording(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.judging.criterion_wordings import leave_wording, propose_wording, take_wording

    if options.take is not None:
        voted = take_wording(context, OPERATOR, options.task, options.take)
        print(
            "the vote on the next version is open" if voted else "the meanings stand in the criterion's guide"
        )
    elif options.leave is not None:
        leave_wording(context, OPERATOR, options.task, options.leave)
    else:
        made = asyncio.run(propose_wording(context, OPERATOR, options.task, options.criterion, options.run))
        print(f"{made.id}\n- {made.before}\n+ {made.text}")
        print(*(f"{score}: {meaning}" for score, meaning in made.anchors), sep="\n")
        print(f"Why: {made.why}")


def _list_people(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.judging.deferring import assign_deferred, end_asking, list_deferred

    if options.end:
        end_asking(context, OPERATOR, options.task)
        return
    deferred = list_deferred(context, OPERATOR, options.task)
    names = ("instance", "criterion", "score", "confidence")
    _print_csv([asdict(line) for line in deferred.lines], names, options.out)
    print(
        f"of {deferred.judged:,} lines {deferred.to_people:,} go to people; {len(deferred.lines):,} are not scored yet",
        file=sys.stderr,
    )
    if options.assign:
        print(
            f"the team is asked for {assign_deferred(context, OPERATOR, options.task):,} lines",
            file=sys.stderr,
        )


def _certify(context: Context, options: argparse.Namespace) -> None:
    from coeval.judge.certificate.proving import MARGIN
    from coeval.study.judging.certifying import certify

    margin = MARGIN if options.margin is None else options.margin
    certificate = certify(context, OPERATOR, options.task, options.confirm, margin)
    print(*certificate.findings, sep="\n")


def _print_csv(rows: list[dict[str, Any]], names: tuple[str, ...], out: Path | None = None) -> None:
    from coeval.safe_csv import safe

    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(names)
    writer.writerows([safe(row[name]) for name in names] for row in rows)
    if out:
        write_whole(out, target.getvalue().encode("utf-8", "backslashreplace"))
    else:
        print(target.getvalue(), end="")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    from coeval.errors import InputError

    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def _take(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.judging.judge_export import export_judge

    asks = read_judging_options(options)
    given = any((options.preset, options.model, options.protocol, options.templates))
    content = export_judge(context, OPERATOR, options.task, texts=options.texts, asks=asks if given else None)
    write_whole(options.out, content)
