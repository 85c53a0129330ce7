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
        "stats", parents=[build_reporting()], help="compute statistics of span files"
    )
    _add_files(command)
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
    imports = actions.add_parser(
        "import", parents=[task], help="import spans of people and models into a study"
    )
    _add_files(imports)
    imports.add_argument("--label", default="imported spans", help="label of the run with the model's drafts")
    imports.set_defaults(command=_import, makes_file=True)
    draft = actions.add_parser("draft", parents=[task], help="have a model draft the spans of every instance")
    add_item_options(draft)
    draft.add_argument("--templates", metavar="DIR", help="folder with your copy of spans-mqm.md")
    draft.set_defaults(command=_draft)
    figures = actions.add_parser("report", parents=[task], help="report span statistics of a study")
    figures.add_argument(
        "--arm", default="", choices=["blind", "assisted", "first"], help="use only this arm"
    )
    figures.set_defaults(command=_report, only_reads=True)
    export = actions.add_parser("export", parents=[task], help="write the spans of a study to a file")
    add = export.add_argument
    add("--as", dest="to", required=True, metavar="FORMAT", help="format: mqm-tsv or esa-csv")
    add("--out", type=Path, required=True, metavar="FILE", help="new file, which must not exist")
    add(
        "--of",
        default="people",
        choices=["people", "drafts"],
        help="whose spans to write (default: people's)",
    )
    export.set_defaults(command=_export, only_reads=True)


def _set_up(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.annotation import set_typology
    from coeval.extensions.spans.typology import load_typology

    typology = load_typology(options.typology)
    set_typology(context, OPERATOR, options.task, typology)
    line = f"{options.task}: people mark spans with the typology “{typology.title}”."
    report(options, typology.to_json(), [line])


def _import(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.study import import_spans

    collection, typology = load_files(options)
    done = import_spans(context, OPERATOR, options.task, collection, typology, label=options.label)
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
    figures = describe_study(people, drafts, typology)
    lines, runs = write_lines(figures), {}
    for run, count, unread in list_span_runs(context, OPERATOR, options.task):
        runs[run.label] = {"drafts": count, "unscored": unread}
        lines.append(f"Run “{run.label}”: {count:,} drafts, {unread:,} unscored")
    report(options, to_json(figures | {"runs": runs}), lines)


def _export(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.spans.study import get_format, read_study

    people, drafts, typology = read_study(context, OPERATOR, options.task)
    chosen = people if options.of == "people" else drafts
    write_new(options.out, get_format(options.to).write(chosen, typology))
    written: dict[str, Any] = {"path": options.out, "annotations": len(chosen.annotations)}
    report(options, written, [f"{options.out}: {len(chosen.annotations):,} annotations"])


def _add_files(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("files", type=Path, nargs="+", metavar="FILE", help="span files, all in the same format")
    add("--format", default="", help="format of the files (default: from the file extension)")
    add("--typology", default="", help="mqm, wmt, esa, frank, or a JSON file (default: that of the format)")
    for name, content in (
        ("--items", "each item's text and line number (ESA: itemID, documentID, line, targetText)"),
        ("--documents", "the document of each line (ESA: en-de.docs)"),
        ("--people", "the annotator of each login (ESA: AnnotatorID, login)"),
    ):
        add(name, type=Path, metavar="FILE", help=f"file with {content}")
    add("--arm", default="", choices=["blind", "assisted"], help="arm of all segments")


def load_files(options: argparse.Namespace, *files: Path) -> tuple[Collection, Typology]:
    """Return the annotations in ``files``, or in the files that the command names, and their typology."""
    from coeval.extensions.spans.annotations import Further
    from coeval.extensions.spans.study import read_files

    further = Further(options.items, options.documents, options.people, options.arm)
    return read_files(files or options.files, further, format=options.format, typology=options.typology)


def _typologies(options: argparse.Namespace) -> None:
    import json

    from coeval.extensions.spans.typology import list_typologies, load_typology

    if options.name:
        stored = load_typology(options.name).to_json()
        report(options, stored, [json.dumps(stored, ensure_ascii=False, indent=1)])
        return
    listed = list_typologies()
    lines = [f"{each.name:<6} {each.title} ({len(each.categories)} categories)" for each in listed]
    report(options, {each.name: each.to_json() for each in listed}, lines)


def _stats(options: argparse.Namespace) -> None:
    from coeval.extensions.spans.report import describe, to_json, write_lines

    collection, typology = load_files(options)
    reference = None
    if options.reference:
        reference, _ = load_files(options, options.reference)
    figures = describe(collection, typology, reference)
    report(options, to_json(figures), write_lines(figures))


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
