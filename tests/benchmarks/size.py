"""A large task, each step timed beside an obvious baseline: ``python -m tests.benchmarks size``.

100,000 instances, 1,000,000 ratings by people, and drafts scrutinised in 1,000,000 submission rows (lines of
submissions), unless told otherwise. Import, export and stats are the commands themselves, each in a process
of its own, whose peak memory is that process's; import and export are also run at a tenth of the size, where
they must take about as much memory. They stand beside the ``sqlite3`` shell: ``.import`` of the same file, and
the queries of the export written as CSV. The screen is opened through a running server, beside one with a
small task; a person has finished half of the queue. Goals in seconds are for a million rows, and grow with the
rows. Ends with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.tables.table import MAX_ROWS
from tests.benchmarks.parts.large import add_scrutiny, change, write_instances, write_ratings
from tests.benchmarks.parts.size_parquet import import_parquet
from tests.benchmarks.parts.size_run import Ran, coeval, export_plainly, import_plainly
from tests.benchmarks.parts.size_walk import walk

HEAD = f"| {'step':43} | {'took':>12} | {'beside':>12} | {'which is':24} | {'ratio':>6} | {'at most':>14} |"
SMALL_TASK = 200
EXPORT_GUARD, WALK_GOAL = 2.4, 1.2
FIRST_SCREEN_MS = 300.0
"""Of a person's first screen, before which the queue is drawn."""
MEMORY_GOAL = 1.5
"""Of ten times the rows: 8 bytes a row are remembered, to find those that come twice."""


IMPORT_SECONDS, STATS_SECONDS, STATS_MB = 42.0, 21.6, 500.0
"""Of a million ratings, and of the statistics of 1,250,000 submissions, which is what a million rows make. As for the
export, the times are guards: 1.2 times what was measured when they were set.
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: what was measured, beside what, and the most that their ratio may be.

    ``limit`` is the most that the value itself may be.
    """

    step: str
    unit: str
    value: float
    beside: float | None = None
    what: str = ""
    goal: float | None = None
    limit: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.beside if self.beside else None

    @property
    def missed(self) -> bool:
        too_far = self.goal is not None and self.ratio is not None and self.ratio > self.goal
        return too_far or (self.limit is not None and self.value > self.limit)

    def __str__(self) -> str:
        beside = f"{self.beside:,.2f} {self.unit}" if self.beside is not None else ""
        ratio = f"{self.ratio:.2f}" if self.ratio is not None else ""
        most = f"{self.goal:g}" if self.goal is not None else ""
        most = f"{self.limit:g} {self.unit}" if self.limit is not None else most
        goal = f"{most}{' MISSED' if self.missed else ''}"
        took = f"{self.value:,.2f} {self.unit}"
        return f"| {self.step:43} | {took:>12} | {beside:>12} | {self.what:24} | {ratio:>6} | {goal:>14} |"


@dataclass(frozen=True, slots=True)
class Built:
    """A file of one task, with what it took to make it and to get it out again."""

    db: Path
    instances: Ran
    ratings: Ran
    export: Ran


def build(folder: Path, instances: int, rows: int) -> Built:
    """Import so many instances and ten times as many ratings, scrutinise ``rows`` lines, and export all."""
    folder.mkdir()
    db = folder / "large.db"
    table = write_instances(folder / "instances.csv", instances)
    imported = coeval("import", table, "--task", "large", db=db)
    rated = import_ratings(folder, instances, rows)
    change(db, lambda one: add_scrutiny(one, rows))
    exported = coeval("export", "--task", "large", "--out", folder / "out", db=db)
    return Built(db, imported, rated, exported)


def import_ratings(folder: Path, instances: int, ratings: int) -> Ran:
    """So many ratings, of as many files as they take: the seconds of all, and the most memory of one."""
    took = []
    for first in range(0, ratings, MAX_ROWS):
        part = range(first, min(first + MAX_ROWS, ratings))
        file = write_ratings(folder / "ratings.csv", instances, ratings, part)
        took.append(
            coeval("import", file, "--format", "ratings-csv", "--task", "large", db=folder / "large.db")
        )
    return Ran(sum(one.seconds for one in took), max(one.peak_mb for one in took))


def measure(folder: Path, instances: int, rows: int, requests: int = 100) -> list[Line]:
    """Every step in turn, in a folder that is there."""
    tenth = build(folder / "tenth", instances // 10, rows // 10)
    large = build(folder / "whole", instances, rows)
    shell, plain_import = import_plainly(folder / "whole")
    _, plain_export = export_plainly(large.db, folder / "whole" / "plain")
    stats = coeval("stats", "--json", "--task", "large", db=large.db)
    tenfold, at, millions = 10 * tenth.ratings.seconds, "at a tenth", rows / 1e6
    lines = [
        Line(f"import of {instances:,} instances", "s", large.instances.seconds, plain_import, shell),
        Line(
            f"import of {rows:,} ratings",
            "s",
            large.ratings.seconds,
            tenfold,
            "ten times a tenth",
            limit=max(IMPORT_SECONDS * millions, 5.0),
        ),
        Line("export", "s", large.export.seconds, plain_export, shell, EXPORT_GUARD),
        Line("stats", "s", stats.seconds, limit=max(STATS_SECONDS * millions, 5.0)),
        Line(
            "peak memory: instances", "MB", large.instances.peak_mb, tenth.instances.peak_mb, at, MEMORY_GOAL
        ),
        Line("peak memory: ratings", "MB", large.ratings.peak_mb, tenth.ratings.peak_mb, at, MEMORY_GOAL),
        Line("peak memory: export", "MB", large.export.peak_mb, tenth.export.peak_mb, at, MEMORY_GOAL),
        Line("peak memory: stats", "MB", stats.peak_mb, limit=STATS_MB if rows <= 1_000_000 else None),
    ]
    return lines + measure_walk(folder, large.db, instances, requests)


def measure_parquet(folder: Path, rows: int) -> list[Line]:
    """The import of as many instances from Parquet as there are rows, beside that of a tenth of them."""
    tenth, large = (import_parquet(folder / f"parquet-{n}", n) for n in (rows // 10, rows))
    what = "at a tenth"
    return [
        Line(
            f"import of {rows:,} rows of Parquet", "s", large.seconds, 10 * tenth.seconds, "ten times a tenth"
        ),
        Line("peak memory: Parquet", "MB", large.peak_mb, tenth.peak_mb, what, MEMORY_GOAL),
    ]


def measure_walk(folder: Path, large: Path, instances: int, requests: int) -> list[Line]:
    """The screen of the large task beside that of a small one."""
    small = build(folder / "small", SMALL_TASK, 10 * SMALL_TASK)
    first, steps = walk(small.db, large, (SMALL_TASK, instances), requests)
    what = f"of {SMALL_TASK:,} instances"
    name = "open for the first time: the queue is drawn"
    lines = [Line(name, "ms", first[1], first[0], what, limit=FIRST_SCREEN_MS)]
    return lines + [Line(name, "ms", mine, other, what, WALK_GOAL) for name, (other, mine) in steps.items()]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether every goal was met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks size", description=__doc__)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000, help="ratings, and lines of submissions")
    parser.add_argument("--parquet", action="store_true", help="only the import of so many rows of Parquet")
    parser.add_argument("--requests", type=int, default=300, help="requests to each server, of each kind")
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        lines = measure_parquet(Path(folder), min(options.rows, MAX_ROWS))
        if not options.parquet:
            lines += measure(Path(folder), options.instances, options.rows, options.requests)
    print(HEAD, *lines, sep="\n")
    missed = [line.step.strip() for line in lines if line.missed]
    print(f"missed: {', '.join(missed)}" if missed else "every goal is met", file=sys.stderr)
    return 1 if missed else 0
