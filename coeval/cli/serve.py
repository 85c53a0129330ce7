"""``python app.py``, ``python -m coeval serve`` and ``review``: start the server."""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coeval.cli.draft import show_progress
from coeval.cli.files import read_mapping
from coeval.cli.results import build_reporting, may_ask, report, reported
from coeval.errors import InputError, StorageError
from coeval.settings import Settings, SignIn, load_settings, on_this_machine
from coeval.usecases.access import OPERATOR, Context

FILES, FEWEST_FILES = 1024, 256
"""The number of open files that a server requests, and the smallest number that it starts with."""


def serve(arguments: Sequence[str] | None = None) -> None:
    """Run ``app.py``: open the database, add the demo task if it is new, and serve until stopped."""
    parser = argparse.ArgumentParser(prog="app.py", description="Start CoEval in the browser.")
    parser.add_argument(
        "--db", help="SQLite file or postgresql:// URL (default: COEVAL_DB, or data/coeval.db)"
    )
    _add_options(parser)
    options = parser.parse_args(arguments)
    reported(lambda: run_serving(options))


def add_serve(commands: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    """Add the command to the parser. The command opens the database and its snapshots itself."""
    command = commands.add_parser("serve", parents=[common], help="start CoEval in the browser")
    _add_options(command)
    command.set_defaults(command=run_serving, opens_file=False)


def add_study(commands: argparse._SubParsersAction) -> argparse._SubParsersAction:
    """Add the command ``study``; return its actions, so that extensions can add more."""
    study = commands.add_parser("study", help="export or import a whole study, or start one from a file")
    actions: argparse._SubParsersAction = study.add_subparsers(required=True, metavar="ACTION")
    init = actions.add_parser(
        "init", parents=[build_reporting()], help="write a commented example of a study file, for “serve”"
    )
    init.add_argument("path", type=Path, metavar="STUDY.yaml", help="study file to write")
    init.set_defaults(command=_init, opens_file=False)
    return actions


def _init(options: argparse.Namespace) -> None:
    from coeval.datasets.study_outline import EXAMPLE, write_outline

    path: Path = options.path
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(write_outline(EXAMPLE))
    except FileExistsError:
        raise InputError(f"{path} already exists: choose another name, or remove it first.") from None
    except OSError as error:
        raise StorageError(f"{path} is not writable ({error.strerror}): choose another place.") from error
    told = f"{path}: adapt it to your study, then run “python -m coeval serve {path}”."
    report(options, {"path": path}, [told])


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "study", nargs="?", type=Path, metavar="STUDY.yaml",
        help="study file to start with (see “study init”); an existing study is not changed",
    )  # fmt: skip
    parser.add_argument("--host", help="address to listen on (default: COEVAL_HOST, or 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: COEVAL_PORT, or 7860)")
    parser.add_argument(
        "--start-empty",
        action="store_true",
        help="start with an empty database if the file is missing, even if a snapshot exists or cannot be read",
    )
    parser.add_argument(
        "--restore", metavar="LINEAGE", default="",
        help="study to restore if the file is missing and the snapshot place holds several",
    )  # fmt: skip


def run_serving(options: argparse.Namespace) -> None:
    """Serve with these options until stopped."""
    settings = load_settings(db=options.db)
    host, port = options.host or settings.host, options.port or settings.port
    check_address(host, settings)
    allow_files()
    # everything loaded or built before the server answers stays. A search for garbage in it would cost a
    # fifth of the processor time of an empty Gradio app's start (benchmark "start")
    gc.disable()
    # imported late: other commands need no web server, and importing one takes seconds
    from coeval.ui.run import run_server

    extra: dict[str, Any] = {"prepare": partial(_begin, path=options.study)} if options.study else {}
    run_server(
        settings, host, port,
        start_empty=options.start_empty, lineage=options.restore, when_built=_collect_what_follows, **extra,
    )  # fmt: skip


def _begin(context: Context, path: Path) -> None:
    from coeval.usecases.study_outlines import open_outline

    print(open_outline(context, OPERATOR, path), flush=True)


def _collect_what_follows() -> None:
    gc.freeze()
    gc.enable()


def allow_files() -> None:
    """Let this process open as many files as the system allows, because every connection needs one.

    Raises:
        InputError: the system allows too few.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < FILES:
        soft = FILES if hard < 0 else min(hard, FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if 0 <= soft < FEWEST_FILES:
        raise InputError(
            f"This process may open {soft} files at a time, but a server needs {FEWEST_FILES}: raise the limit with "
            f"“ulimit -n {FILES}” before you start it."
        )


def check_address(host: str, settings: Settings | None = None) -> None:
    """Refuse addresses of other machines if people sign in with only a name.

    Raises:
        InputError: the address is not a loopback address, and no real sign-in is set up.
    """
    if (settings and settings.sign_in is not SignIn.NAMES) or host == "localhost":
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    remedy = (
        "Write hf_oauth: true at the head of the Space's README.md, and do not set COEVAL_SIGN_IN."
        if settings and settings.space
        else "Use 127.0.0.1, or set COEVAL_SIGN_IN=accounts and create the first owner's link with "
        "“python -m coeval invite --role owner”."
    )
    raise InputError(
        f"CoEval does not listen on {host}: people sign in with only a name, so anyone who reaches it could be "
        f"anybody. {remedy}"
    )


# ``python -m coeval review FILE``: review one file in the browser, without set-up.

ENDING = ".coeval.db"


def add_review(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser. The command opens the database beside the file itself."""
    command = commands.add_parser("review", help="review one file in the browser, without set-up")
    command.add_argument("path", type=Path, metavar="FILE", help="table with the texts to review")
    command.add_argument(
        "--criteria", default="", metavar="TEXT",
        help="what to judge, separated by semicolons, each with an optional scale (default: overall quality 1-5)",
    )  # fmt: skip
    command.add_argument(
        "--map", nargs="+", default=[], metavar="field=column", help="column to read a field from"
    )
    command.add_argument(
        "--description", default="", metavar="TEXT", help="what the systems were asked to do, for --judge"
    )
    command.add_argument(
        "--judge", default="", metavar="MODEL", help="model that drafts the evaluations first"
    )
    command.add_argument("--port", type=int, help="port to listen on (default: COEVAL_PORT, or 7860)")
    command.set_defaults(command=_review, opens_file=False)


def _review(options: argparse.Namespace) -> None:
    from coeval.usecases.study_import import ImportOptions
    from coeval.usecases.tasks import make_slug

    path: Path = options.path
    if not path.is_file():
        raise InputError(f"There is no file {path}: check the name, or the folder that you are in.")
    options.map = _choose_columns(path, read_mapping(options.map))
    # read before anything is written, so that an unusable file leaves no database behind
    ImportOptions(mapping=options.map or None).open(path, make_slug(path.stem))
    settings = on_this_machine(load_settings(db=path.with_name(path.stem + ENDING)))
    if options.judge:
        settings = replace(settings, model=options.judge)
    allow_files()
    gc.disable()  # as for run_serving
    from coeval.ui.run import run_server

    run_server(
        settings, settings.host, options.port or settings.port,
        prepare=partial(_prepare, options=options), when_built=_collect_what_follows,
    )  # fmt: skip


def _choose_columns(path: Path, mapping: Mapping[str, str]) -> Mapping[str, str]:
    """Return the column of each field as the page proposes it, and print the columns that were guessed."""
    from coeval.datasets import FIELDS, preview

    seen = preview(path, mapping=mapping or None)
    if seen.fields != FIELDS:
        return mapping
    likely = {field: column for field, column in seen.mapping.items() if field in FIELDS}
    guessed = [
        f"{field}: {column}" for field, column in likely.items() if column != mapping.get(field, field)
    ]
    if guessed:
        print(f"Columns: {', '.join(guessed)} (--map field=column chooses others)", flush=True)
    return {**likely, **mapping}


def _prepare(context: Context, options: argparse.Namespace) -> str:
    """Import the file, draft if a model is named, and return the links to print."""
    from coeval.usecases.study_outlines import open_review, split_criteria

    lines = split_criteria(options.criteria or _ask_criteria(context, options.path))
    review = open_review(context, OPERATOR, options.path, lines, options.map, options.description)
    print(review.imported, flush=True)
    if options.judge:
        _draft(context, review.slug, options.judge)
    first, second = (_link(context.settings, token) for token in review.tokens.values())
    return (
        f"Your page: {first}\n"
        f"For a second person, who does not see your scores (in another browser): {second}\n"
        f"Both links work on this machine only. The work is kept in {context.store.shown_address}; Ctrl+C stops."
    )


def _ask_criteria(context: Context, path: Path) -> str:
    from coeval.usecases.study_outlines import USUAL_CRITERIA, has_criteria

    if has_criteria(context, path):
        return ""
    asked = input(f"What do you judge? [{USUAL_CRITERIA}] ") if may_ask() else ""
    return asked.strip() or USUAL_CRITERIA


def _draft(context: Context, slug: str, model: str) -> None:
    from coeval.usecases.drafting.execution import run_drafting
    from coeval.usecases.drafting.run_settings import RunSettings

    made = asyncio.run(
        run_drafting(context, OPERATOR, slug, RunSettings(model=model), on_progress=show_progress())
    )
    print(made, flush=True)


def _link(settings: Settings, token: str) -> str:
    return f"{settings.address}/open/{token}"
