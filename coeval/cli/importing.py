"""``python -m coeval import``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from coeval.datasets.hub.address import FORM, is_hub_address
from coeval.datasets.registry import NAMES
from coeval.domain import Group
from coeval.errors import InputError
from coeval.language import list_languages
from coeval.study.access import OPERATOR, Context


def add_import(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    command = commands.add_parser("import", parents=[task], help="import instances or a whole study")
    command.add_argument("path", help=f"a file, a folder, or a data set of the Hugging Face Hub: {FORM}")
    command.add_argument("--format", default="auto", choices=NAMES)
    command.add_argument(
        "--map", nargs="+", default=[], metavar="field=column", help="which column holds a field"
    )
    command.add_argument(
        "--group",
        type=Group,
        choices=list(Group),
        help="whom the file's people count with, where it does not say",
    )
    command.add_argument(
        "--language", default="", choices=list(list_languages()),
        help="the language of the annotators' screens, for a new task; English unless said",
    )  # fmt: skip
    command.add_argument(
        "--empty-outputs",
        action="store_true",
        help="rows without an output are answers: their writer said nothing",
    )
    command.set_defaults(command=_import)


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.importing.hub import import_hub
    from coeval.study.importing.import_options import ImportOptions
    from coeval.study.importing.importing import import_file

    given = ImportOptions(
        format=options.format,
        mapping=read_mapping(options.map),
        group=options.group,
        empty_outputs=options.empty_outputs,
        language=options.language,
    )
    if is_hub_address(options.path):
        report = import_hub(context, OPERATOR, options.path, options.task, given)
    else:
        report = import_file(context, OPERATOR, Path(options.path), options.task, given)
    for note in report.notes:
        print(f"note: {note}")
    print(report)


def read_mapping(pairs: Sequence[str], form: str = "field=column, such as input=question") -> dict[str, str]:
    """``["input=question"]`` to ``{"input": "question"}``; ``form`` is what an error says to write.

    Raises:
        InputError: a pair has no ``=`` or names a field twice.
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field.strip() or not column.strip() or field.strip() in mapping:
            raise InputError(f"“{pair}” cannot be read: write {form}, each once.")
        mapping[field.strip()] = column.strip()
    return mapping
