"""``python app.py`` and ``python -m coeval serve``: start the server."""

from __future__ import annotations

import argparse
import gc
import ipaddress
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from coeval.cli.results import build_reporting, report, reported
from coeval.errors import InputError, StorageError
from coeval.settings import Settings, SignIn, load_settings
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
    study = commands.add_parser(
        "study", help="export, import or merge a whole study, or start one from a file"
    )
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
    # what is loaded and built until the server answers stays for good. Looking through it for garbage makes the start
    # 1.40 times an empty Gradio app's, by the processor; without it is 1.20, and the goal is 1.2 (benchmark "start")
    gc.disable()
    # imported late: other commands need no web server, and importing one takes seconds
    from coeval.ui.run import run_server

    given: dict[str, Any] = {"prepare": partial(_begin, path=options.study)} if options.study else {}
    run_server(
        settings, host, port,
        start_empty=options.start_empty, lineage=options.restore, when_built=_collect_what_follows, **given,
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
    raise InputError(
        f"CoEval does not listen on {host}: people sign in with only a name, so anyone who reaches it could be "
        "anybody. Use 127.0.0.1, or set COEVAL_SIGN_IN=accounts and create the first owner's link with "
        "“python -m coeval invite --role owner”. On a Space, write hf_oauth: true into its README.md instead."
    )
