"""A replication as files: a page to read, all cells as CSV, and a CSV for each figure and finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coeval.errors import InputError
from coeval.safe_csv import to_csv
from coeval.stats import Table, tables_markdown
from coeval.study.replicating.cells import EQUAL, NOT_AT_HAND, NOT_RELEASED, Replication, alike
from coeval.study.replicating.closer_look import replicate_closer_look
from coeval.study.replicating.coeval_paper import replicate_coeval

PAPERS = {"coeval": replicate_coeval, "closer-look": replicate_closer_look}
"""What can be replicated, each from a folder of its public files."""


def write_replication(replication: Replication, out: Path) -> list[Path]:
    """Write the page, the cells, and what figures and findings rest on; the paths, the page first.

    Raises:
        InputError: the folder cannot be written to.
    """
    files = {"replication.md": _page(replication), "cells.csv": to_csv(replication.frame())}
    files |= {f"figure_{table.name}.csv": to_csv(table.frame) for table in replication.figures}
    files |= {f"finding_{finding.name}.csv": to_csv(finding.rows) for finding in replication.findings}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written to: {error}.") from error
    return [out / name for name in files]


def summarise(replication: Replication) -> str:
    """How many cells are equal, differ, have no printed value at hand, or are not released."""
    verdicts = [cell.verdict for cell in replication.cells]
    equal, hand, missing = (verdicts.count(word) for word in (EQUAL, NOT_AT_HAND, NOT_RELEASED))
    differ = len(verdicts) - equal - hand - missing
    return (
        f"{len(verdicts):,} cells: {equal:,} equal, {differ:,} differ, {hand:,} without a printed value at hand, "
        f"{missing:,} not released; {len(replication.findings)} findings."
    )


def _page(replication: Replication) -> str:
    return "\n".join(_lines(replication))


def _lines(replication: Replication) -> Iterator[str]:
    yield f"# {replication.title}, computed anew\n"
    yield summarise(replication) + "\n"
    yield "A cell is equal where it lies within .006 of the printed value.\n"
    frame = replication.frame()
    for (study, table), rows in frame.groupby(["study", "table"], sort=False):
        shown = rows[["row", "column", "ours", "printed", "verdict", "reason"]].reset_index(drop=True)
        yield tables_markdown(
            [Table(str(table), f"{table}, {study}", _counted(shown["verdict"].tolist()), shown)]
        )
    yield from _findings(replication)
    if replication.figures:
        yield "# Figures\n"
        yield tables_markdown(replication.figures)


def _counted(verdicts: list[str]) -> str:
    known = [verdict for verdict in verdicts if verdict not in (NOT_AT_HAND, NOT_RELEASED)]
    if not known:
        return "No printed value of this table is at hand."
    return f"{known.count(EQUAL)} of {len(known)} cells with a printed value at hand are equal."


def _findings(replication: Replication) -> Iterator[str]:
    renamed = alike(replication.cells, key=lambda cell: (cell.study, cell.table))
    if replication.findings or renamed:
        yield "# Findings\n"
    for printed, other in renamed:
        yield f"The row printed as “{printed}” holds the values that the files give for “{other}”.\n"
    for finding in replication.findings:
        yield finding.text + "\n"
        yield tables_markdown(
            [Table(finding.name, finding.name.replace("_", " "), "The rows this rests on.", finding.rows)]
        )
