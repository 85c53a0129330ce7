"""Write a replication as files: a page, all cells as CSV, and one CSV per figure and finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coeval.errors import InputError
from coeval.extensions.replication.cells import (
    EQUAL,
    NOT_AT_HAND,
    NOT_PUBLISHED,
    NOT_RELEASED,
    Replication,
    alike,
)
from coeval.extensions.replication.closer_look import replicate_closer_look
from coeval.extensions.replication.coeval_paper import replicate_coeval
from coeval.extensions.replication.esa import replicate_esa
from coeval.safe_csv import to_csv
from coeval.stats import Table, tables_markdown

PAPERS = {"coeval": replicate_coeval, "closer-look": replicate_closer_look, "esa": replicate_esa}
"""The studies that can be replicated, each from a folder of its public files."""


def write_replication(replication: Replication, out: Path) -> list[Path]:
    """Write the page, the cells, and the data of figures and findings; return the paths, the page first.

    Raises:
        InputError: the folder is not writable.
    """
    files = {"replication.md": _page(replication), "cells.csv": to_csv(replication.frame())}
    files |= {f"figure_{table.name}.csv": to_csv(table.frame) for table in replication.figures}
    files |= {f"finding_{finding.name}.csv": to_csv(finding.rows) for finding in replication.findings}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"The folder {out} is not writable: {error}.") from error
    return [out / name for name in files]


def summarise(replication: Replication) -> str:
    """Summarise how many computed cells equal their printed value, and how many cells have no released data.

    >>> summarise(Replication("", [], [], []))
    '0 of 0 computed cells have a printed value: 0 equal, 0 differ. 0 further cells are not released. 0 findings.'
    """
    verdicts = [cell.verdict for cell in replication.cells]
    equal, missing = verdicts.count(EQUAL), verdicts.count(NOT_RELEASED)
    hand = verdicts.count(NOT_AT_HAND) + verdicts.count(NOT_PUBLISHED)
    differ = len(verdicts) - equal - hand - missing
    printed, computed, found = equal + differ, len(verdicts) - missing, len(replication.findings)
    return (
        f"{printed:,} of {computed:,} computed cells {'has' if printed == 1 else 'have'} a printed value: "
        f"{equal:,} equal, {differ:,} {'differs' if differ == 1 else 'differ'}. "
        f"{missing:,} further {'cell is' if missing == 1 else 'cells are'} not released. "
        f"{found:,} {'finding' if found == 1 else 'findings'}."
    )


def render_cells(replication: Replication) -> list[str]:
    """Return one line per cell: our value, the printed value, the verdict and the population; then the notes."""
    lines = []
    for cell in replication.cells:
        ours = "undefined" if cell.ours is None else f"{cell.ours:.3f}"
        printed = "" if cell.printed is None else f"{cell.printed:g}"
        name = f"{cell.table}: {cell.row}, {cell.column}"
        lines.append(f"{name:<78} {ours:>8} {printed:>7}  {cell.verdict:<18} {cell.reason}")
    return [*lines, *replication.notes]


def _page(replication: Replication) -> str:
    return "\n".join(_lines(replication))


def _lines(replication: Replication) -> Iterator[str]:
    yield f"# {replication.title}, computed anew\n"
    yield summarise(replication) + "\n"
    yield "A cell is equal if it differs from the printed value by at most .006, or by no more than its rounding.\n"
    yield from (f"- {note}" for note in replication.notes)
    yield ""
    frame = replication.frame()
    for (study, table), rows in frame.groupby(["study", "table"], sort=False):
        columns = [
            "row",
            "column",
            "ours",
            "printed",
            "verdict",
            *(["source"] if rows["source"].any() else []),
            "reason",
        ]
        shown = rows[columns].reset_index(drop=True)
        yield tables_markdown(
            [Table(str(table), f"{table}, {study}", _counted(shown["verdict"].tolist()), shown)]
        )
    yield from _findings(replication)
    if replication.figures:
        yield "# Figures\n"
        yield tables_markdown(replication.figures)


def _counted(verdicts: list[str]) -> str:
    known = [verdict for verdict in verdicts if verdict not in (NOT_AT_HAND, NOT_PUBLISHED, NOT_RELEASED)]
    if not known:
        return "No printed value of this table is known."
    return f"{known.count(EQUAL)} of {len(known)} cells with a known printed value are equal."


def _findings(replication: Replication) -> Iterator[str]:
    renamed = alike(replication.cells, key=lambda cell: (cell.study, cell.table))
    if replication.findings or renamed:
        yield "# Findings\n"
    for printed, other in renamed:
        yield f"The row printed as “{printed}” has the values that the files give for “{other}”.\n"
    for finding in replication.findings:
        yield finding.text + "\n"
        yield tables_markdown(
            [
                Table(
                    finding.name,
                    finding.name.replace("_", " "),
                    "The rows behind this finding.",
                    finding.rows,
                )
            ]
        )
