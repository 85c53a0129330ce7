"""Confirms at one, two and three servers on one PostgreSQL database: ``python -m tests.benchmarks replicas``.

All run on this machine, and share its cores with the database and with the annotators, who go to the servers in turn.
The database waits for its disk. More servers than cores show what a server more costs, not what it brings.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.saves import make_file, run_case, serve_databases, show

SLOWER = 0.95
"""Two servers are not slower than one: at least so much of its throughput, since windows differ by chance."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks replicas", description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--replicas", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each window")
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    rates: dict[int, float] = {}
    refused = 0
    with contextlib.chdir(Path(__file__).resolve().parents[2]), serve_databases() as databases:
        for replicas in options.replicas:
            address = next(databases)
            make_file(address)
            row = asyncio.run(run_case(address, options.people, options.seconds, 0.0, replicas))
            show([{"replicas": replicas} | row])
            rates[replicas] = row["per second"]
            refused += row["lost"] + row["errors"]
    goals = [(not refused, f"{refused} saves lost or refused, at most 0")]
    if 1 in rates and 2 in rates:
        ratio = rates[2] / rates[1]
        goals.append((ratio >= SLOWER, f"two servers x {ratio:.2f} of one, at least {SLOWER:g}"))
    for met, said in goals:
        print(f"{'met' if met else 'MISSED'}: {said}")
    return 0 if all(met for met, _ in goals) else 1
