"""Whatever tells one kind of screen from another: every feature by itself, and a classifier of them all."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from scipy.stats import norm

Features = Mapping[str, float]


Pair = tuple[Features, Features, tuple[Hashable, Hashable]]
"""Two screens, and what each of them hangs on: pairs that hang on the same are not independent."""


def find_telling(pairs: Sequence[Pair]) -> dict[str, float]:
    """Features that are larger in one of a pair more often than chance allows, with their z; over all features at .001.

    The sign of each pair's difference is summed within what hangs together; under no difference each such sum is
    as likely either way.
    """
    names, differences, clusters, _ = _table(pairs)
    sums = np.zeros((clusters.max() + 1, len(names)))
    np.add.at(sums, clusters, np.sign(differences))
    spread = np.sqrt((sums**2).sum(axis=0))
    # a handful of pairs that differ prove nothing by themselves
    proven = (sums != 0).sum(axis=0) > 10
    z = np.where(proven, sums.sum(axis=0) / np.where(spread > 0, spread, 1), 0)
    limit = norm.ppf(1 - 0.001 / (2 * len(names)))
    return {name: float(value) for name, value in zip(names, z, strict=True) if abs(value) > limit}


def _table(pairs: Sequence[Pair]) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """The features that differ in any pair, their differences in every pair, and the two that each pair hangs on."""
    names = sorted({name for one, other, _ in pairs for name in (*one, *other)})
    both = (np.array([[pair[side].get(name, 0.0) for name in names] for pair in pairs]) for side in (0, 1))
    differences = np.subtract(*both)
    differ = np.flatnonzero(differences.any(axis=0))
    numbers: dict[Hashable, int] = {}
    hangs = np.array([[numbers.setdefault(one, len(numbers)) for one in both] for *_, both in pairs])
    return [names[at] for at in differ], differences[:, differ], hangs[:, 0], hangs[:, 1]


def classify(pairs: Sequence[Pair], seed: int = 0, folds: int = 3) -> float:
    """The z of a linear classifier's hits on pairs of which it has seen neither side.

    Else it would know the sides again, and learn which they are rather than what tells them.
    """
    chance = np.random.default_rng(seed)
    _, differences, clusters, others = _table(pairs)
    flips = chance.choice((-1.0, 1.0), len(pairs))
    x = flips[:, None] * differences / differences.std(axis=0)
    # one draw for both sides: where two have exchanged something, each pair is the other's mirror image
    folds_of = chance.integers(0, folds, max(clusters.max(), others.max()) + 1)
    fold, other_fold = folds_of[clusters], folds_of[others]
    sums = np.zeros(clusters.max() + 1)
    for held in range(folds):
        learn, test = (fold != held) & (other_fold != held), (fold == held) & (other_fold == held)
        weights = _fit(x[learn], flips[learn])
        np.add.at(sums, clusters[test], np.sign(x[test] @ weights) * flips[test])
    spread = math.sqrt(float((sums**2).sum()))
    return float(sums.sum()) / spread if spread else 0.0


def _fit(x: np.ndarray, y: np.ndarray, ridge: float = 5.0) -> np.ndarray:
    """Ridge regression of the side on the differences, without an intercept: the two sides are exchangeable."""
    weights: np.ndarray = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ y)
    return weights


def describe_place(arms: Sequence[str], at: int) -> Features:
    """How the arm of one screen goes with those before and after it in a person's work."""
    own, features = arms[at], {f"arm is {arms[at]}": 1.0}
    for near in (*range(-4, 0), *range(1, 5)):
        if 0 <= at + near < len(arms):
            features[f"as {near:+} screens away"] = float(arms[at + near] == own)
    before = arms[:at]
    since = next((n for n, arm in enumerate(reversed(before), 1) if arm == own), len(before) + 1)
    features["screens since the same arm"] = float(min(since, 12))
    for arm in set(arms):
        features[f"behind with {arm}"] = (
            (at + 1) * arms.count(arm) / len(arms) - before.count(arm) - (own == arm)
        )
    features["ahead with its own arm"] = -features[f"behind with {own}"]
    return features
