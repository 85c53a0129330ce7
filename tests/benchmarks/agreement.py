"""Alpha with 10,000 replicates beside a loop over the krippendorff package: ``python -m tests.benchmarks agreement``.

Both sides run in this process on the same ratings. The loop draws the units and calls the package for each
replicate; it runs fewer replicates, and its time is scaled. How often intervals cover, ``coverage`` measures; ``--tab``
has the Agreement tab timed in Chromium instead (``agreement_tab``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import krippendorff
import numpy as np

from coeval.stats import krippendorff_alpha
from tests.benchmarks import agreement_tab

REPLICATES = 10_000
CASES = ((6, 1_000, 1.0, 50, 60), (6, 10_000, 1.0, 100, 20), (50, 100_000, 0.1, 1_000, 2))
"""Annotators, units, share filled, the goal (times faster), and how many replicates the loop runs."""

EDGES = (-1.5, -0.5, 0.5, 1.5)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code says whether every goal was met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks agreement", description=__doc__)
    parser.add_argument("--tab", action="store_true", help="time the Agreement tab on 100,000 scores instead")
    options = parser.parse_args(argv)
    if options.tab:
        return agreement_tab.main([])
    return 0 if compare_speed() else 1


def compare_speed() -> bool:
    print(f"| annotators x units | filled | coeval, {REPLICATES:,} | package, scaled | times faster | goal |")
    print("|---|---:|---:|---:|---:|---:|")
    met = True
    for annotators, units, filled, goal, loops in CASES:
        ratings = draw_ratings(annotators, units, np.random.default_rng(units), filled)
        ours = fastest(lambda r=ratings: krippendorff_alpha(r, "ordinal", replicates=REPLICATES))  # type: ignore[misc]
        theirs = loop_over_package(ratings, loops) * REPLICATES / loops
        met = met and theirs / ours >= goal
        print(
            f"| {annotators} x {units:,} | {filled:.0%} | {ours:.3f} s | {theirs:,.0f} s | "
            f"{theirs / ours:,.0f} | {goal:,} |",
            flush=True,
        )
    return met


def draw_ratings(
    annotators: int, units: int, rng: np.random.Generator, filled: float = 1.0, noise: float = 0.7
) -> np.ndarray:
    """Five-point ratings: a true value for each unit, and each annotator's own error."""
    truth = rng.normal(size=units)
    ratings = np.digitize(truth + rng.normal(scale=noise, size=(annotators, units)), EDGES) + 1.0
    ratings[rng.random(ratings.shape) >= filled] = np.nan
    return ratings


def fastest(run: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of some runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def loop_over_package(ratings: np.ndarray, replicates: int) -> float:
    """Seconds the package takes for some replicates, drawn unit by unit."""
    rng = np.random.default_rng(0)
    units = ratings.shape[1]
    start = time.perf_counter()
    for _ in range(replicates):
        drawn = ratings[:, rng.integers(0, units, units)]
        krippendorff.alpha(drawn, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])
    return time.perf_counter() - start
