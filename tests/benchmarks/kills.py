"""Servers killed while a person confirms in Chromium: ``python -m tests.benchmarks kills``.

The page shows the next step before the save behind it is answered, so a kill may hit at any moment of a save: before
the request, while it is written, or after it. After each ``kill -9``, every save that was answered and every step that
the page ever showed as done has to be in the file. At the end, each save that was sent is there once.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.scrutiny import STEP, open_scrutiny, prepare
from tests.support.screens.browser import CHROMIUM_ARGS, find_chromium
from tests.support.serving.live_server import LiveServer, start_server

CONFIRMS = 2
"""The number of confirms between two kills."""
LONGEST = 0.02
"""The longest time from a confirm to a kill, in seconds: about as long as a save takes."""

WATCH = """() => {
  window.done = new Set();
  const look = () => {
    const place = Object.keys(sessionStorage).find((key) => key.startsWith('coeval:place:'));
    const { instance } = JSON.parse(sessionStorage.getItem(place) ?? '{}');
    for (const chip of document.querySelectorAll('.wb-chip.is-done'))
      window.done.add(`${instance}:${chip.dataset.criterion}`);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""
"""Keeps every step that the page ever shows as done."""

SETTLED = """() => document.querySelector('.wb[data-state=step]:not([data-saving])')
  && !document.querySelector('.rt-act:disabled, .rt-step:disabled')"""


class Person:
    """A person at the page, and what the browser sent and was told."""

    def __init__(self, page: Any, server: LiveServer) -> None:
        self.page, self.server = page, server
        self.places: dict[str, str] = {}
        self.answered: set[str] = set()
        self.ahead = 0
        page.on("request", self._note_sent)
        page.on("response", self._note_answered)
        page.evaluate(WATCH)

    def _note_sent(self, request: Any) -> None:
        self.ahead += "ahead=true" in request.url
        if request.url.endswith("/submissions"):
            body = json.loads(request.post_data)
            self.places[body["uid"]] = f"{body['instance']}:{body['criterion']}"

    def _note_answered(self, response: Any) -> None:
        if response.url.endswith("/submissions") and response.status == 200:
            self.answered.add(json.loads(response.request.post_data)["uid"])

    def confirm(self) -> None:
        for key in (*STEP, "Control+Enter"):
            self.page.keyboard.press(key)

    def settle(self) -> None:
        self.page.wait_for_function(SETTLED, timeout=120_000)

    def list_lost(self) -> tuple[set[str], set[str]]:
        """Return the answered saves that the file lacks, and the steps that were shown as done and are not there."""
        with sqlite3.connect(self.server.db) as db:
            stored = {uid for (uid,) in db.execute("SELECT uid FROM submission")}
        self.page.wait_for_timeout(10)
        shown = set(self.page.evaluate("[...window.done]"))
        return self.answered - stored, shown - {self.places[uid] for uid in stored & self.places.keys()}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="times that the server is killed")
    options = parser.parse_args(argv)
    from playwright.sync_api import sync_playwright

    chance, lost, shown_wrongly, in_flight = random.Random(11), set(), set(), 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        size = 2 * (options.kills * (CONFIRMS + 1) // 4 + 2)
        server = start_server(prepare(Path(folder) / "kills.db", size))
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGS)
        try:
            person = Person(open_scrutiny(chromium, server, whole=False), server)
            for _ in range(options.kills):
                for _ in range(CONFIRMS):
                    person.settle()
                    person.confirm()
                person.settle()
                person.confirm()
                time.sleep(chance.uniform(0, LONGEST))
                server.kill9()
                missing, wrong = person.list_lost()
                in_flight += len(person.places.keys() - person.answered)
                lost |= missing
                shown_wrongly |= wrong
                server.restart()
            person.settle()
            person.page.wait_for_timeout(1_000)
            with sqlite3.connect(server.db) as db:
                stored = Counter(uid for (uid,) in db.execute("SELECT uid FROM submission"))
        finally:
            chromium.close()
            server.stop()
    missing_at_end = person.places.keys() - stored.keys()
    print(f"{options.kills} kills, {len(person.places)} saves sent, {in_flight} of them in flight at a kill")
    print(
        f"{person.ahead} steps fetched ahead; answered and lost: {len(lost)}; never saved: {len(missing_at_end)}"
    )
    twice = sum(stored.values()) - len(stored)
    print(f"shown as done and not saved: {len(shown_wrongly)}; stored twice: {twice}")
    failed = lost or shown_wrongly or missing_at_end or twice or not in_flight
    return 1 if failed else 0
