"""What a label is worth with a jury of judges: ``python -m tests.benchmarks hanna [FOLDER]``.

Every ``hanna_*.csv`` of the folder (story, system, human, then a column a judge) is drawn from in two designs: 150
random stories keep their labels, or all stories of 14 random prompts (``story`` numbers the prompts), which is what a
study with clusters gets. The jury's scores of the others correct the labels' mean, and this is held against their own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.extensions.judge.runtime.prediction import jury_mean

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "hanna"
LABELS, PROMPTS, GOAL, COVERED = 150, 14, 1.4, (0.92, 0.97)
DESIGNS = {False: f"{LABELS} random stories", True: f"{PROMPTS} whole prompts"}


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
    print("| criterion | labelled | one label counts as | covered | bias |\n|---|---|---:|---:|---:|")
    rows = []
    for whole, design in DESIGNS.items():
        for path in files:
            worth, covered, bias = simulate(pd.read_csv(path), options.draws, options.seed, whole=whole)
            rows.append((whole, worth, covered))
            name = path.stem.removeprefix("hanna_")
            print(f"| {name} | {design} | {worth:.2f} | {covered:.3f} | {bias:+.4f} |", flush=True)
    means = {of: float(np.mean([worth for whole, worth, _ in rows if whole is of])) for of in DESIGNS}
    for whole, design in DESIGNS.items():
        goal = "" if whole else f" (goal: at least {GOAL})"
        print(f"{design}: mean over criteria {means[whole]:.2f}{goal}")
    slack = 2 * np.sqrt(0.05 * 0.95 / options.draws)
    fits = all(COVERED[0] - slack <= covered <= COVERED[1] + slack for *_, covered in rows)
    return 0 if means[False] >= GOAL and fits else 1


def simulate(table: pd.DataFrame, draws: int, seed: int, *, whole: bool) -> tuple[float, float, float]:
    """How many labels one is worth by the ratio of the errors made, the share of intervals that cover, and the bias.

    ``whole`` labels all stories of some prompts; the stories of a prompt are then one cluster.
    """
    people, judges = table["human"].to_numpy(dtype=float), table.iloc[:, 3:].to_numpy(dtype=float)
    prompt = table["story"].to_numpy()
    names = np.unique(prompt)
    rng, truth = np.random.default_rng(seed), float(people.mean())
    errors, plain, hits = [], [], []
    for _ in range(draws):
        if whole:
            chosen = np.isin(prompt, rng.choice(names, PROMPTS, replace=False))
            own, rest = np.flatnonzero(chosen), np.flatnonzero(~chosen)
            clusters = {"clusters": prompt[own], "clusters_unlabeled": prompt[rest]}
        else:
            order = rng.permutation(len(people))
            own, rest, clusters = order[:LABELS], order[LABELS:], {}
        found = jury_mean(people[own], judges[own], judges[rest], finite=True, **clusters)
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
