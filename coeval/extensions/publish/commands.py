"""``python -m coeval publish``: write a study as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path

from coeval.cli.results import Parsers, report
from coeval.errors import StorageError
from coeval.usecases.access import OPERATOR, Context


def add_publish(parsers: Parsers) -> None:
    command = parsers.commands.add_parser(
        "publish", parents=[parsers.task_reported], help="write a study as one HTML file for its readers"
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    command.add_argument("--names", action="store_true", help="write people's names (default: pseudonyms)")
    command.add_argument("--comments", action="store_true", help="write people's comments and reasons")
    command.add_argument(
        "--no-texts",
        dest="texts",
        action="store_false",
        help="leave out inputs, outputs and lines of drafts",
    )
    command.set_defaults(command=_publish, only_reads=True)


def _publish(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.publish.publication import Choice, publish_file

    choice = Choice(options.texts, options.comments, options.names)
    published = publish_file(context, OPERATOR, options.task, choice, stem=options.out.stem)
    paths = []
    for name, text in published.files.items():
        path = options.out if name.endswith(".html") else options.out.with_name(name)
        try:
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise StorageError(f"{path} is not writable ({error.strerror}): choose another --out.") from error
        paths.append(path)
    report(options, {"paths": paths, "leaving": published.leaving}, [*published.leaving, *paths])
