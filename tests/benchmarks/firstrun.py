"""From an empty folder to a first judgment on one's own CSV, in Chromium: ``python -m tests.benchmarks firstrun``.

The real server starts on no file at all. A script then does what the pages offer: it signs in, imports a CSV file
with a description and two criteria, and judges the first output. Counted are actions (a text typed, a file chosen, a
click or a key) and the seconds from the command that starts the server; the script reads and types without pause.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import Context
from tests.support.screens.browser import CHROMIUM_ARGS, HOW_TO_GET_IT
from tests.support.screens.newcomer import Newcomer
from tests.support.serving.live_server import start_server

GOAL = 8


def main(argv: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(prog="python -m tests.benchmarks firstrun", description=__doc__).parse_args(argv)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print(HOW_TO_GET_IT, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        folder = Path(name)
        started = time.perf_counter()
        server = start_server(folder / "coeval.db")
        try:
            newcomer = Newcomer(page, server.url, folder)
            served = time.perf_counter() - started
            newcomer.start()
            newcomer.bring_data()
            newcomer.judge()
            path = folder / "coeval.db"
            store = Store(path, read_only=True)
            newcomer.wait_saved(Context(store, load_settings({}, db=path)))
            took = time.perf_counter() - started
            store.close()
        finally:
            server.stop()
            chromium.close()
    for number, action in enumerate(newcomer.actions, 1):
        print(f"{number:3}  {action}")
    count = len(newcomer.actions)
    print(
        f"{count} actions (goal: at most {GOAL}), {took:.1f} s, {served:.1f} of them until the server answered"
    )
    return 0 if count <= GOAL else 1
