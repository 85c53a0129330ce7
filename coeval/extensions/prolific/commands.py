"""``python -m coeval prolific``: a study on Prolific, from its draft to the last decision."""

from __future__ import annotations

import argparse
import csv
import io
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from coeval.cli.results import Parsers, report
from coeval.errors import InputError
from coeval.usecases.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.extensions.prolific.requests_log import Report

Command = Callable[[Context, argparse.Namespace], None]


def add_prolific(parsers: Parsers) -> None:
    prolific = parsers.commands.add_parser(
        "prolific", help="draft, publish, review and pay a study on Prolific (needs PROLIFIC_TOKEN)"
    )
    actions = prolific.add_subparsers(required=True, metavar="ACTION")

    def add(
        name: str, words: str, run: Command, *, dry: bool = True, confirm: bool = False
    ) -> argparse.ArgumentParser:
        command = actions.add_parser(name, parents=[parsers.task_reported], help=words, description=words)
        if dry:
            command.add_argument("--dry-run", action="store_true", help="only show what would be sent")
        if confirm:
            command.add_argument(
                "--confirm", default="", metavar="WORDS", help="confirmation text that --dry-run shows"
            )
        command.set_defaults(command=run)
        return command

    _add_draft(add("draft", "create a draft study from the task and its plan", _draft))
    add("publish", "publish the newest draft", _publish, confirm=True)
    add("status", "show the submissions on Prolific with their work in this study", _status, dry=False)
    approve = add(
        "approve", "approve submissions that await review, which pays their reward", _review("approve")
    )
    approve.add_argument(
        "--suggested", action="store_true", help="approve every submission without a warning"
    )
    returned = add("return", "ask people to return their submissions", _review("return"))
    reject = add("reject", "reject submissions that await review", _review("reject"))
    reject.add_argument("--category", required=True, help="Prolific's category, such as FAILED_CHECK")
    for command in (returned, reject):
        command.add_argument(
            "--message", required=True, help="reason; a rejection needs at least 100 characters"
        )
    for command in (approve, returned, reject):
        command.add_argument(
            "submissions", nargs="*", metavar="SUBMISSION", help="submission ids on Prolific"
        )
    top_up = add("top-up", "add places for missing work", _top_up, confirm=True)
    top_up.add_argument(
        "--more",
        type=int,
        default=0,
        metavar="N",
        help="number of places to add (default: as many as needed)",
    )
    settle = add("look-up", "look up the result of an unanswered request", _settle, dry=False, confirm=True)
    settle.add_argument("request", type=int, help="number of the request")
    add("record", "print all requests to Prolific as CSV", _record, dry=False)


def _add_draft(command: argparse.ArgumentParser) -> None:
    command.add_argument("--title", default="", help="title of the study (default: the task's name)")
    command.add_argument(
        "--description", default="", help="description for participants (default: the task's)"
    )
    command.add_argument(
        "--places", type=int, default=0, help="number of places (default: as many as the plan needs)"
    )
    command.add_argument(
        "--minutes", type=float, default=0, help="estimated minutes per person (default: the measured time)"
    )
    command.add_argument(
        "--action", nargs="+", default=[], metavar="CODE=ACTION",
        help="action for each completion code; codes: done, part, screened, declined, full, blocked; "
        "actions: review, approve, return",
    )  # fmt: skip


def _draft(context: Context, options: argparse.Namespace) -> None:
    from coeval.cli.files import read_mapping
    from coeval.extensions.prolific.publication import Draft, draft_study

    draft = Draft(
        title=options.title,
        description=options.description,
        places=options.places,
        minutes=options.minutes,
        actions=read_mapping(options.action, "CODE=ACTION, such as done=approve"),
    )
    _print(options, draft_study(context, OPERATOR, options.task, draft, dry_run=options.dry_run))


def _publish(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.prolific.publication import publish_study

    _print(options, publish_study(context, OPERATOR, options.task, **_confirmed(options)))


def _status(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.prolific.submissions import get_live

    live = get_live(context, OPERATOR, options.task)
    studies = [
        {
            "id": study.id,
            "status": study.status.lower(),
            "taken": study.places_taken or 0,
            "places": study.total_available_places,
        }
        for study in live.studies
    ]
    entries = [
        {
            "id": entry.remote.id,
            "status": entry.remote.status.lower(),
            "name": entry.name,
            "suggestion": entry.row.advice.suggestion if entry.row else "look",
            "evidence": entry.row.advice.evidence if entry.row else "did not arrive through the study's link",
        }
        for entry in live.entries
    ]
    lines = [f"{one['id']}  {one['status']}  {one['taken']}/{one['places']} places" for one in studies]
    lines += [
        f"{one['id']}  {one['status']}  {one['name']}  {one['suggestion']}: {one['evidence']}"
        for one in entries
    ]
    report(options, {"studies": studies, "submissions": entries}, lines)


def _review(verdict: str) -> Command:
    def run(context: Context, options: argparse.Namespace) -> None:
        from coeval.extensions.prolific.submissions import Verdict, review

        given: dict[str, Any] = {name: getattr(options, name, "") for name in ("category", "message")}
        reviewed = review(
            context, OPERATOR, options.task, Verdict(verdict), options.submissions, **given,
            suggested=getattr(options, "suggested", False), dry_run=options.dry_run,
        )  # fmt: skip
        _print(options, reviewed)

    return run


def _top_up(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.prolific.publication import top_up

    _print(options, top_up(context, OPERATOR, options.task, more=options.more, **_confirmed(options)))


def _settle(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.prolific.requests_log import settle

    _print(
        options,
        settle(context, OPERATOR, options.task, options.request, confirm=options.confirm),
        open_is_failure=False,
    )


def _record(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.prolific.requests_log import export_asked

    asked = export_asked(context, OPERATOR, options.task)
    report(options, list(csv.DictReader(io.StringIO(asked))), [asked.rstrip("\r\n")])


def _confirmed(options: argparse.Namespace) -> Mapping[str, Any]:
    return {"confirm": options.confirm, "dry_run": options.dry_run}


def _print(options: argparse.Namespace, found: Report, *, open_is_failure: bool = True) -> None:
    """Print a report; exit with code 1 if a requested action was not done."""
    from coeval.extensions.prolific.requests_log import say_money

    lines = [found.title + (" (dry run: nothing was sent)" if found.dry else "")]
    for line in found.lines:
        amount = f"  {say_money(line.amount, found.currency)}" if line.amount and not line.failed else ""
        lines.append(f"  {'✕ ' * line.failed}{line.what}: {line.words}{amount}")
    if found.total:
        lines.append(f"In all {say_money(found.total, found.currency)}.")
    if found.confirm:
        lines.append(f"To confirm: --confirm {shlex.quote(found.confirm)}")
    report(options, found, lines)
    if found.failed and open_is_failure and not found.dry:
        raise InputError(f"{found.failed} of {len(found.lines)} requests failed: see the lines above.")
