"""A judge's closeness to people: pairwise accuracy, confusion with people's median, equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from coeval.stats.clusters import Clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, RatingsLike, parse_ratings, parse_vector

MAX_PAIRS = 500_000
"""The largest number of pairs to use; more are sampled, with a seed."""


@dataclass(frozen=True)
class PairwiseAccuracy:
    """The share of ``n_pairs`` pairs that the model orders or ties as people do, with and without tie calibration."""

    accuracy: Estimate
    accuracy_calibrated: Estimate
    epsilon: Estimate
    n_pairs: int
    sampled: bool
    ties_human: int
    ties_model: int
    n: int
    reason: str | None = None


def pairwise_accuracy(
    human: Any, model: Any, groups: Any = None, *, max_pairs: int = MAX_PAIRS, seed: int = 0
) -> PairwiseAccuracy:
    """Return the share of pairs of items that the model orders or ties as people do.

    A model with fine-grained scores hardly ever ties. Tie calibration treats scores that differ by at most epsilon as
    tied, with the epsilon that agrees best with people. Epsilon is fitted to the same pairs, so the calibrated
    accuracy is an upper bound.

    Parameters
    ----------
    human, model : one score per item, nan if missing.
    groups : one label per item, such as its document. Only pairs within a group count.

    Returns
    -------
    PairwiseAccuracy
        nan with a ``reason`` if there is no pair.

    Source: Deutsch, Foster and Freitag 2023, Ties Matter, section 4.

    >>> found = pairwise_accuracy([1, 1, 2, 3], [1.0, 1.1, 2.0, 3.0])
    >>> round(found.accuracy, 3), found.accuracy_calibrated, round(found.epsilon, 3)
    (0.833, 1.0, 0.1)
    """
    h, m = parse_vector(human, "human"), parse_vector(model, "model")
    if len(h) != len(m):
        raise ValueError(f"human has {len(h)} scores and model {len(m)}; give one of each for every item.")
    kept = ~(np.isnan(h) | np.isnan(m))
    place = np.zeros(len(h), dtype=np.int64)
    if groups is not None:
        named = groups if isinstance(groups, np.ndarray) else pd.Series(list(groups), dtype=object)
        place = pd.factorize(named)[0]
        kept &= place >= 0
    i, j, sampled = _pairs(place[kept], max_pairs, seed)
    if not len(i):
        nothing = Estimate.undefined("no two items can be compared")
        return PairwiseAccuracy(nothing, nothing, nothing, 0, False, 0, 0, int(kept.sum()), nothing.reason)
    h, m = h[kept], m[kept]
    order, gap = np.sign(h[i] - h[j]), m[i] - m[j]
    plain = float((order == np.sign(gap)).mean())
    best, epsilon = _calibrated(order, gap)
    return PairwiseAccuracy(
        accuracy=Estimate(plain),
        accuracy_calibrated=Estimate(best),
        epsilon=Estimate(epsilon),
        n_pairs=len(i),
        sampled=sampled,
        ties_human=int((order == 0).sum()),
        ties_model=int((gap == 0).sum()),
        n=len(h),
    )


def _pairs(place: Codes, max_pairs: int, seed: int) -> tuple[Codes, Codes, bool]:
    """Return every pair of items within a group, or a random sample if there are too many."""
    order = np.argsort(place, kind="stable")
    sizes = np.bincount(place) if len(place) else np.zeros(0, dtype=np.int64)
    total = int((sizes * (sizes - 1) // 2).sum())
    starts = np.cumsum(sizes) - sizes
    if total > max_pairs:
        rng = np.random.default_rng(seed)
        chances = (sizes[place[order]] - 1) / (2 * total)
        first = rng.choice(len(order), size=max_pairs, p=chances)
        group = place[order][first]
        other = starts[group] + rng.integers(0, sizes[group] - 1)
        return order[first], order[other + (other >= first)], True
    ranks = np.arange(len(order)) - starts[place[order]]
    first = np.repeat(np.arange(len(order)), ranks)
    second = np.arange(len(first)) - np.repeat(np.cumsum(ranks) - ranks, ranks) + starts[place[order]][first]
    return order[second], order[first], False


def _calibrated(order: Numbers, gap: Numbers) -> tuple[float, float]:
    """Return the best share of correct pairs over all epsilons, and the smallest epsilon that reaches it."""
    size = np.round(np.abs(gap), 12)
    by_size = np.argsort(size, kind="stable")
    tied, right = (order == 0)[by_size], ((order != 0) & (order == np.sign(gap)))[by_size]
    correct = np.cumsum(tied) + right.sum() - np.cumsum(right)
    ends = np.flatnonzero(np.append(size[by_size][1:] != size[by_size][:-1], True))
    best = ends[correct[ends].argmax()]
    untouched = right.sum() / len(gap) if size.min() > 0 else 0.0
    if untouched >= correct[best] / len(gap):
        return float(untouched), 0.0
    return float(correct[best] / len(gap)), float(size[by_size][best])


@dataclass(frozen=True)
class Confusion:
    """The median of people and the model's score on ``n`` units. ``table`` is median x model."""

    table: pd.DataFrame
    n: int
    exact: Estimate
    within_one: Estimate
    bias: Estimate
    mae: Estimate
    reason: str | None = None


def median_confusion(people: RatingsLike, model: Any, value_domain: Sequence[Any] | None = None) -> Confusion:
    """Return the table of people's median scores against the model's scores.

    A median between two points counts half for each. The model's score is rounded to the nearest point of the
    scale, with halves rounded up.

    Parameters
    ----------
    people : annotators x units, nan if missing.
    model : the model's score of each unit.
    value_domain : the points of the scale; by default the scores that people gave.

    Returns
    -------
    Confusion
        ``exact`` is the share on the diagonal, ``within_one`` the share at most one point apart. ``bias`` is the mean
        of model minus median, and ``mae`` the mean absolute difference, both before rounding. All are nan if no unit
        has both.

    >>> found = median_confusion([[1, 2, 3], [1, 3, 3]], [1, 3, 2])
    >>> float(found.table.loc[3.0, 3.0]), round(found.exact, 2), found.within_one
    (0.5, 0.5, 1.0)
    """
    data = parse_ratings(people, value_domain)
    scores = parse_vector(model, "model")
    if len(scores) != data.n_units:
        raise ValueError(
            f"There are {data.n_units} units and {len(scores)} model scores; give one for every unit."
        )
    if not data.numeric and len(data.code):
        raise ValueError("A median needs numbers; code the categories first.")
    medians = unit_medians(data)
    both = ~(np.isnan(medians) | np.isnan(scores))
    points = np.unique(data.numbers)
    if not both.any() or not len(points):
        nothing = Estimate.undefined("no unit was scored by both people and the model")
        return Confusion(pd.DataFrame(), 0, nothing, nothing, nothing, nothing, nothing.reason)
    medians, scores = medians[both], scores[both]
    table = _half_counted(medians, scores, points)
    apart = np.abs(np.subtract.outer(np.arange(len(points)), np.arange(len(points))))
    n = len(medians)
    return Confusion(
        table=pd.DataFrame(table, index=points, columns=points),
        n=n,
        exact=Estimate(np.trace(table) / n, n=n),
        within_one=Estimate(table[apart <= 1].sum() / n, n=n),
        bias=Estimate((scores - medians).mean(), n=n),
        mae=Estimate(np.abs(scores - medians).mean(), n=n),
    )


def unit_medians(data: Ratings) -> Numbers:
    """Return the median score of every unit; nan without a score."""
    order = np.lexsort((data.code, data.unit))
    values, sizes = data.numbers[data.code][order], data.per_unit
    starts = np.cumsum(sizes) - sizes
    medians = np.full(data.n_units, np.nan)
    rated = sizes > 0
    low, high = starts + (sizes - 1) // 2, starts + sizes // 2
    medians[rated] = (values[low[rated]] + values[high[rated]]) / 2
    return medians


def _half_counted(medians: Numbers, scores: Numbers, points: Numbers) -> Numbers:
    """Return the counts as points x points. A median between two points counts half for each."""
    last = len(points) - 1
    upper = np.minimum(np.searchsorted(points, medians - 1e-9), last)
    lower = np.clip(np.searchsorted(points, medians + 1e-9, side="right") - 1, 0, last)
    edges = (points[1:] + points[:-1]) / 2
    nearest = np.searchsorted(edges, scores, side="right")
    table = np.zeros((len(points), len(points)))
    for side in (lower, upper):
        np.add.at(table, (side, nearest), 0.5)
    return table


LEVEL = 0.05


@dataclass(frozen=True)
class Equivalence:
    """The result of two one-sided tests: ``bias`` is the judge's mean minus people's, with its 90% interval.

    ``p_value`` is the larger of the two. ``smallest_margin`` is the smallest margin at which they are equivalent.
    """

    bias: Estimate
    margin: float
    p_value: Estimate
    smallest_margin: Estimate
    n: int


def equivalence_test(judge: Numbers, people: Numbers, margin: float, clusters: Clusters) -> Equivalence:
    """Test whether a judge's mean is within +-``margin`` of people's, with clusters of dependent items.

    Two one-sided tests, with Student's t over clusters, reject differences of -margin and of +margin. Both rejections
    together mean that the 90% interval is within the margin.

    Parameters
    ----------
    judge, people : one score per item, none missing.
    margin : the margin in points, above 0, stated before the data are seen.
    clusters : the cluster of each item.

    Source: Schuirmann 1987, A comparison of the two one-sided tests procedure; Lakens 2017, Equivalence tests.

    >>> people = np.array([3.0, 4, 2, 5, 3, 4])
    >>> gaps = np.array([0.25, -0.25, 0, 0.25, 0, -0.25])
    >>> found = equivalence_test(people + gaps, people, 0.5, Clusters(np.arange(6)))
    >>> float(found.bias), round(found.p_value, 4), round(found.smallest_margin, 2)
    (0.0, 0.0014, 0.18)
    """
    if not margin > 0:
        raise ValueError(f"A margin of {margin:g} makes nothing equivalent; state one above 0.")
    gaps = np.asarray(judge, dtype=float) - np.asarray(people, dtype=float)
    if clusters.n < 2:
        nothing = Estimate.undefined("fewer than two clusters have both a judge's and people's scores")
        return Equivalence(nothing, margin, nothing, nothing, len(gaps))
    sums = clusters.sums(np.column_stack([gaps, np.ones(len(gaps))]))
    value = float(gaps.mean())
    spread = sums_interval(
        sums, lambda rows: rows[:, 0] / rows[:, 1], clusters.kind, confidence=1 - 2 * LEVEL, value=value
    )
    bias, se = Estimate(value, **spread), float(spread["se"])
    if not se > 0:
        nothing = Estimate.undefined("the judge differs from people by the same in every cluster")
        return Equivalence(bias, margin, nothing, nothing, len(gaps))
    df = clusters.n - 1
    worse = float(scipy.special.stdtr(df, (abs(value) - margin) / se))
    least = abs(value) + float(scipy.special.stdtrit(df, 1 - LEVEL)) * se
    return Equivalence(bias, margin, Estimate(worse), Estimate(least), len(gaps))
