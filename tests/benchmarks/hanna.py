"""What a label is worth with a jury of judges: ``python -m tests.benchmarks hanna [FOLDER]``.

Every ``hanna_*.csv`` of the folder (story, system, human, then a column a judge) is drawn from: 150 random stories keep
their labels, the jury's scores of the others correct their mean, and this is held against the plain mean of the labels.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.stats import jury_mean

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "hanna"
LABELS, GOAL, COVERED = 150, 1.4, (0.92, 0.97)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks hanna", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    files = sorted(options.folder.glob("hanna_*.csv"))
    if not files:
        print(f"There is no hanna_*.csv in {options.folder}; name the folder that has them.", file=sys.stderr)
        return 2
    print("| criterion | one label counts as | covered | bias |\n|---|---:|---:|---:|")
    rows = []
    for path in files:
        worth, covered, bias = simulate(pd.read_csv(path), options.draws, options.seed)
        rows.append((worth, covered))
        print(
            f"| {path.stem.removeprefix('hanna_')} | {worth:.2f} | {covered:.3f} | {bias:+.4f} |", flush=True
        )
    mean = float(np.mean([worth for worth, _ in rows]))
    print(f"mean over criteria {mean:.2f} (goal: at least {GOAL})")
    slack = 2 * np.sqrt(0.05 * 0.95 / options.draws)
    fits = all(COVERED[0] - slack <= covered <= COVERED[1] + slack for _, covered in rows)
    return 0 if mean >= GOAL and fits else 1


def simulate(table: pd.DataFrame, draws: int, seed: int) -> tuple[float, float, float]:
    """How many labels one is worth by the ratio of the errors made, the share of intervals that cover, and the bias."""
    people, judges = table["human"].to_numpy(dtype=float), table.iloc[:, 3:].to_numpy(dtype=float)
    rng, truth = np.random.default_rng(seed), float(people.mean())
    errors, plain, hits = [], [], []
    for _ in range(draws):
        order = rng.permutation(len(people))
        own, rest = order[:LABELS], order[LABELS:]
        found = jury_mean(people[own], judges[own], judges[rest], finite=True)
        errors.append(found - truth)
        plain.append(people[own].mean() - truth)
        hits.append(found.ci_low <= truth <= found.ci_high)
    return (
        float(np.mean(np.square(plain)) / np.mean(np.square(errors))),
        float(np.mean(hits)),
        float(np.mean(errors)),
    )


if __name__ == "__main__":
    sys.exit(main())
