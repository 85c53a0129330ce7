"""``python -m coeval spans``: statistics of files of error spans, and the spans of a study."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.cli.results import Parsers, add_item_options, build_reporting, read_given, report, report_items
from coeval.errors import InputError
from coeval.usecases.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.extensions.spans.annotations import Collection
    from coeval.extensions.spans.typology import Typology


def add_spans(parsers: Parsers) -> None:
    spans = parsers.commands.add_parser(
        "spans", help="import, score, draft and report typed error spans (MQM, ESA)"
    )
    actions = spans.add_subparsers(required=True, metavar="ACTION")
    _add_typologies(actions)
    _add_stats(actions)
    _add_study(actions, parsers)


def _add_typologies(actions: argparse._SubParsersAction) -> None:
    command = actions.add_parser(
        "typologies", parents=[build_reporting()], help="list typologies, or show one as JSON"
    )
    command.add_argument("name", nargs="?", help="name of a typology, or your own JSON file")
    command.set_defaults(command=_typologies, opens_file=False)


def _add_stats(actions: argparse._SubParsersAction) -> None:
    command = actions.add_parser(
        "stats", parents=[build_reporting()], help=("compute statistics of span files")
    )
    _add_files(command, "+")
    command.add_argument(
        "--reference",
        type=Path,
        metavar="FILE",
        help="file with the reference spans for precision and recall",
    )
    command.set_defaults(command=_stats, opens_file=False)


def _add_study(actions: argparse._SubParsersAction, parsers: Parsers) -> None:
    task = parsers.task_reported
    setup = actions.add_parser("set-up", parents=[task], help="have people mark spans in a study")
    setup.add_argument("--typology", required=True, help="mqm, wmt, esa, frank, or a JSON file")
    setup.set_defaults(command=_set_up)
    taken = actions.add_parser(
        "import", parents=[task], help="import spans of people and models into a study"
    )
    _add_files(taken, "+")
    taken.add_argument("--label", default="imported spans", help="label of the run with the model's drafts")
    taken.set_defaults(command=_import, makes_file=True)
    draft = actions.add_parser("draft", parents=[task], help="have a model draft the spans of every instance")
    add_item_options(draft)
    draft.add_argument("--templates", metavar="DIR", help="folder with your copy of spans-mqm.md")
    draft.set_defaults(command=_draft)
    told = actions.add_parser("report", parents=[task], help="report span statistics of a study")
    told.add_argument("--arm", default="", choices=["blind", "assisted", "first"], help=("use only this arm"))
    told.set_defaults(command=_report, only_reads=True)
    export = actions.add_parser("export", parents=[task], help="write the spans of a study to a file")
    export.add_argument(
        "--as",
        dest="to",
        required=True,
        metavar="FORMAT",
        help="format: mqm-tsv or esa-csv",
    )
    export.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="new file, which must not exist"
    )
    export.add_argument(
        "--of",
        default="people",
        choices=["people", "drafts"],
        help=("whose spans to write (default: people's)"),
    )
    export.set_defaults(command=_export, only_reads=True)


def _set_up(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.annotation import set_typology
    from coeval.extensions.spans.typology import load_typology

    typology = load_typology(options.typology)
    set_typology(context, OPERATOR, options.task, typology)
    report(
        options,
        typology.to_json(),
        [f"{options.task}: people mark spans with the typology “{typology.title}”."],
    )


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.study import import_spans

    collection, typology = load_files(options)
    done = import_spans(
        context,
        OPERATOR,
        options.task,
        collection,
        typology,
        label=options.label,
    )
    report(options, done, [*done.notes, done])


def _draft(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.drafting import SpanSettings, draft_spans

    settings = SpanSettings(**read_given(options, [member.name for member in fields(SpanSettings)]))
    drafting = draft_spans(
        context, OPERATOR, options.task, settings, lambda progress: print(progress, file=sys.stderr)
    )
    report_items(options, asyncio.run(drafting))


def _report(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.annotation import list_span_runs
    from coeval.extensions.spans.report import describe_study, to_json, write_lines
    from coeval.extensions.spans.study import read_study

    people, drafts, typology = read_study(context, OPERATOR, options.task)
    people = people.select(options.arm) if options.arm else people
    found = describe_study(people, drafts, typology)
    runs = {one.label: (n, unread) for one, n, unread in list_span_runs(context, OPERATOR, options.task)}
    found["runs"] = {label: {"drafts": n, "unscored": unread} for label, (n, unread) in runs.items()}
    told = [f"Run “{label}”: {n:,} drafts, {unread:,} unscored" for label, (n, unread) in runs.items()]
    report(options, to_json(found), [*write_lines(found), *told])


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.study import read_study, write_file

    people, drafts, typology = read_study(context, OPERATOR, options.task)
    chosen = people if options.of == "people" else drafts
    write_new(options.out, write_file(chosen, typology, options.to))
    done: dict[str, Any] = {"path": options.out, "annotations": len(chosen.annotations)}
    report(options, done, [f"{options.out}: {len(chosen.annotations):,} annotations"])


def _add_files(command: argparse.ArgumentParser, number: str) -> None:
    add = command.add_argument
    add("files", type=Path, nargs=number, metavar="FILE", help="span files, all in the same format")
    add("--format", default="", help="format of the files (default: from the file extension)")
    add("--typology", default="", help="mqm, wmt, esa, frank, or a JSON file (default: that of the format)")
    add(
        "--items",
        type=Path,
        metavar="FILE",
        help="file with each item's text and line number (ESA: itemID, documentID, line, targetText)",
    )
    add(
        "--documents",
        type=Path,
        metavar="FILE",
        help="file with the document of each line (ESA: en-de.docs)",
    )
    add(
        "--people",
        type=Path,
        metavar="FILE",
        help="file that maps logins to annotators (ESA: AnnotatorID, login)",
    )
    add("--arm", default="", choices=["blind", "assisted"], help="arm of all segments")


def load_files(options: argparse.Namespace, *files: Path) -> tuple[Collection, Typology]:
    """Return the annotations in ``files``, or in the files that the command names, and their typology."""
    from coeval.extensions.spans.reading import Further
    from coeval.extensions.spans.study import read_files

    further = Further(options.items, options.documents, options.people, options.arm)
    return read_files(files or options.files, further, format=options.format, typology=options.typology)


def _typologies(options: argparse.Namespace) -> None:
    import json

    from coeval.extensions.spans.typology import list_typologies, load_typology

    if options.name:
        one = load_typology(options.name)
        report(options, one.to_json(), [json.dumps(one.to_json(), ensure_ascii=False, indent=1)])
        return
    own = list_typologies()
    lines = [f"{one.name:<6} {one.title} ({len(one.categories)} categories)" for one in own]
    report(options, {one.name: one.to_json() for one in own}, lines)


def _stats(options: argparse.Namespace) -> None:
    from coeval.extensions.spans.report import describe, to_json, write_lines

    collection, typology = load_files(options)
    reference = None
    if options.reference:
        reference, _ = load_files(options, options.reference)
    found = describe(collection, typology, reference)
    report(options, to_json(found), write_lines(found))


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet.

    Raises:
        InputError: the file exists, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} exists: name another file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
