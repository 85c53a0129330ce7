"""How fast a pre-fill is beside bare ``AsyncOpenAI``: ``python -m tests.benchmarks prefill``.

Both sides send the same requests to the same stub, which takes 200 ms for each and runs in a process of its
own, 32 at a time. CoEval's side is the whole use case: prompts, ledger, parsing, drafts and commits. The
bare side is a semaphore around ``chat.completions.create``. They take turns, each in a fresh process;
imports are left out of both clocks; the medians count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.parts.memory import STATUS, read_peak_mb

ROOT = Path(__file__).resolve().parents[2]
SLUG = "prefill"
CONCURRENCY = 32
GOALS = {"ratio": 0.95, "cpu_ms": 4.5, "mb": 100.0}
PARAGRAPH = (
    "The ferry left the island at noon, an hour late, because a goat had walked aboard and would not leave. "
    "The captain, who had seen worse, offered it bread. “It will go when it is ready,” she said. "
)

Figures = dict[str, float]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table; with ``--check`` the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks prefill", description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds the stub takes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="exit with 1 where a goal is missed")
    parser.add_argument("--side", choices=["bare", "coeval"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.side:
        side = run_coeval if options.side == "coeval" else run_bare
        print(json.dumps(side(options.folder, options.url)))
        return 0
    return compare(options.calls, options.latency, options.rounds, options.check)


def compare(calls: int, latency: float, rounds: int, check: bool) -> int:
    """Run both sides in turns and print what came out."""
    with tempfile.TemporaryDirectory() as name:
        stub = start_stub_process(latency)
        try:
            assert stub.stdout is not None
            url = stub.stdout.readline().strip()
            found: dict[str, list[Figures]] = {"bare": [], "coeval": []}
            for number in range(rounds):
                folder = Path(name) / str(number)
                build_study(folder, calls)
                for side, results in found.items():
                    results.append(run_side(side, folder, url))
        finally:
            stub.terminate()
            stub.wait(10)
    medians = {side: _medians(results) for side, results in found.items()}
    print(render_table(medians, calls, latency))
    return 1 if check and not all(_met(medians).values()) else 0


def start_stub_process(latency: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.models.openai_stub", "--latency", str(latency)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def run_side(side: str, folder: Path, url: str) -> Figures:
    """One side in a process of its own; MB are those above an interpreter with pandas."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.prefill",
        "--side",
        side,
        "--folder",
        str(folder),
        "--url",
        url,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the {side} side failed:\n{done.stderr}")
    figures: Figures = json.loads(done.stdout)
    return figures | {"mb": figures["mb"] - interpreter_mb()}


def build_study(folder: Path, calls: int) -> None:
    """A database with one criterion and an instance for every call, and the same requests for the bare side."""
    from coeval.domain import Criterion, Instance, Study, Task
    from coeval.llm.client.abilities import Abilities, build_body
    from coeval.llm.prompting.template_files import JudgeOptions
    from coeval.usecases.access import OPERATOR
    from coeval.usecases.study_import import import_study
    from tests.support.models.single_judgment import render_calls

    folder.mkdir()
    task = Task(SLUG, "Retell an event", "Retell the event of the note for a local newspaper.")
    criterion = Criterion("The text is clear to somebody who knows nothing of the event.")
    instances = tuple(
        Instance(f"i{n}", f"Note {n}: a ferry was late.", f"Report {n}. " + PARAGRAPH * 6)
        for n in range(calls)
    )
    context = make_context(folder, "")
    import_study(context, OPERATOR, Study(task, instances, (criterion,)))
    context.store.close()
    options = JudgeOptions(model="stub")
    requests = [render_calls(task, criterion, instance, options)[0][0] for instance in instances]
    bodies = [build_body(request, Abilities()) for request in requests]
    (folder / "bodies.json").write_text(json.dumps(bodies), encoding="utf-8")


def make_context(folder: Path, url: str) -> Any:
    from coeval.settings import Settings
    from coeval.store import Store
    from coeval.usecases.access import Context

    path = folder / "coeval.db"
    return Context(Store(path), Settings(db=path, base_url=url, model="stub", concurrency=CONCURRENCY))


def load_package() -> None:
    """Import what the package imports by its first call, so that neither clock counts it."""
    import anyio._backends._asyncio
    import httpcore2
    import openai.resources.chat.completions

    assert anyio._backends._asyncio and httpcore2 and openai.resources.chat.completions


def run_coeval(folder: Path, url: str) -> Figures:
    """Draft every evaluation of the study, as ``python -m coeval draft evaluations`` does."""
    from coeval.llm.protocols.protocol import list_protocols
    from coeval.usecases.access import OPERATOR
    from coeval.usecases.drafting.execution import run_drafting
    from coeval.usecases.drafting.run_settings import RunSettings

    load_package()
    list_protocols()
    context = make_context(folder, url)
    clock = Clock()
    report = asyncio.run(run_drafting(context, OPERATOR, SLUG, RunSettings(concurrency=CONCURRENCY)))
    figures = clock.read(report.total)
    if not report.complete or report.unscored:
        raise SystemExit(str(report))
    return figures


def run_bare(folder: Path, url: str) -> Figures:
    """The same requests by ``AsyncOpenAI`` and a semaphore; the answers are thrown away."""
    from openai import AsyncOpenAI

    bodies = json.loads((folder / "bodies.json").read_text(encoding="utf-8"))

    async def ask_all() -> None:
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        places = asyncio.Semaphore(CONCURRENCY)

        async def ask(body: dict[str, Any]) -> str | None:
            async with places:
                answer = await client.chat.completions.create(**body)
            return answer.choices[0].message.content

        answers = await asyncio.gather(*(ask(body) for body in bodies))
        assert all(answers)
        await client.close()

    load_package()
    clock = Clock()
    asyncio.run(ask_all())
    return clock.read(len(bodies))


class Clock:
    """Wall and CPU time from its making."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def read(self, calls: int) -> Figures:
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        return {"rate": calls / wall, "cpu_ms": 1000 * cpu / calls, "mb": read_peak_mb()}


def interpreter_mb() -> float:
    """The same of a Python with pandas, which sqlite-utils loads."""
    return read_peak_mb(
        subprocess.check_output(
            [sys.executable, "-c", f"import pandas; print(open('{STATUS}').read())"], text=True
        )
    )


def _medians(results: Sequence[Figures]) -> Figures:
    return {name: statistics.median(result[name] for result in results) for name in results[0]}


def _met(medians: dict[str, Figures]) -> dict[str, bool]:
    ours = medians["coeval"]
    ratio = ours["rate"] / medians["bare"]["rate"]
    return {
        "ratio": ratio >= GOALS["ratio"],
        "cpu_ms": ours["cpu_ms"] <= GOALS["cpu_ms"],
        "mb": ours["mb"] <= GOALS["mb"],
    }


def render_table(medians: dict[str, Figures], calls: int, latency: float) -> str:
    """The table in Markdown, with the goals below it."""
    ideal = CONCURRENCY / latency
    lines = [
        f"{calls} judgments, {CONCURRENCY} at once, {latency * 1000:.0f} ms each (ideal: {ideal:.0f} calls/s)",
        "",
        "| | calls/s | of bare | CPU ms a call | MB above an interpreter with pandas |",
        "|---|---:|---:|---:|---:|",
    ]
    names = {
        "bare": "bare AsyncOpenAI with a semaphore",
        "coeval": "CoEval: ledger, parsing, drafts, commits",
    }
    for side, row in medians.items():
        ratio = row["rate"] / medians["bare"]["rate"]
        lines.append(
            f"| {names[side]} | {row['rate']:.0f} | {ratio:.2f} | {row['cpu_ms']:.1f} | {row['mb']:.0f} |"
        )
    met = ", ".join(f"{name} {'met' if ok else 'MISSED'}" for name, ok in _met(medians).items())
    goals = f"at least {GOALS['ratio']} of bare, at most {GOALS['cpu_ms']} ms and {GOALS['mb']:.0f} MB"
    return "\n".join([*lines, "", f"Goals ({goals}): {met}."])


if __name__ == "__main__":
    sys.exit(main())
