"""``python -m coeval skill`` and ``mcp``: the page for agents, the server of their tools, and their tokens."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coeval.cli.results import Parsers, add_price_options, read_prices, report
from coeval.errors import InputError
from coeval.usecases.access import OPERATOR, Context

SKILL = Path(__file__).with_name("skill.md")
SECRET = "COEVAL_AGENT_TOKEN"


def add_agents(parsers: Parsers) -> None:
    skill = parsers.commands.add_parser("skill", help="print the page that teaches an agent these commands")
    skill.set_defaults(command=_skill, opens_file=False)
    mcp = parsers.commands.add_parser(
        "mcp", help=f"serve tools to an agent (MCP over stdio, token in {SECRET})"
    )
    mcp.add_argument("--db", help="SQLite file or postgresql:// URL (default: COEVAL_DB, or data/coeval.db)")
    mcp.set_defaults(command=_serve)
    actions = mcp.add_subparsers(metavar="token|revoke")
    token = actions.add_parser("token", parents=[parsers.task_reported], help="make a token for one task")
    add = token.add_argument
    add("--limit", type=float, default=0.0, help="what all drafts together may cost (default: 0, no drafts)")
    add("--takes-scores", action="store_true", help="let the agent import files with people's scores")
    add_price_options(token)
    token.set_defaults(command=_make, makes_file=True)
    revoke = actions.add_parser("revoke", parents=[parsers.common_reported], help="end a token, or list all")
    revoke.add_argument("key", nargs="?", default="", help="key of the token (default: list the tokens)")
    revoke.set_defaults(command=_revoke)


def _skill(options: argparse.Namespace) -> None:
    print(SKILL.read_text(encoding="utf-8"), end="")


def _serve(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.agents.tokens import find_agent
    from coeval.extensions.agents.tools import build_server

    secret = context.settings.agent_token
    if not secret:
        raise InputError(
            f"Set {SECRET} to a token: an owner makes one with “python -m coeval mcp token --task SLUG”."
        )
    find_agent(context, secret)  # refuse at once, rather than at the first call
    build_server(context, secret).run("stdio")


def _make(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.agents.tokens import make_token

    secret = make_token(
        context, OPERATOR, options.task, budget=options.limit, prices=read_prices(options),
        takes_scores=options.takes_scores,
    )  # fmt: skip
    report(options, {"token": secret, "task": options.task}, [secret])
    print(f"It is shown only once. Set it as {SECRET} for “python -m coeval mcp”.", file=sys.stderr)


def _revoke(context: Context, options: argparse.Namespace) -> None:
    from coeval.extensions.agents.tokens import list_tokens, revoke_token

    key = options.key
    tokens = revoke_token(context, OPERATOR, key) if key else list_tokens(context, OPERATOR)
    report(
        options, {"tokens": [token.cells for token in tokens]}, ("\t".join(token.cells) for token in tokens)
    )
