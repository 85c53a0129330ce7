"""What a tool itself costs for each item: seconds from the key that leaves an item to the next item on the screen.

Potato runs from an environment of its own (``pip install potato-annotation``). Both tools show items of the same length
in the same Chromium, and both are driven by keys.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import sync_playwright

from tests.benchmarks.scrutiny import STEP, measure, open_scrutiny, prepare
from tests.support.screens.browser import CHROMIUM_ARGS, find_chromium
from tests.support.serving.live_server import free_port, start_server

ITEMS, WORDS, WARM_UP = 40, 150, 5
STUDY = """
annotation_task_name: Minute
server_name: minute
task_dir: .
port: {port}
data_files: [items.json]
item_properties: {{id_key: id, text_key: text}}
output_annotation_dir: out
output_annotation_format: json
require_password: false
user_config: {{allow_all_users: true, users: []}}
annotation_schemes:
  - annotation_type: radio
    name: score
    description: How good is the answer?
    labels: ["1", "2", "3", "4", "5"]
    sequential_key_binding: true
"""


def measure_tools(potato: str, folder: Path) -> dict[str, float]:
    """Return the median seconds for each item of CoEval and of Potato, whose command is ``potato``."""
    with ExitStack() as stack:
        coeval = start_server(prepare(folder / "coeval.db", 200))
        stack.callback(coeval.stop)
        address = stack.enter_context(_serve_potato(potato, folder))
        driver = stack.enter_context(sync_playwright())
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGS)
        stack.callback(chromium.close)
        page = open_scrutiny(chromium, coeval, whole=False)
        own = statistics.median(measure([page], ITEMS - WARM_UP, STEP)[0]) / 1000
        return {"CoEval": own, "Potato": _measure_potato(chromium, address)}


@contextmanager
def _serve_potato(command: str, folder: Path) -> Iterator[str]:
    text = " ".join(f"word{n % 37}" for n in range(2 * WORDS))
    lines = [json.dumps({"id": f"i{n}", "text": f"Item {n:03d}. {text}"}) for n in range(ITEMS)]
    (folder / "items.json").write_text("\n".join(lines), encoding="utf-8")
    port = free_port()
    (folder / "study.yaml").write_text(STUDY.format(port=port), encoding="utf-8")
    started = [command, "start", "study.yaml", "-p", str(port), "--host", "127.0.0.1"]
    with (
        (folder / "potato.log").open("w") as log,
        subprocess.Popen(started, cwd=folder, stdout=log, stderr=log) as server,
    ):
        try:
            yield _wait_for(f"http://127.0.0.1:{port}/", server)
        finally:
            server.terminate()


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> str:
    for _ in range(120):
        if server.poll() is not None:
            break
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.5)
        else:
            return address
    raise RuntimeError("Potato did not start: see potato.log")


def _measure_potato(chromium: Any, address: str) -> float:
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(address)
    page.locator("input[name=email]").fill("olu")
    page.keyboard.press("Enter")
    page.get_by_text("Item 000").wait_for()
    took = []
    for n in range(1, ITEMS):
        page.keyboard.press("4")
        page.wait_for_timeout(300)  # a person looks up; Potato saves the choice meanwhile
        started = time.perf_counter()
        page.keyboard.press("ArrowRight")
        page.get_by_text(f"Item {n:03d}").wait_for()
        took.append(time.perf_counter() - started)
    return statistics.median(took[WARM_UP:])
