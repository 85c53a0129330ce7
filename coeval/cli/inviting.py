"""The command ``python -m coeval invite``: a link that makes one account, once."""

from __future__ import annotations

import argparse
import sys

from coeval.domain import Role
from coeval.settings import SignIn
from coeval.study.access import OPERATOR, Context


def add_invite(commands: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    command = commands.add_parser(
        "invite", parents=[common], help="make a link that lets one person in, once"
    )
    command.add_argument("--role", default=Role.ANNOTATOR, choices=list(Role), type=Role)
    command.add_argument("--name", default="", help="somebody known already, who gets a new password")
    command.set_defaults(command=_invite)


def _invite(context: Context, options: argparse.Namespace) -> None:
    from coeval.study.people.accounts import build_link, invite

    print(build_link(context.settings, invite(context, OPERATOR, options.role, name=options.name)))
    if context.settings.sign_in is not SignIn.ACCOUNTS:
        print("note: the link works where the app runs with COEVAL_SIGN_IN=accounts", file=sys.stderr)
