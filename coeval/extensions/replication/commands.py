"""``python -m coeval replicate``."""

from __future__ import annotations

import argparse
from pathlib import Path

from coeval.cli.results import Parsers, build_reporting, report

PAPERS = ("coeval", "closer-look", "fusion-eval", "esa")


def add_replicate(parsers: Parsers) -> None:
    command = parsers.commands.add_parser(
        "replicate",
        parents=[build_reporting()],
        help="recompute a published study from its public files",
    )
    command.add_argument("paper", choices=PAPERS, help="paper to replicate")
    command.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="folder with the public files"
    )
    command.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the page and the tables"
    )
    command.add_argument(
        "--printed",
        type=Path,
        metavar="F.csv",
        help="CSV file with more published values (columns: study, table, row, column, printed)",
    )
    command.set_defaults(command=_replicate, opens_file=False)


def _replicate(options: argparse.Namespace) -> None:
    from coeval.extensions.replication.cells import load_printed, render_cells, summarise, write_replication
    from coeval.extensions.replication.closer_look import replicate_closer_look
    from coeval.extensions.replication.coeval_paper import replicate_coeval
    from coeval.extensions.replication.esa import replicate_esa
    from coeval.extensions.replication.fusion_eval import replicate_fusion_eval

    printed = load_printed(options.printed) if options.printed else {}
    ways = {
        "coeval": replicate_coeval,
        "closer-look": replicate_closer_look,
        "fusion-eval": replicate_fusion_eval,
        "esa": replicate_esa,
    }
    replication = ways[options.paper](options.data)
    replication.hold_against(printed)
    paths = write_replication(replication, options.out)
    summary = summarise(replication)
    table = render_cells(replication) if options.paper == "esa" else []
    report(options, {"paths": paths, "summary": summary}, [*table, *paths, summary])
