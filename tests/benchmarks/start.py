"""From the command to the first 200, beside an empty Gradio app: ``python -m tests.benchmarks start``.

Both start in turn, several times, in this run; the empty app is what nobody can be faster than, so the ratio
is what counts. The medians are compared; processor time is shown as well, since a busy machine stretches both.
Python may keep its compiled modules, as it does by itself: those of Gradio were kept when it was installed, ours
are kept by the first start of all.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.support.serving.live_server import ROOT, free_port

GOAL = 1.15
PATIENCE = 120
EMPTY = """
import gradio as gr
import sys
with gr.Blocks() as demo:
    gr.Textbox()
demo.launch(server_port=int(sys.argv[1]), quiet=True)
"""


def time_start(command: Sequence[str], url: str) -> tuple[float, float]:
    """Seconds until the address answers 200, and seconds of processor time until the process has ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()
    )
    try:
        while not answers(url):
            if process.poll() is not None or time.perf_counter() - started > PATIENCE:
                raise SystemExit(f"{command[1]} did not answer at {url}")
            time.sleep(0.02)
        took = time.perf_counter() - started
    finally:
        process.kill()
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment() -> dict[str, str]:
    left = ("OPENAI_", "COEVAL_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    return kept | {"GRADIO_ANALYTICS_ENABLED": "False"}


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def measure(folder: Path, times: int) -> dict[str, list[tuple[float, float]]]:
    """Both apps in turn; ours with the demo in its file already, and once from no file at all."""
    empty = folder / "empty.py"
    empty.write_text(EMPTY, encoding="utf-8")
    db = folder / "coeval.db"
    found: dict[str, list[tuple[float, float]]] = {
        "empty Gradio app": [],
        "CoEval": [],
        "CoEval, no file yet": [],
    }
    for n in range(times + 1):
        port = free_port()
        ours = [sys.executable, "app.py", "--db", str(db), "--port", str(port)]
        name = "CoEval, no file yet" if n == 0 else "CoEval"
        found[name].append(time_start(ours, f"http://127.0.0.1:{port}/signin"))
        if n:
            port = free_port()
            theirs = [sys.executable, str(empty), str(port)]
            found["empty Gradio app"].append(time_start(theirs, f"http://127.0.0.1:{port}/"))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks start", description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="starts of each app")
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.times)
    middle = {
        name: [statistics.median(part) for part in zip(*runs, strict=True)] for name, runs in found.items()
    }
    for name, (took, busy) in middle.items():
        print(f"{name:20}  first 200 after {took:5.2f} s  processor {busy:5.2f} s")
    ratios = [
        ours / theirs for ours, theirs in zip(middle["CoEval"], middle["empty Gradio app"], strict=True)
    ]
    print(
        f"CoEval / empty app: {ratios[0]:.2f} by the clock, {ratios[1]:.2f} by the processor; the goal is {GOAL}"
    )
    return 0 if ratios[0] <= GOAL else 1
