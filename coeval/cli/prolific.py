"""``python -m coeval prolific``: a study at Prolific, from its draft to the last bonus."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from coeval.errors import InputError
from coeval.study.access import OPERATOR, Context

if TYPE_CHECKING:
    from coeval.study.crowd.prolific.desk import Report

Command = Callable[[Context, argparse.Namespace], None]


def add_prolific(commands: argparse._SubParsersAction, task: argparse.ArgumentParser) -> None:
    prolific = commands.add_parser(
        "prolific", help="a study at Prolific: drafted, published, reviewed and paid (PROLIFIC_TOKEN)"
    )
    actions = prolific.add_subparsers(required=True, metavar="ACTION")

    def add(
        name: str, words: str, run: Command, *, dry: bool = True, confirm: bool = False
    ) -> argparse.ArgumentParser:
        command = actions.add_parser(name, parents=[task], help=words, description=words)
        if dry:
            command.add_argument("--dry-run", action="store_true", help="only say what would be sent")
        if confirm:
            command.add_argument(
                "--confirm", default="", metavar="WORDS", help="the words that --dry-run shows"
            )
        command.set_defaults(command=run)
        return command

    _add_draft(add("draft", "create a draft study from the task and its plan", _draft))
    add("publish", "publish the newest draft", _publish, confirm=True)
    add("status", "the submissions as Prolific has them, beside the work done here", _status, dry=False)
    approve = add(
        "approve", "approve submissions that await review, which pays their reward", _review("approve")
    )
    approve.add_argument("--suggested", action="store_true", help="all that nothing speaks against")
    returned = add("return", "ask people to return their submissions", _review("return"))
    reject = add("reject", "reject submissions that await review", _review("reject"))
    reject.add_argument("--category", required=True, help="Prolific's category, such as FAILED_CHECK")
    for command in (returned, reject):
        command.add_argument("--message", required=True, help="why; for a rejection at least 100 characters")
    bonus = add("bonus", "pay a bonus by a rule; without submissions, to all approved", _bonus, confirm=True)
    _add_bonus(bonus)
    message = add("message", "send people a message", _message)
    message.add_argument("--message", required=True)
    for command in (approve, returned, reject, bonus, message):
        command.add_argument("submissions", nargs="*", metavar="SUBMISSION", help="ids at Prolific")
    top_up = add("top-up", "add places for work that came back", _top_up, confirm=True)
    top_up.add_argument(
        "--more", type=int, default=0, metavar="N", help="so many, rather than what is needed"
    )
    settle = add("look-up", "ask what came of a request without an answer", _settle, dry=False, confirm=True)
    settle.add_argument("request", type=int)
    add("filters", "look up filters by a word", _filters, dry=False).add_argument("words")
    add("record", "everything that was asked of Prolific, as CSV", _record, dry=False)


def _add_draft(command: argparse.ArgumentParser) -> None:
    command.add_argument("--title", default="", help="default: the task's name")
    command.add_argument("--description", default="", help="default: the task's")
    command.add_argument("--places", type=int, default=0, help="default: as many as the plan needs")
    command.add_argument("--minutes", type=float, default=0, help="default: as measured")
    command.add_argument(
        "--action", nargs="+", default=[], metavar="CODE=ACTION",
        help="what a code does: done, screened, declined, full, blocked = review, approve, return, pay",
    )  # fmt: skip
    command.add_argument(
        "--screen-out-pay", default="0", metavar="AMOUNT", help="for screened=pay, such as 0.50"
    )
    command.add_argument("--screen-out-places", type=int, default=0, metavar="N")
    command.add_argument("--filter", nargs="+", default=[], metavar="FILTER=VALUES", help="as in age=18..40")
    command.add_argument("--devices", nargs="+", default=["desktop"])


def _add_bonus(command: argparse.ArgumentParser) -> None:
    command.add_argument("--rule", required=True, choices=["time", "same", "each"],
                         help="the time taken less what was paid; the same for all; for every instance")  # fmt: skip
    command.add_argument("--name", required=True, help="what it is for: nobody gets two of a name")
    command.add_argument("--amount", default="0", help="such as 1.50; not for the time")


def _draft(context: Context, options: argparse.Namespace) -> None:
    from coeval.cli.importing import read_mapping
    from coeval.study.crowd.prolific.publishing import Draft, draft_study
    from coeval.study.crowd.prolific.rules import read_money

    draft = Draft(
        title=options.title,
        description=options.description,
        places=options.places,
        minutes=options.minutes,
        actions=read_mapping(options.action, "CODE=ACTION, such as done=approve"),
        screen_out_pay=read_money(options.screen_out_pay, "--screen-out-pay"),
        screen_out_places=options.screen_out_places,
        filters="\n".join(options.filter),
        devices=tuple(options.devices),
    )
    _print(draft_study(context, OPERATOR, options.task, draft, dry_run=options.dry_run))


def _publish(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.publishing import publish_study

    _print(publish_study(context, OPERATOR, options.task, **_confirmed(options)))


def _status(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.reviewing import get_live

    live = get_live(context, OPERATOR, options.task)
    for study in live.studies:
        print(
            f"{study.id}  {study.status.lower()}  {study.places_taken or 0}/{study.total_available_places} places"
        )
    for entry in live.entries:
        suggestion = entry.row.advice.suggestion if entry.row else "look"
        evidence = entry.row.advice.evidence if entry.row else "never came in by the study's address"
        print(f"{entry.remote.id}  {entry.remote.status.lower()}  {entry.name}  {suggestion}: {evidence}")


def _review(verdict: str) -> Command:
    def run(context: Context, options: argparse.Namespace) -> None:
        from coeval.study.crowd.prolific.reviewing import Verdict, review

        given: dict[str, Any] = {name: getattr(options, name, "") for name in ("category", "message")}
        report = review(
            context, OPERATOR, options.task, Verdict(verdict), options.submissions, **given,
            suggested=getattr(options, "suggested", False), dry_run=options.dry_run,
        )  # fmt: skip
        _print(report)

    return run


def _bonus(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.bonuses import Bonus, Rule, pay_bonus
    from coeval.study.crowd.prolific.rules import read_money

    bonus = Bonus(Rule(options.rule), options.name, read_money(options.amount, "--amount"))
    _print(pay_bonus(context, OPERATOR, options.task, bonus, options.submissions, **_confirmed(options)))


def _message(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.messaging import message_workers

    _print(
        message_workers(
            context, OPERATOR, options.task, options.submissions, options.message, dry_run=options.dry_run
        )
    )


def _top_up(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.more_places import top_up

    _print(top_up(context, OPERATOR, options.task, more=options.more, **_confirmed(options)))


def _settle(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.settling import settle

    _print(
        settle(context, OPERATOR, options.task, options.request, confirm=options.confirm),
        open_is_failure=False,
    )


def _filters(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.filters import find_filters

    _print(find_filters(context, OPERATOR, options.task, options.words))


def _record(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.crowd.prolific.request_record import export_asked

    sys.stdout.write(export_asked(context, OPERATOR, options.task))


def _confirmed(options: argparse.Namespace) -> Mapping[str, Any]:
    return {"confirm": options.confirm, "dry_run": options.dry_run}


def _print(report: Report, *, open_is_failure: bool = True) -> None:
    """A report on stdout; exit code 1 where something was asked for and not done."""
    from coeval.study.crowd.prolific.desk import say_money

    print(report.title + (" (dry run: nothing was sent)" if report.dry else ""))
    for line in report.lines:
        amount = f"  {say_money(line.amount, report.currency)}" if line.amount and not line.failed else ""
        print(f"  {'✕ ' * line.failed}{line.what}: {line.words}{amount}")
    if report.total:
        print(f"In all {say_money(report.total, report.currency)}.")
    if report.confirm:
        print(f"To confirm: --confirm {shlex.quote(report.confirm)}")
    if report.failed and open_is_failure and not report.dry:
        raise InputError(f"{report.failed} of {len(report.lines)} were not done: the lines say why.")
