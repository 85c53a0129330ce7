"""How close a judge comes to people: pairwise accuracy, confusion with their median, consistency with itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.estimates.results import Estimate, Result
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, RatingsLike, parse_ratings, parse_vector

MAX_PAIRS = 500_000
"""More pairs than this are sampled, with a seed."""


def pairwise_accuracy(
    human: Any, model: Any, groups: Any = None, *, max_pairs: int = MAX_PAIRS, seed: int = 0
) -> Result:
    """The share of pairs of items the model orders, or ties, as people do; with and without tie calibration.

    A model with fine-grained scores hardly ever ties. Calibration calls two of its scores tied when they
    differ by at most epsilon, and takes the epsilon that agrees with people most often. That epsilon is found
    on the same pairs, so the calibrated accuracy is an upper bound.

    Parameters
    ----------
    human, model : one score an item, nan where missing.
    groups : a label an item, for instance its document: only pairs within a group count.

    Returns
    -------
    Result
        ``accuracy``, ``accuracy_calibrated``, ``epsilon``, ``n_pairs``, ``sampled``, ``ties_human``,
        ``ties_model``, ``n``; nan with a ``reason`` where there is no pair.

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
        place = pd.factorize(pd.Series(list(groups), dtype=object))[0]
        kept &= place >= 0
    i, j, sampled = _pairs(place[kept], max_pairs, seed)
    if not len(i):
        counts = {"n_pairs": 0, "sampled": False, "ties_human": 0, "ties_model": 0, "n": int(kept.sum())}
        values = ("accuracy", "accuracy_calibrated", "epsilon")
        return Result.undefined("no two items can be compared", *values, **counts)
    h, m = h[kept], m[kept]
    order, gap = np.sign(h[i] - h[j]), m[i] - m[j]
    plain = float((order == np.sign(gap)).mean())
    best, epsilon = _calibrated(order, gap)
    return Result(
        accuracy=Estimate(plain),
        accuracy_calibrated=Estimate(best),
        epsilon=epsilon,
        n_pairs=len(i),
        sampled=sampled,
        ties_human=int((order == 0).sum()),
        ties_model=int((gap == 0).sum()),
        n=len(h),
        reason=None,
    )


def _pairs(place: Codes, max_pairs: int, seed: int) -> tuple[Codes, Codes, bool]:
    """Every pair of items of a group, or a random sample of pairs where they are too many."""
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
    """The best share of correct pairs over all epsilons, and the smallest epsilon that gives it."""
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


def median_confusion(people: RatingsLike, model: Any, value_domain: Sequence[Any] | None = None) -> Result:
    """How the people's median score meets the model's.

    A median between two points counts half to each. The model's score is taken to the nearest point of the
    scale, halves up.

    Parameters
    ----------
    people : annotators x units, nan where missing.
    model : the model's score of each unit.
    value_domain : the points of the scale; without it, the values people gave.

    Returns
    -------
    Result
        ``table`` (DataFrame, people's median x model), ``n``, ``exact`` (share on the diagonal), ``within_one``
        (at most one point apart on the scale), ``bias`` (mean model minus median, before rounding), ``mae``
        (mean absolute difference, likewise); nan with a ``reason`` where no unit has both.

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
        reason = "no unit was scored by both people and the model"
        nothing = Estimate.undefined(reason)
        return Result(
            table=pd.DataFrame(),
            n=0,
            exact=nothing,
            within_one=nothing,
            bias=nothing,
            mae=nothing,
            reason=reason,
        )
    medians, scores = medians[both], scores[both]
    table = _half_counted(medians, scores, points)
    apart = np.abs(np.subtract.outer(np.arange(len(points)), np.arange(len(points))))
    n = len(medians)
    return Result(
        table=pd.DataFrame(table, index=points, columns=points),
        n=n,
        reason=None,
        exact=Estimate(np.trace(table) / n, n=n),
        within_one=Estimate(table[apart <= 1].sum() / n, n=n),
        bias=Estimate((scores - medians).mean(), n=n),
        mae=Estimate(np.abs(scores - medians).mean(), n=n),
    )


def unit_medians(data: Ratings) -> Numbers:
    """The median score of every unit; nan without a score."""
    order = np.lexsort((data.code, data.unit))
    values, sizes = data.numbers[data.code][order], data.per_unit
    starts = np.cumsum(sizes) - sizes
    medians = np.full(data.n_units, np.nan)
    rated = sizes > 0
    low, high = starts + (sizes - 1) // 2, starts + sizes // 2
    medians[rated] = (values[low[rated]] + values[high[rated]]) / 2
    return medians


def _half_counted(medians: Numbers, scores: Numbers, points: Numbers) -> Numbers:
    """Points x points; a median between two points gives half to each side."""
    last = len(points) - 1
    upper = np.minimum(np.searchsorted(points, medians - 1e-9), last)
    lower = np.clip(np.searchsorted(points, medians + 1e-9, side="right") - 1, 0, last)
    edges = (points[1:] + points[:-1]) / 2
    nearest = np.searchsorted(edges, scores, side="right")
    table = np.zeros((len(points), len(points)))
    for side in (lower, upper):
        np.add.at(table, (side, nearest), 0.5)
    return table


def sample_consistency(samples: Any) -> Result:
    """How consistently a model scores the same item again and again.

    Parameters
    ----------
    samples : items x samples, nan where an answer could not be read.

    Returns
    -------
    Result
        ``mean_sd`` (mean over items of the samples' standard deviation), ``identical`` (share of items whose
        samples are all the same), ``alpha`` (interval, the samples as raters), ``n_items`` (with two samples
        or more), ``n_left_out``.

    >>> found = sample_consistency([[3, 3, 3], [4, 5, 4], [1, 1, 1]])
    >>> round(found.mean_sd, 3), round(found.identical, 3)
    (0.192, 0.667)
    """
    table = np.asarray(pd.DataFrame(samples).astype(float))
    used = (~np.isnan(table)).sum(axis=1) > 1
    if not used.any():
        nothing = Estimate.undefined("no item has two samples")
        return Result(mean_sd=nothing, identical=nothing, alpha=nothing, n_items=0, n_left_out=len(table))
    spread = pd.DataFrame(table[used]).std(axis=1, ddof=1)
    return Result(
        mean_sd=Estimate(spread.mean()),
        identical=Estimate((spread == 0).mean()),
        alpha=krippendorff_alpha(table[used].T, "interval"),
        n_items=int(used.sum()),
        n_left_out=int((~used).sum()),
    )
