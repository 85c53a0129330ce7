"""``python -m coeval judge seal|learn|...|take|audit|bridge``: make, audit and replace a judge in a study."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.cli.results import (
    add_asked_again_option,
    add_judging_options,
    build_reporting,
    may_ask,
    print_json,
    read_judging_options,
    report,
)
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.model_requests import MAX_TOKENS

if TYPE_CHECKING:
    from coeval.extensions.judge.model.file_schema import JudgeFile

RUN: dict[str, Any] = {
    "metavar": "LABEL",
    "default": "",
    "help": "run of the judge (default: the run that annotators see)",
}


def add_making(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    """Add these subcommands to ``judge``."""
    reporting = build_reporting()
    seal = kinds.add_parser("seal", parents=[task, reporting], help="set documents aside to test the judge")
    seal.add_argument(
        "--share", type=float, default=0.5, help="share of the documents to seal (default: 0.5)"
    )
    seal.set_defaults(command=_seal)
    learn = kinds.add_parser(
        "learn", parents=[task, reporting], help="fit the judge on the dev part and freeze it"
    )
    learn.add_argument("--run", **RUN)
    add_asked_again_option(learn)
    learn.set_defaults(command=_learn)
    _add_examples(kinds, task)
    _add_wording(kinds, task)
    people = kinds.add_parser(
        "people", parents=[task, reporting], help="list the lines that the judge leaves to people"
    )
    people.add_argument("--out", type=Path, metavar="F.csv", help="file for the list (default: stdout)")
    which = people.add_mutually_exclusive_group()
    which.add_argument("--assign", action="store_true", help="assign only these lines to the team")
    which.add_argument("--end", action="store_true", help="assign all lines to the team again")
    people.set_defaults(command=_list_people)
    proof = kinds.add_parser(
        "certify", parents=[task, reporting], help="certify the judge on the sealed documents"
    )
    proof.add_argument(
        "--confirm", default="", metavar='"opening N"', help="confirmation text that the command asks for"
    )
    proof.add_argument(
        "--margin", type=float, help="equivalence margin as a share of the scale (default: 0.125)"
    )
    add_asked_again_option(proof)
    proof.set_defaults(command=_certify)
    _add_taking(kinds, task)
    _add_replacing(kinds, task)


def _add_taking(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    take = kinds.add_parser(
        "take", parents=[task, build_reporting()], help="write judge.json",
        description="The options from --preset on describe how a judge with imported scores prompts its model; "
        "other judges do not need them.",
    )  # fmt: skip
    take.add_argument(
        "--out",
        type=Path,
        default=Path("judge.json"),
        metavar="F.json",
        help="file to write (default: judge.json)",
    )
    take.add_argument("--force", action="store_true", help="replace the file without asking")
    take.add_argument("--texts", action="store_true", help="include the texts that `judge check` needs")
    add_judging_options(take)
    take.set_defaults(command=_take)


def _add_replacing(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    """Add the audit of a judge, and the bridge to the judge that replaces it."""
    reporting = build_reporting()
    audit = kinds.add_parser(
        "audit",
        parents=[task, reporting],
        help="compare a judge with people: false accepts first, then biases",
    )
    audit.add_argument("--run", **RUN)
    audit.add_argument(
        "--threshold",
        type=float,
        metavar="SCORE",
        help="lowest passing score (default: the middle of the scale)",
    )
    audit.add_argument(
        "--draw", type=int, metavar="N", help="let people label N outputs, drawn by the judge's probabilities"
    )
    audit.set_defaults(command=_audit)
    bridge = kinds.add_parser(
        "bridge", parents=[task, reporting], help="link a new judge to the old one, and restate old results"
    )
    bridge.add_argument("old", type=Path, metavar="OLD.json", help="file of the judge that is replaced")
    bridge.add_argument("new", type=Path, metavar="NEW.json", help="file of the judge that replaces it")
    bridge.set_defaults(command=_bridge)


def _add_examples(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    parser = kinds.add_parser(
        "examples",
        parents=[task, build_reporting()],
        help="list corrections that can serve as examples, or draft a run with some of them",
    )
    parser.add_argument("--run", **RUN)
    parser.add_argument(
        "--number", type=int, default=4, metavar="N", help="examples per criterion (default: 4)"
    )
    parser.add_argument(
        "--take",
        nargs="+",
        type=int,
        metavar="N",
        help="draft a run with the examples that have these numbers",
    )
    parser.set_defaults(command=_examples)


def _add_wording(kinds: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    parser = kinds.add_parser(
        "wording",
        parents=[task, build_reporting()],
        help="propose a clearer wording from corrections, then accept or reject it",
    )
    parser.add_argument("--run", **RUN)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--criterion", metavar="TEXT", help="criterion for which the model proposes a wording")
    which.add_argument(
        "--take", type=int, metavar="N", help="accept proposal N, and put a new text to a vote"
    )
    which.add_argument("--leave", type=int, metavar="N", help="reject proposal N and keep the criterion")
    parser.add_argument(
        "--max-tokens", type=int, default=MAX_TOKENS, metavar="N", help="token limit per answer"
    )
    parser.set_defaults(command=_wording)


def _seal(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.seal import seal_task

    seal = seal_task(context, OPERATOR, options.task, options.share)
    report(options, seal, [f"sealed: {seal.share:.0%} of the documents, for good"])


def _learn(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.fit import fit_judge

    frozen = fit_judge(context, OPERATOR, options.task, options.run, asked_again=options.asked_again == "in")
    if options.json:
        print_json(frozen.model_dump(mode="json") | {"hash": frozen.hash})
        return
    print(*(frozen.kept or ["No step helped by more than noise: the judge stays as it is."]), sep="\n")
    print(f"frozen: {frozen.judge}, {frozen.hash}", file=sys.stderr)


def _examples(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.corrections import propose_examples, take_examples
    from coeval.usecases.drafting.execution import run_drafting

    chosen = propose_examples(context, OPERATOR, options.task, options.run, options.number)
    if not options.take:
        rows = [
            {"number": n, "criterion": pick.criterion, "score": pick.example.score, "drafted": pick.drafted,
             "why": pick.why, "reason": pick.example.reason, "input": pick.example.input, "output": pick.example.output}
            for n, pick in enumerate(chosen, 1)
        ]  # fmt: skip
        if options.json:
            print_json(rows)
            return
        _print_csv(rows, ("number", "criterion", "score", "drafted", "why", "reason", "input", "output"))
        return
    keys = [pick.key for n, pick in enumerate(chosen, 1) if n in options.take]
    settings = take_examples(context, OPERATOR, options.task, keys, options.run, options.number)
    done = asyncio.run(run_drafting(context, OPERATOR, options.task, settings))
    print(done)
    print(f"Now: judge learn --task {options.task} --run “{settings.label}”", file=sys.stderr)
    if not done.complete:
        raise SystemExit(1)


def _wording(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.corrections import leave_wording, propose_wording, take_wording

    if options.take is not None:
        voted = take_wording(context, OPERATOR, options.task, options.take)
        said = (
            "the vote on the next version is open" if voted else "the meanings stand in the criterion's guide"
        )
        report(options, {"taken": options.take, "vote_is_open": voted}, [said])
    elif options.leave is not None:
        leave_wording(context, OPERATOR, options.task, options.leave)
        report(options, {"left": options.leave}, [])
    else:
        proposal = propose_wording(
            context, OPERATOR, options.task, options.criterion, options.run, max_tokens=options.max_tokens
        )
        made = asyncio.run(proposal)
        anchors = (f"{score}: {meaning}" for score, meaning in made.anchors)
        report(options, made, [f"{made.id}\n- {made.before}\n+ {made.text}", *anchors, f"Why: {made.why}"])


def _list_people(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.deferred_lines import assign_deferred, end_asking, list_deferred

    if options.end:
        end_asking(context, OPERATOR, options.task)
        return
    deferred = list_deferred(context, OPERATOR, options.task)
    names = ("instance", "criterion", "score", "confidence")
    lines = [asdict(line) for line in deferred.lines]
    if options.json:
        print_json({"judged": deferred.judged, "to_people": deferred.to_people, "lines": lines})
    if options.out or not options.json:
        _print_csv(lines, names, options.out)
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
    from coeval.extensions.judge.certificate.figures import MARGIN
    from coeval.extensions.judge.certification import certify

    margin = MARGIN if options.margin is None else options.margin
    certificate = certify(
        context, OPERATOR, options.task, options.confirm, margin, asked_again=options.asked_again == "in"
    )
    if options.json:
        print_json(certificate.model_dump(mode="json"))
    else:
        print(*certificate.findings, *certificate.limits, sep="\n")


def _print_csv(rows: list[dict[str, Any]], names: tuple[str, ...], out: Path | None = None) -> None:
    from coeval.safe_csv import rows_to_csv

    text = rows_to_csv([names, *([row[name] for name in names] for row in rows)])
    if out:
        write_whole(out, text.encode("utf-8", "backslashreplace"))
    else:
        print(text, end="")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    from coeval.errors import InputError

    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def _take(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.judge_export import export_judge
    from coeval.extensions.judge.model.judge_file import parse_judge

    _ask_to_replace(options.out, force=options.force, ask=not options.json)
    asks = read_judging_options(options)
    stated = any((options.preset, options.model, options.protocol, options.templates))
    content = export_judge(
        context, OPERATOR, options.task, texts=options.texts, asks=asks if stated else None
    )
    write_whole(options.out, content)
    judge = parse_judge(content, options.out.name)
    written = {"path": options.out, "judge": judge.name, "hash": judge.hash}
    report(options, written, [f"{options.out}: {describe_judge(judge)}"])


def _audit(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.audits import audit_run, draw_by_audit

    audit = audit_run(context, OPERATOR, options.task, options.run, options.threshold)
    if options.json:
        print_json(audit.describe())
    else:
        print(*audit.sentences, *audit.biases, sep="\n")
    if options.draw is not None:
        draw_by_audit(context, OPERATOR, options.task, options.draw, options.run, options.threshold)
        print(f"{options.draw:,} outputs are drawn for people", file=sys.stderr)


def _bridge(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.judge.bridge.words import tabulate_pairs, tabulate_systems
    from coeval.extensions.judge.bridges import bridge_judges
    from coeval.extensions.judge.model.judge_file import load_judge

    old, new = load_judge(options.old), load_judge(options.new)
    bridge = bridge_judges(context, OPERATOR, options.task, old, new)
    if options.json:
        print_json(bridge.model_dump(mode="json"))
        return
    print(*bridge.findings, sep="\n")
    for table in (tabulate_systems(bridge), tabulate_pairs(bridge)):
        print()
        print(*(" | ".join(row) for row in table), sep="\n")
    print("", bridge.paragraph, sep="\n")


def _ask_to_replace(path: Path, *, force: bool, ask: bool) -> None:
    """Ask before replacing an existing file. A command that prints JSON does not ask.

    Raises:
        InputError: the file exists, and nobody allowed its replacement.
    """
    from coeval.errors import InputError

    if force or not path.exists():
        return
    if (
        ask
        and may_ask()
        and input(f"{path} is there already. Type yes to replace it: ").strip().lower() == "yes"
    ):
        return
    raise InputError(
        f"{path} exists and was not changed: replace it with --force, or name another file with --out."
    )


def describe_judge(judge: JudgeFile) -> str:
    """Return the content of a judge's file in one sentence."""
    opening = judge.certificate.get("opening") if judge.certificate else None
    maps = judge.fitted.calibration.maps if judge.fitted.calibration else {}
    texts = "with their texts" if any(part.sample for part in judge.questions) else "as hashes"
    parts = [
        f"{len(judge.criteria)} criteria ({len(maps)} calibrated)",
        f"model {', '.join(dict.fromkeys(part.model for part in judge.judges))}",
        f"the certificate of opening {opening}" if opening else "no certificate",
        f"{len(judge.labels)} scores by people",
        f"{len(judge.questions)} questions {texts}",
    ]
    return f"the judge “{judge.name}” with {', '.join(parts)}. SHA-256 {judge.hash}"
