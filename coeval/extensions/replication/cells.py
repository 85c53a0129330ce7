"""The results of a replication: cells with verdicts, and findings with their rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from coeval.datasets.text import parse_number
from coeval.errors import InputError
from coeval.safe_csv import to_csv
from coeval.stats import Table, tables_markdown

EQUAL, NOT_AT_HAND, NOT_RELEASED = "equal", "printed value not at hand", "not released"
NOT_PUBLISHED = "not published"
DEFAULT = 0.006
"""Values that differ by less are equal: printed values are rounded, and one row in two hundred may be counted
differently.
"""

COLUMNS = ("study", "table", "row", "column", "printed")


@dataclass(frozen=True)
class Cell:
    """One number of a table or figure. If the files do not give it, ``ours`` is None, and ``reason`` explains why."""

    study: str
    table: str
    row: str
    column: str
    ours: float | None
    printed: float | None = None
    reason: str = ""
    within: float = DEFAULT
    """The largest difference from the printed value that still counts as equal, to allow for rounding."""
    source: str = ""
    """The source of the printed value, if a table has several sources."""
    published: bool = True
    """True if the value was printed in the paper. If not, the verdict says so."""

    @property
    def place(self) -> tuple[str, str, str, str]:
        return self.study, self.table, self.row, self.column

    @property
    def verdict(self) -> str:
        """
        >>> Cell("ELI5", "Table 6", "score", "revise", 0.2932, 0.2934).verdict
        'equal'
        >>> Cell("ELI5", "Table 7", "minutes", "mean", 8.262, 4.13).verdict
        'differs by +4.132'
        """
        if self.ours is None:
            return NOT_RELEASED
        if self.printed is None:
            return NOT_AT_HAND if self.published else NOT_PUBLISHED
        gap = self.ours - self.printed
        return EQUAL if abs(gap) <= self.within else f"differs by {gap:+.3f}"


@dataclass(frozen=True)
class Finding:
    """An observation about printed numbers: a sentence, and the rows behind it."""

    name: str
    text: str
    rows: pd.DataFrame


@dataclass
class Replication:
    """A replicated paper: its cells in the paper's order, tables of figures, and findings."""

    title: str
    cells: list[Cell] = field(default_factory=list)
    figures: list[Table] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Limits of the numbers, one sentence each."""

    def hold_against(self, printed: Mapping[tuple[str, str, str, str], float]) -> None:
        """Add printed values to the cells; a printed value without a cell gets a new one."""
        places = {cell.place for cell in self.cells}
        self.cells = [replace(cell, printed=printed.get(cell.place, cell.printed)) for cell in self.cells]
        self.cells += [
            Cell(*place, None, value, reason="the files do not give it")
            for place, value in printed.items()
            if place not in places
        ]

    def add(self, name: str, text: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Add a finding if there are rows for it."""
        frame = pd.DataFrame(list(rows))
        if len(frame):
            self.findings.append(Finding(name, text, frame))

    def frame(self) -> pd.DataFrame:
        """Return the cells as a table."""
        return pd.DataFrame(
            [
                {
                    "study": cell.study,
                    "table": cell.table,
                    "row": cell.row,
                    "column": cell.column,
                    "ours": cell.ours,
                    "printed": cell.printed,
                    "verdict": cell.verdict,
                    "source": cell.source,
                    "reason": cell.reason,
                }
                for cell in self.cells
            ]
        ).astype({"ours": float, "printed": float})


def load_printed(path: Path) -> dict[tuple[str, str, str, str], float]:
    """Load printed values from a CSV file with the columns study, table, row, column, printed.

    Raises InputError for a missing column, a value that is not a number, or a repeated cell.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a table of printed values: {error}.") from error
    if not rows or set(COLUMNS) - set(rows[0]):
        raise InputError(f"{path.name}: needs a header row and the columns {', '.join(COLUMNS)}.")
    printed: dict[tuple[str, str, str, str], float] = {}
    for line, row in enumerate(rows, start=2):
        study, table, name, column = ((row[key] or "").strip() for key in COLUMNS[:4])
        value = parse_number(row["printed"] or "")
        if value is None:
            raise InputError(
                f"{path.name}, line {line}: '{row['printed']}' is not a number; write a number such as "
                "0.2934."
            )
        if (study, table, name, column) in printed:
            raise InputError(
                f"{path.name}, line {line}: repeats {table}, {name}, {column}; keep only one of them."
            )
        printed[study, table, name, column] = value
    return printed


def load_published(name: str) -> dict[tuple[str, str, str, str], float]:
    """Load the values that a paper prints, from the file of this package."""
    return load_printed(Path(__file__).with_name(f"printed_{name}.csv"))


def alike(cells: Sequence[Cell], key: Callable[[Cell], object]) -> list[tuple[str, str]]:
    """Return rows whose printed values are our values of another row: (printed name, name in the files).

    Parameters
    ----------
    key : returns the table of a cell. Rows are compared only within a table.
    """
    renamed = []
    tables: dict[object, dict[str, dict[str, Cell]]] = {}
    for cell in cells:
        if cell.ours is not None:
            tables.setdefault(key(cell), {}).setdefault(cell.row, {})[cell.column] = cell
    for rows in tables.values():
        for name, values in rows.items():
            printed = {column: cell.printed for column, cell in values.items() if cell.printed is not None}
            if len(printed) < 2 or _fits(values, printed):
                continue
            renamed += [
                (name, other) for other, theirs in rows.items() if other != name and _fits(theirs, printed)
            ]
    return renamed


def _fits(row: Mapping[str, Cell], printed: Mapping[str, float]) -> bool:
    return all(
        column in row and abs((row[column].ours or 0.0) - value) <= DEFAULT
        for column, value in printed.items()
    )


# A replication as files: a page, all cells as CSV, and one CSV per figure and finding.


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
    printed, computed, findings = equal + differ, len(verdicts) - missing, len(replication.findings)
    return (
        f"{printed:,} of {computed:,} computed cells {'has' if printed == 1 else 'have'} a printed value: "
        f"{equal:,} equal, {differ:,} {'differs' if differ == 1 else 'differ'}. "
        f"{missing:,} further {'cell is' if missing == 1 else 'cells are'} not released. "
        f"{findings:,} {'finding' if findings == 1 else 'findings'}."
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
    yield f"# {replication.title}, computed again\n"
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
    counted = [verdict for verdict in verdicts if verdict not in (NOT_AT_HAND, NOT_PUBLISHED, NOT_RELEASED)]
    if not counted:
        return "No printed value of this table is known."
    return f"{counted.count(EQUAL)} of {len(counted)} cells with a known printed value are equal."


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
