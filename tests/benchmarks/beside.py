"""How long a save waits while something large goes on: ``python -m tests.benchmarks beside``.

Twenty people confirm once a second through the server, while the commands beside it import instances and ratings,
write a backup, and compute the statistics of the imported task, and while the server itself is asked for its reports.
Ends with 1 where a save waits longer than a second or is refused, or where 5% of those beside a report of the server's
wait longer than 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.parts.large import ADD_OWNER, OWNER, change, write_instances, write_ratings
from tests.benchmarks.saves import Annotator, Tally, confirm_for, make_file
from tests.support.serving.live_server import ROOT, start_server

GOAL = 1.0
REPORT_GOAL = 0.1
REPORT = "report in the server"
PACE_SECONDS = 1.0
WINDOW_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Line:
    """What people met while a command ran."""

    name: str
    seconds: float
    tally: Tally

    @property
    def longest(self) -> float:
        return max(self.tally.seconds, default=0.0)

    @property
    def missed(self) -> bool:
        slow = self.longest > GOAL or (self.name == REPORT and self.tally.at(0.95) > 1000 * REPORT_GOAL)
        return slow or bool(self.tally.errors) or not self.tally.seconds

    def __str__(self) -> str:
        numbers = (
            f"{self.seconds:8.1f} s  {len(self.tally.seconds):6,} saves  p50 {self.tally.at(0.5):6.0f}"
            f"  p95 {self.tally.at(0.95):6.0f} ms"
        )
        refused = f"  {len(self.tally.errors)} refused: {self.tally.errors[0]}" if self.tally.errors else ""
        verdict = "MISSED" if self.missed else "met"
        return f"{self.name:24} {numbers}  longest {1000 * self.longest:6.0f} ms  {verdict}{refused}"


async def run_beside(name: str, command: Sequence[str], annotators: Sequence[Annotator]) -> Line:
    """Let people confirm for as long as a command takes."""
    started, whole = time.perf_counter(), Tally()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        tally = await confirm_for(annotators, WINDOW_SECONDS, PACE_SECONDS)
        whole.seconds += tally.seconds
        whole.errors += tally.errors
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Line(name, time.perf_counter() - started, whole)


async def measure(folder: Path, people: int, instances: int, ratings: int) -> list[Line]:
    """Every command in turn, beside the same people."""
    db = folder / "coeval.db"
    # nobody comes to the end of their queue
    make_file(db, documents=4_000)
    table = write_instances(folder / "instances.csv", instances)
    rated = write_ratings(folder / "ratings.csv", instances, ratings)
    start = [sys.executable, "-m", "coeval"]
    end = ["--db", str(db)]
    commands = {
        f"import {instances:,} instances": [*start, "import", str(table), "--task", "large", *end],
        f"import {ratings:,} ratings": [
            *start, "import", str(rated), "--format", "ratings-csv", "--task", "large", *end,
        ],
        "backup": [*start, "backup", str(folder / "copy.db"), *end],
        "stats": [*start, "stats", "--json", "--task", "large", *end],
    }  # fmt: skip
    server = start_server(db)
    commands[REPORT] = [sys.executable, "-m", "tests.benchmarks.parts.report_fetch", server.url]
    lines = []
    try:
        change(db, lambda one: one.execute(ADD_OWNER, [OWNER]))
        annotators = [Annotator(server, f"annotator {n}") for n in range(people)]
        for one in annotators:
            await one.start()
        for name, command in commands.items():
            lines.append(await run_beside(name, command, annotators))
            print(lines[-1], flush=True)
        for one in annotators:
            one.stop()
    finally:
        server.stop()
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks beside", description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--ratings", type=int, default=1_000_000)
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(ROOT):
        lines = asyncio.run(measure(Path(folder), options.people, options.instances, options.ratings))
    return 1 if any(line.missed for line in lines) else 0
