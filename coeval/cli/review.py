"""``python -m coeval review FILE``: review one file in the browser, without set-up."""

from __future__ import annotations

import argparse
import asyncio
import gc
from dataclasses import replace
from functools import partial
from pathlib import Path

from coeval.cli.draft import show_progress
from coeval.cli.files import read_mapping
from coeval.cli.results import may_ask
from coeval.cli.serve import allow_files
from coeval.errors import InputError
from coeval.settings import Settings, load_settings, on_this_machine
from coeval.usecases.access import OPERATOR, Context

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
    # read before anything is written, so that an unusable file leaves no database behind
    ImportOptions(mapping=read_mapping(options.map) or None).open(path, make_slug(path.stem))
    settings = on_this_machine(load_settings(db=path.with_name(path.stem + ENDING)))
    if options.judge:
        settings = replace(settings, model=options.judge)
    allow_files()
    gc.disable()  # see run_serving of coeval/cli/serve.py
    from coeval.ui.run import run_server

    run_server(
        settings, settings.host, options.port or settings.port,
        prepare=partial(_prepare, options=options), when_built=_collect_garbage,
    )  # fmt: skip


def _collect_garbage() -> None:
    gc.freeze()
    gc.enable()


def _prepare(context: Context, options: argparse.Namespace) -> str:
    """Import the file, draft if a model is named, and return the links to print."""
    from coeval.usecases.study_outlines import open_review, split_criteria

    lines = split_criteria(options.criteria or _ask_criteria(context, options.path))
    review = open_review(
        context, OPERATOR, options.path, lines, read_mapping(options.map), options.description
    )
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
