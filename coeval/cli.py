"""The commands: ``python app.py`` and ``python -m coeval ...``."""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from coeval.errors import CoevalError, InputError, StorageError
from coeval.settings import Settings, SignIn, load_settings
from coeval.store import Store
from coeval.study.access import OPERATOR, Context
from coeval.ui.server.invite import add_invite

Command = Callable[[Context, argparse.Namespace], None]


def serve(arguments: Sequence[str] | None = None) -> None:
    """Run ``app.py``: open the file, put the demo task into a new one, and serve until stopped."""
    parser = argparse.ArgumentParser(prog="app.py", description="Start CoEval in the browser.")
    parser.add_argument("--db", help="the SQLite file (default: COEVAL_DB, else data/coeval.db)")
    parser.add_argument("--host", help="address to listen on (default: COEVAL_HOST, else 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: COEVAL_PORT, else 7860)")
    options = parser.parse_args(arguments)
    _reported(lambda: _serve(options))


def _serve(options: argparse.Namespace) -> None:
    settings = load_settings(db=options.db)
    host, port = options.host or settings.host, options.port or settings.port
    check_address(host, settings)
    # what is loaded now stays for good: looking through it for garbage takes a tenth of the start. The server
    # turns this on again when it is built
    gc.disable()
    # imported late: the commands need no web server, and importing one takes seconds
    from coeval.ui.server.run import run_server

    run_server(settings, host, port)


def check_address(host: str, settings: Settings | None = None) -> None:
    """Refuse to be reached from elsewhere while a name alone signs a person in.

    Raises:
        InputError: the address is not this machine's own, and no real sign-in is set up.
    """
    if (settings and settings.sign_in is not SignIn.NAMES) or host == "localhost":
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    raise InputError(
        f"CoEval does not listen on {host}: people sign in with a name alone, so anyone who reaches it could be "
        "anybody. Use 127.0.0.1, or set COEVAL_SIGN_IN=accounts and make the first owner's link with "
        "“python -m coeval invite --role owner”; on a Space, hf_oauth: true and COEVAL_OWNER do the same."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``python -m coeval``."""
    options = build_parser().parse_args(arguments)
    _reported(lambda: options.command(_open(options), options))


def _open(options: argparse.Namespace) -> Context:
    settings = load_settings(db=options.db)
    return Context(Store(settings.db), settings)


def _reported(run: Callable[[], None]) -> None:
    """Run; an error of ours is one line on stderr and exit code 1."""
    try:
        run()
    except CoevalError as error:
        print(f"coeval: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    except BrokenPipeError:
        raise SystemExit(1) from None


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m coeval", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--db", help="the SQLite file (default: COEVAL_DB, else data/coeval.db)")
    task = argparse.ArgumentParser(add_help=False, parents=[common])
    task.add_argument("--task", required=True, metavar="SLUG", help="the task's short name")
    _add_import(commands, task)
    _add_draft(commands, task)
    _add_batch(commands, task, common)
    _add_out(commands, task)
    _add_upkeep(commands, common)
    add_invite(commands, common)
    return parser


def _add_import(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    one = commands.add_parser("import", parents=[task], help="import instances or a whole study")
    one.add_argument("path", type=Path)
    one.add_argument(
        "--format", default="auto", choices=["auto", "csv", "jsonl", "xlsx", "coeval-release", "ratings-csv"]
    )
    one.add_argument(
        "--map", nargs="+", default=[], metavar="field=column", help="which column holds a field"
    )
    one.set_defaults(command=_import)


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.importing.importing import import_file

    report = import_file(
        context,
        OPERATOR,
        options.path,
        options.task,
        format=options.format,
        mapping=read_mapping(options.map),
    )
    for note in report.notes:
        print(f"note: {note}")
    print(report)


def read_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """``["input=question"]`` to ``{"input": "question"}``.

    Raises:
        InputError: a pair has no ``=`` or names a field twice.
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field.strip() or not column.strip() or field.strip() in mapping:
            raise InputError(
                f"“{pair}” is not a mapping: write field=column, such as input=question, each once."
            )
        mapping[field.strip()] = column.strip()
    return mapping


def _add_draft(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
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
    from coeval.study.drafting import preparing

    wanted = preparing.draft_criteria(
        context, OPERATOR, options.task, model=options.model, samples=options.samples
    )
    proposals = asyncio.run(wanted)
    state = rounds.open_round(context, OPERATOR, options.task, proposals)
    for proposal in state.proposals:
        print(f"{proposal.support} of {proposal.samples}\t{proposal.text}")
    print(f"version {state.version}, round {state.round}: open for votes", file=sys.stderr)


def _draft_evaluations(context: Context, options: argparse.Namespace) -> None:
    from coeval.llm.running.ledger import Prices
    from coeval.study.drafting import execution, preparing

    wish = preparing.Wish(
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
        print(preparing.estimate_run(context, OPERATOR, options.task, wish))
        return
    show = _show_progress if sys.stderr.isatty() else None
    report = asyncio.run(execution.run_drafting(context, OPERATOR, options.task, wish, on_progress=show))
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


def _add_batch(
    commands: argparse._SubParsersAction, task: argparse.ArgumentParser, common: argparse.ArgumentParser
) -> None:
    batch = commands.add_parser("batch", help="draft through files of the OpenAI batch format")
    kinds = batch.add_subparsers(required=True, metavar="write|read")
    write = kinds.add_parser("write", parents=[task], help="write the questions a run still has")
    write.add_argument("--out", required=True, type=Path, metavar="F.jsonl")
    write.add_argument("--model", default="")
    write.add_argument("--protocol", default="coeval")
    write.add_argument("--samples", type=int, metavar="N")
    write.add_argument("--label", default="")
    write.set_defaults(command=_batch_write)
    read = kinds.add_parser("read", parents=[common], help="read the results, and make drafts of them")
    read.add_argument("path", type=Path, metavar="F.jsonl")
    read.add_argument("--price-in", type=float, default=0.0, help="price of a million prompt tokens")
    read.add_argument("--price-out", type=float, default=0.0, help="price of a million answer tokens")
    read.set_defaults(command=_batch_read)


def _batch_write(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.drafting import batches
    from coeval.study.drafting.preparing import Wish

    wish = Wish(model=options.model, protocol=options.protocol, samples=options.samples, label=options.label)
    written = asyncio.run(batches.write_questions(context, OPERATOR, options.task, wish, options.out))
    for path in written.paths:
        print(path)
    print(f"{written.written:,} questions", file=sys.stderr)


def _batch_read(context: Context, options: argparse.Namespace) -> None:
    from coeval.llm.running.ledger import Prices
    from coeval.study.drafting import batches

    prices = Prices(options.price_in, options.price_out)
    report = asyncio.run(batches.read_results(context, OPERATOR, options.path, prices))
    for line in report.bad_lines:
        print(line, file=sys.stderr)
    print(report)
    if report.bad_lines or report.failed:
        raise SystemExit(1)


def _add_out(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    stats = commands.add_parser("stats", parents=[task], help="agreement, actions, time and more")
    stats.add_argument("--json", action="store_true", required=True, help="one JSON document on stdout")
    stats.set_defaults(command=_stats)
    export = commands.add_parser("export", parents=[task], help="everything as CSV")
    export.add_argument("--out", required=True, type=Path, metavar="DIR")
    export.set_defaults(command=_export)


def _add_upkeep(commands: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    backup = commands.add_parser("backup", parents=[common], help="copy the file while people work")
    backup.add_argument("target", type=Path)
    backup.set_defaults(command=_backup)
    check = commands.add_parser("check", parents=[common], help="verify the file, and say what it holds")
    check.set_defaults(command=_check)


def _check(context: Context, options: argparse.Namespace) -> None:
    from coeval.store.engines.health import check_file

    with context.store.read() as db:
        health = check_file(db)
    print(f"schema: {', '.join(health.migrations)}")
    for table, n in health.totals.items():
        print(f"{table}: {n:,}")
    for fault in health.faults:
        print(f"fault: {fault}")
    print("sound" if health.sound else "not sound: keep this file, and go back to the newest good backup")
    if not health.sound:
        raise SystemExit(1)


def _stats(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.statistics import get_report

    json.dump(
        get_report(context, OPERATOR, options.task), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False
    )
    print()


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.exporting.export import export_folder

    for path in export_folder(context, OPERATOR, options.task, options.out):
        print(path)


def _backup(context: Context, options: argparse.Namespace) -> None:
    if options.target.exists():
        raise StorageError(f"{options.target} exists already: choose another name for the copy.")
    context.store.backup(options.target)
    print(options.target)
