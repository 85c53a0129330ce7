"""Half an hour of mixed traffic, and the memory of the server: ``python -m tests.benchmarks soak [--minutes 30]``.

Ten people confirm once a second; all the while members of the team sign in, open the study's page and Set-up, look at
tabs and a report, download a table, and go. Memory is looked at between visits. Ends with 1 where it grew, after the
first quarter of the time, by more than a twentieth, or where anything was refused.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.benchmarks.parts.large import ADD_OWNER, OWNER, change
from tests.benchmarks.parts.memory import measure_helpers, measure_memory
from tests.benchmarks.saves import Annotator, Tally, confirm_for, make_file
from tests.support.serving.http_page import Page
from tests.support.serving.live_server import LiveServer, start_server

PEOPLE, PACE_SECONDS, WINDOW_SECONDS = 10, 1.0, 5.0
GROWTH_GOAL = 1.05
TABS = ("scrutiny", "agreement", "criteria")


@dataclass(slots=True)
class Visits:
    """What the team's visits came to: at each, the seconds since the start and the megabytes of the server."""

    memory: list[tuple[float, float]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def growth(self, minutes: float) -> float:
        """The median of the last quarter of the time over that of the second."""
        quarters: list[list[float]] = [[], [], [], []]
        for since, megabytes in self.memory:
            quarters[min(3, int(4 * since / (60 * minutes)))].append(megabytes)
        before, after = (sorted(quarters[n]) for n in (1, 3))
        if not before or not after:
            return float("nan")
        return after[len(after) // 2] / before[len(before) // 2]


def visit(server: LiveServer, refused: list[str]) -> None:
    """One sitting of an owner: a new session of the browser, both pages, their tabs, a table."""
    with httpx.Client(base_url=server.url, timeout=120) as browser:
        browser.post("/signin", data={"name": OWNER})
        for mount, tabs in (("", TABS), ("/admin", ("tasks",))):
            browser.get(f"{mount}/")
            page = Page(browser, mount, browser.get(f"{mount}/config").json())
            for loaded in [one for one in page.config["dependencies"] if (None, "load") in _targets(one)]:
                page.run(loaded)
            for tab in tabs:
                try:
                    answer = page.fire(tab, "select")
                except LookupError:
                    continue
                if answer.broken:
                    refused.append(f"{mount} {tab}: {answer.text[:200]}")
        answer = browser.get("/download/demo/scores.csv")
        if answer.status_code != 200:
            refused.append(f"scores.csv: {answer.status_code}")


def _targets(dependency: dict[str, object]) -> set[tuple[object, object]]:
    return {(number, kind) for number, kind in dependency["targets"]}  # type: ignore[attr-defined]


def keep_visiting(server: LiveServer, visits: Visits, started: float, ended: threading.Event) -> None:
    while not ended.is_set():
        visit(server, visits.refused)
        visits.memory.append((time.monotonic() - started, measure_memory(server.process.pid)))
        ended.wait(1.0)


async def soak(db: Path, minutes: float) -> tuple[Visits, Tally, float]:
    """The visits, the saves, and megabytes of the processes that the server has left running at the end."""
    server, visits, saves, ended = start_server(db), Visits(), Tally(), threading.Event()
    started = time.monotonic()
    visitor = threading.Thread(target=keep_visiting, args=(server, visits, started, ended))
    try:
        people = [Annotator(server, f"annotator {n}") for n in range(PEOPLE)]
        for one in people:
            await one.start()
        visitor.start()
        shown = 0.0
        while time.monotonic() - started < 60 * minutes:
            tally = await confirm_for(people, WINDOW_SECONDS, PACE_SECONDS)
            saves.seconds += tally.seconds
            saves.errors += tally.errors
            if visits.memory and time.monotonic() - shown > 60:
                shown = time.monotonic()
                since, megabytes = visits.memory[-1]
                told = f"{since / 60:5.1f} min  {len(visits.memory):5} visits  {len(saves.seconds):7,} saves"
                print(f"{told}  {megabytes:6.0f} MB", flush=True)
        ended.set()
        visitor.join()
        return visits, saves, measure_helpers(server.process.pid)
    finally:
        ended.set()
        server.stop()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "coeval.db"
        make_file(db, documents=4_000)
        change(db, lambda one: one.execute(ADD_OWNER, [OWNER]))
        visits, saves, helpers = asyncio.run(soak(db, options.minutes))
    growth = visits.growth(options.minutes)
    first, last = visits.memory[0][1], visits.memory[-1][1]
    print(f"{len(visits.memory):,} visits, {len(saves.seconds):,} saves, p95 {saves.at(0.95):.0f} ms")
    print(
        f"memory {first:.0f} MB after the first visit, {last:.0f} at the end, beside it {helpers:.0f} of helpers"
    )
    print(f"last quarter / second quarter: {growth:.3f} (goal: at most {GROWTH_GOAL})")
    refused = [*visits.refused, *saves.errors]
    if refused:
        print(f"{len(refused)} refused, the first: {refused[0]}", file=sys.stderr)
    return 0 if growth <= GROWTH_GOAL and not refused else 1
