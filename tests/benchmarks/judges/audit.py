"""The audit of cheap judges: ``python -m tests.benchmarks audit [--draws N]``.

Known calibrations: simulated judges whose probabilities are right, too sure or too cautious. Labels saved: on
LLM-Rubric (synthetic and real) and HANNA, the share of outputs that pass is estimated from plain labels, from the
fewer labels that the audit asks for, and from those drawn by the judge's probabilities; errors are over draws. The gain
is printed also where it is nil; the exit code says whether the calibrations are recovered and fewer labels err no more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from coeval.extensions.judge.learning.audit import FLOOR, LabelNeed, count_labels, share_of
from tests.benchmarks.judges.bridge import DATA

PILOT, WORST, GOAL = 150, 1.1, 0.30

Case = tuple[str, np.ndarray, np.ndarray]
"""A name, whether people passed each output, and the judge's calibrated probability that they do."""


def list_cases() -> Iterator[Case]:
    """Yield passes and probabilities of three sets; probabilities are calibrated as ``judge learn`` would."""
    for name, overall in (("synthetic", "synthetic"), ("real", "real")):
        people = pd.read_csv(DATA / "llm_rubric" / f"people_{name}.tsv", sep="\t")
        judge = pd.read_csv(DATA / "llm_rubric" / f"judge_{overall}.tsv", sep="\t")
        own = judge[judge["criterion"] == "Q0"].set_index("text_id")
        given = people[people["Q0"] > 0].groupby("text_id")["Q0"].mean()
        both = given.index.intersection(own.index)
        shares = own.loc[both, [f"answer{k}_prob" for k in (1, 2, 3, 4)]].to_numpy(dtype=float)
        yield (
            f"LLM-Rubric, {name}",
            given.loc[both].to_numpy() >= 3,
            _calibrate(given.loc[both].to_numpy() >= 3, shares @ np.arange(1.0, 5.0)),
        )
    for path in sorted((DATA / "hanna").glob("hanna_*.csv")):
        table = pd.read_csv(path)
        jury = table.iloc[:, 3:].to_numpy(dtype=float).mean(axis=1)
        passed = table["human"].to_numpy(dtype=float) >= 3
        yield f"HANNA, {path.stem.removeprefix('hanna_')}", passed, _calibrate(passed, jury)


def _calibrate(passed: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return probabilities by a logistic regression on the score, from the other half of the outputs."""
    z = (score - score.mean()) / score.std()
    half = np.random.default_rng(0).permutation(len(z)) % 2
    chance = np.zeros(len(z))
    for part in (0, 1):
        rest, beta = half != part, np.zeros(2)
        x = np.column_stack([np.ones(rest.sum()), z[rest]])
        for _ in range(25):  # Newton's method, with a small ridge
            p = 1 / (1 + np.exp(-x @ beta))
            beta += np.linalg.solve(
                (x * (p * (1 - p))[:, None]).T @ x + np.eye(2), x.T @ (passed[rest] - p) - beta
            )
        chance[half == part] = 1 / (1 + np.exp(-(beta[0] + beta[1] * z[half == part])))
    return chance


def try_labels(
    passed: np.ndarray, chance: np.ndarray, draws: int, seed: int
) -> tuple[LabelNeed, list[float]]:
    """Return the labels that the audit asks for, and the errors of plain, fewer uniform and fewer active labels."""
    rng = np.random.default_rng(seed)
    y, truth, size = passed * 1.0, float(passed.mean()), len(passed)
    needs = [count_pilot(y, chance, rng) for _ in range(100)]
    scaled = [find_median([each.uniform for each in needs]), find_median([each.active for each in needs])]
    spread = np.sqrt(chance * (1 - chance))
    weight = np.maximum(spread, FLOOR * spread.mean())
    errors: list[list[float]] = [[], [], []]
    for _ in range(draws):
        errors[0].append(float(y[rng.integers(0, size, PILOT)].mean()) - truth)
        if scaled[0]:
            own = rng.integers(0, size, scaled[0])
            errors[1].append(float(chance.mean() + (y[own] - chance[own]).mean()) - truth)
        if scaled[1]:
            own = rng.choice(size, scaled[1], p=weight / weight.sum())
            ratio = weight.mean() / weight[own]
            errors[2].append(float(chance.mean() + (ratio * (y[own] - chance[own])).mean()) - truth)
    rms = [float(np.sqrt(np.mean(np.square(each)))) if each else float("nan") for each in errors]
    return LabelNeed(PILOT, *scaled), rms


def count_pilot(y: np.ndarray, chance: np.ndarray, rng: np.random.Generator) -> LabelNeed:
    """Return what the audit of a random pilot says."""
    own = rng.choice(len(y), PILOT, replace=False)
    return count_labels(y[own], chance[own], len(y), chance=chance[own])


def find_median(needs: Sequence[int | None]) -> int | None:
    """Return the median number of labels, None if most pilots find no saving."""
    middle = float(np.median([PILOT if each is None else each for each in needs]))
    return round(middle) if middle < PILOT else None


def recover(sharpness: float, draws: int, seed: int) -> float:
    """Return the share of calibration bins whose interval covers people's true share of passes."""
    rng, hits = np.random.default_rng(seed), []
    for _ in range(draws):
        logit = rng.normal(0, 1.5, 400)
        truth = 1 / (1 + np.exp(-logit))
        passed, said = rng.random(400) < truth, 1 / (1 + np.exp(-sharpness * logit))
        edges = np.quantile(said, [0.2, 0.4, 0.6, 0.8])
        place = np.searchsorted(edges, said)
        for number in range(5):
            own = place == number
            found = share_of(passed[own], np.arange(400)[own])
            hits.append(found.ci_low <= truth[own].mean() <= found.ci_high)
    return float(np.mean(hits))


def main(argv: Sequence[str] | None = None) -> int:
    """Print both tables; the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks audit", description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    fine = True
    for sharpness in (1.0, 3.0, 0.4):
        covered = recover(sharpness, max(options.draws // 5, 1), options.seed)
        fine &= covered >= 0.92
        print(f"calibration bins covered, logits times {sharpness:g}: {covered:.3f}", flush=True)
    print("| set | plain labels | uniform with judge | active | error plain | uniform | active |")
    print("|---|" + "---:|" * 6)
    for name, passed, chance in list_cases():
        need, errors = try_labels(passed, chance, options.draws, options.seed)
        cells = [str(each or "no fewer") for each in (need.now, need.uniform, need.active)]
        print(
            f"| {name} | {' | '.join(cells)} | {' | '.join(f'{error:.4f}' for error in errors)} |", flush=True
        )
        fine &= not any(error > WORST * errors[0] for error in errors[1:])
    print(f"Goal of the saving: {GOAL:.0%}.")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
