"""A server on the large file: its start and end with and without snapshots, its reports, what it holds afterwards."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.parts.large import change
from tests.benchmarks.parts.memory import measure_memory
from tests.benchmarks.parts.report_fetch import OWNER, fetch
from tests.conftest import make_place
from tests.support.serving.live_server import LiveServer, start_server

REST_SECONDS = 5.0
"""After the last report, before the memory is looked at."""


@dataclass(frozen=True, slots=True)
class ServerCost:
    """Seconds and megabytes of a server on one file. ``stop_kept`` is after one snapshot and one change more."""

    start: float
    start_kept: float
    stop_kept: float
    reports: dict[str, float]
    memory_mb: float


def measure_server(db: Path, folder: Path) -> ServerCost:
    change(db, lambda one: one.execute(ADD_OWNER, [OWNER]))
    start, server = _start(db)
    try:
        reports = fetch(server.url)
        time.sleep(REST_SECONDS)
        memory = measure_memory(server.process.pid)
    finally:
        server.stop()
    place = make_place(folder / "snapshots")
    start_kept, server = _start(db, COEVAL_SNAPSHOT_DIR=str(place))
    try:
        _wait_for_copy(place)
        change(db, lambda one: one.execute("UPDATE task SET name = name || '.' WHERE id = 1"))
    finally:
        began = time.perf_counter()
        server.stop()
    return ServerCost(start, start_kept, time.perf_counter() - began, reports, memory)


def _start(db: Path, **env: str) -> tuple[float, LiveServer]:
    began = time.perf_counter()
    server = start_server(db, **env)
    return time.perf_counter() - began, server


def _wait_for_copy(place: Path) -> None:
    until = time.monotonic() + 600
    while not list(place.glob("coeval-*.db")):
        if time.monotonic() > until:
            raise RuntimeError("no whole snapshot came in ten minutes")
        time.sleep(0.2)


ADD_OWNER = """
INSERT INTO annotator (name, role, created_at) VALUES (?, 'owner', '2026-01-31T09:00:00.000Z')
ON CONFLICT (name) DO UPDATE SET role = 'owner'
"""
