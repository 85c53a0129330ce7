"""``python -m coeval``: every command in one parser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from coeval.cli.criteria import add_criteria
from coeval.cli.exporting import add_export
from coeval.cli.importing import add_import
from coeval.cli.inviting import add_invite
from coeval.cli.judging.batches import add_batch
from coeval.cli.judging.drafting import add_draft
from coeval.cli.judging.judge import add_judge
from coeval.cli.output import add_output
from coeval.cli.planning import add_plan
from coeval.cli.prolific import add_prolific
from coeval.cli.replicating import add_replicate
from coeval.cli.reporting import reported
from coeval.cli.serving import add_serve
from coeval.cli.study import add_study
from coeval.cli.upkeep import add_upkeep
from coeval.settings import load_settings
from coeval.study.access import Context, open_context


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``python -m coeval``."""
    options = build_parser().parse_args(arguments)
    if getattr(options, "opens_file", True):
        reported(lambda: options.command(_open(options), options))
    else:
        reported(lambda: options.command(options))


def _open(options: argparse.Namespace) -> Context:
    return open_context(load_settings(db=options.db), read_only=getattr(options, "read_only", False))


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m coeval", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--db", help="the SQLite file, or postgresql://... (default: COEVAL_DB, else data/coeval.db)"
    )
    task = argparse.ArgumentParser(add_help=False, parents=[common])
    task.add_argument("--task", required=True, metavar="SLUG", help="the task's short name")
    add_import(commands, task)
    add_criteria(commands, task)
    add_draft(commands, task)
    add_batch(commands, task, common)
    add_judge(commands, task)
    add_output(commands, task)
    add_export(commands, task)
    add_plan(commands, task)
    add_prolific(commands, task)
    add_replicate(commands)
    add_study(commands, task, common)
    add_upkeep(commands, common)
    add_invite(commands, common)
    add_serve(commands, common)
    return parser
