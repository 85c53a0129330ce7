"""The scrutiny screen of two running servers, asked in turn, so that whatever else runs weighs on both alike."""

from __future__ import annotations

import http.client
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

from tests.benchmarks.parts.large import add_progress, change
from tests.support.serving.live_server import LiveServer, start_server

NAME = "Ana"
PLACES = 20
"""Places of the queue that are gone back to."""

Pair = tuple[float, float]


class Visitor:
    """One person on a connection that is kept open."""

    def __init__(self, server: LiveServer) -> None:
        self.http = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        form = {"content-type": "application/x-www-form-urlencoded"}
        self.http.request("POST", "/signin", urlencode({"name": NAME}), form)
        answer = self.http.getresponse()
        answer.read()
        self.headers = {"cookie": str(answer.getheader("set-cookie")).split(";")[0]}

    def ask(self, query: str = "") -> float:
        """Milliseconds to the screen of a place; raises RuntimeError where there is none."""
        started = time.perf_counter()
        self.http.request("POST", f"/api/scrutiny/large/step?{query}", headers=self.headers)
        answer = self.http.getresponse()
        body = answer.read()
        took = 1000 * (time.perf_counter() - started)
        if answer.status != 200 or not json.loads(body)["instance"]:
            raise RuntimeError(f"{query}: {answer.status} {body[:200]!r}")
        return took


def walk(small: Path, large: Path, sizes: tuple[int, int], requests: int) -> tuple[Pair, dict[str, Pair]]:
    """Milliseconds of the first screen ever, and the medians of every other step, at the small and large task."""
    with ExitStack() as stack:
        visitors = []
        for db in (small, large):
            server = start_server(db)
            stack.callback(server.stop)
            visitors.append(Visitor(server))
            stack.callback(visitors[-1].http.close)
        first = visitors[0].ask(), visitors[1].ask()
        for visitor, size in zip(visitors, sizes, strict=True):
            visitor.ask(f"at={size - 1}")  # a named place is there once the queue is whole
        for db in (small, large):
            change(db, lambda one: add_progress(one, NAME))
        return first, {
            name: _ask_both(visitors, sizes, make, requests) for name, make in _steps(requests).items()
        }


def _steps(requests: int) -> dict[str, Callable[[int], Iterator[str]]]:
    """For each step the queries of it, given the size of the queue."""

    def fixed(query: str) -> Callable[[int], Iterator[str]]:
        return lambda size: (query for _ in range(requests))

    def seen(move: str) -> Callable[[int], Iterator[str]]:
        return lambda size: (f"at={1 + n % PLACES * (size - 2) // PLACES}{move}" for n in range(requests))

    def unseen(size: int) -> Iterator[str]:
        return (f"at={2 + n * (size - 2) // requests}" for n in range(requests))

    return {
        "open": fixed(""),
        "jump to a place never seen": unseen,
        "jump back to one": seen(""),
        "go on from there": seen("&move=next_instance"),
        "filter: all": fixed("filter=all"),
        "filter: unfinished": fixed("filter=unfinished"),
        "filter: flagged": fixed("filter=flagged"),
    }


def _ask_both(
    visitors: list[Visitor], sizes: tuple[int, int], make: Callable[[int], Iterator[str]], requests: int
) -> Pair:
    took: list[list[float]] = [[], []]
    for pair in zip(make(sizes[0]), make(sizes[1]), strict=True):
        for n, query in enumerate(pair):
            took[n].append(visitors[n].ask(query))
    settled = min(PLACES, requests // 2)  # what the first round writes or warms up is not the step's own
    return statistics.median(took[0][settled:]), statistics.median(took[1][settled:])
