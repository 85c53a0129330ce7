"""``python -m coeval replicate``."""

from __future__ import annotations

import argparse
from pathlib import Path

PAPERS = ("coeval", "closer-look")


def add_replicate(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("replicate", help="compute a published study anew from its public files")
    command.add_argument("paper", choices=PAPERS)
    command.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="the folder of the public files"
    )
    command.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="where the page and the tables go"
    )
    command.add_argument(
        "--printed",
        type=Path,
        metavar="F.csv",
        help="more printed values: study, table, row, column, printed",
    )
    command.set_defaults(command=_replicate, opens_file=False)


def _replicate(options: argparse.Namespace) -> None:
    from coeval.study.replicating.cells import load_printed
    from coeval.study.replicating.replication_files import PAPERS as ways
    from coeval.study.replicating.replication_files import summarise, write_replication

    printed = load_printed(options.printed) if options.printed else {}
    replication = ways[options.paper](options.data)
    replication.hold_against(printed)
    for path in write_replication(replication, options.out):
        print(path)
    print(summarise(replication))
