"""Comparisons of two judges, or of two ways to ask one: closeness to people, changed scores and verdicts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.clusters import DOCUMENTS, Clusters, cut, group_interval, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.judges.vector_correlation import correlate
from coeval.stats.rating_matrix import Codes, Numbers, parse_vector

# Two judges: which one correlates more with people, and is the difference significant?

CONSTANT = "a judge or the people gave one score only, or fewer than two items have all three scores"
CELLS = 2_000_000
"""The largest number of values in one block of assignments. It only limits memory."""

EXACT = 14
"""The largest number of swaps n for which all 2^n assignments are tried."""


@dataclass(frozen=True)
class PermutationTest:
    """The ``difference`` of two judges' correlations, and its two-sided p-value from ``n_swaps`` units to swap."""

    r_a: float
    r_b: float
    n: int
    difference: Estimate
    p_value: float
    n_swaps: int
    exact: bool
    replicates: int
    reason: str | None = None


def permutation_test(
    human: Any,
    a: Any,
    b: Any,
    *,
    method: str = "pearson",
    groups: Any = None,
    replicates: int = 10_000,
    seed: int = 0,
) -> PermutationTest:
    """Test whether judges ``a`` and ``b`` correlate differently with people, by swapping their scores.

    Both judges are z-scored. Without a difference, they can be swapped on any item. All assignments of swaps are
    tried for up to 14 items (or groups), else the observed one and ``replicates`` random ones. For groups of several
    items, the swapped differences are widened (``_widening``), because groups are often few.

    Parameters
    ----------
    human, a, b : one score per item, nan if missing. Items without all three are left out.
    method : "pearson", "spearman" or "kendall" (tau-b).
    groups : the group of each item (its document or system). The items of a group are then swapped together, and the
        result applies to other such groups.

    Returns
    -------
    PermutationTest
        nan with a ``reason`` if a correlation is undefined.

    Source: Deutsch, Dror and Roth 2021, A Statistical Analysis of Summarization Evaluation Metrics using
    Resampling Methods, section 4 (PERM-INPUTS, and with systems as groups PERM-SYSTEMS).

    >>> found = permutation_test([1, 2, 5, 5, 3, 1, 4, 4], [1, 2, 4, 5, 3, 2, 4, 5], [2, 1, 4, 3, 3, 1, 5, 3])
    >>> round(found.difference, 4), found.p_value, found.exact
    (0.1534, 0.234375, True)
    """
    h, x, y, kept = _complete(human, a, b)
    r_a, r_b = correlate(h, x, method), correlate(h, y, method)
    if np.isnan([r_a, r_b]).any():
        nothing = Estimate.undefined(CONSTANT)
        return PermutationTest(r_a, r_b, len(h), nothing, np.nan, 0, False, 0, CONSTANT)
    place = _places(groups, kept)
    swaps = int(place.max()) + 1
    exact = swaps <= EXACT
    x, y = ((side - side.mean()) / side.std() for side in (x, y))
    blocks = _sign_blocks(swaps, replicates, exact, seed)
    drawn = np.concatenate([_swapped(h, x, y, place, signs, method) for signs in blocks])
    difference = Estimate(r_a - r_b)
    extreme = int((np.abs(drawn) * _widening(place) >= abs(difference) - 1e-12).sum())
    p = extreme / len(drawn) if exact else (extreme + 1) / (len(drawn) + 1)
    return PermutationTest(r_a, r_b, len(h), difference, p, swaps, exact, len(drawn))


def _widening(place: Codes) -> float:
    """Return the factor by which to widen the swapped differences, because z-scores come from the same groups.

    Subtracting the judges' means costs one degree of freedom of the effective number of groups of equal size. Without
    this factor, the false positive rate for 15 documents of 1 to 20 items is up to .076. Without groups, the test is
    the published one.
    """
    sizes = np.bincount(place)
    effective = len(place) ** 2 / float((sizes**2).sum())
    return float(np.sqrt(effective / (effective - 1))) if len(sizes) < len(place) and effective > 1 else 1.0


def _places(groups: Any, kept: Any) -> Codes:
    """Return the number of the swap of each kept item: the item's own swap, or its group's."""
    if groups is None:
        return np.arange(int(kept.sum()))
    places: Codes = pd.factorize(pd.Series(list(groups), dtype=object)[kept])[0]
    return places


def _complete(human: Any, a: Any, b: Any) -> tuple[Numbers, Numbers, Numbers, Any]:
    h, x, y = parse_vector(human, "human"), parse_vector(a, "a"), parse_vector(b, "b")
    if not len(h) == len(x) == len(y):
        raise ValueError(
            f"human, a and b must score the same items, but have {len(h)}, {len(x)} and {len(y)}."
        )
    kept = ~(np.isnan(h) | np.isnan(x) | np.isnan(y))
    return h[kept], x[kept], y[kept], kept


def _sign_blocks(swaps: int, replicates: int, exact: bool, seed: int) -> Iterator[Numbers]:
    """Yield blocks of assignments x swaps, where -1 swaps the judges."""
    if exact:
        yield np.array(list(itertools.product((1.0, -1.0), repeat=swaps)))
        return
    rng = np.random.default_rng(seed)
    block = max(1, CELLS // swaps)
    for start in range(0, replicates, block):
        shape = (min(block, replicates - start), swaps)
        bits = np.unpackbits(rng.integers(0, 256, (shape[0], -(-swaps // 8)), dtype=np.uint8), axis=1)
        yield bits[:, :swaps] * np.float64(2) - np.float64(1)


def _swapped(h: Numbers, x: Numbers, y: Numbers, place: Codes, signs: Numbers, method: str) -> Numbers:
    """Return r_a - r_b under each assignment.

    The swapped judges are mean +- sign x half difference, so for Pearson every sum is one product over the swaps. For
    rank correlations, items are ranked again for every assignment.
    """
    middle, half = (x + y) / 2, (x - y) / 2
    if method != "pearson":
        return np.array(
            [
                correlate(h, middle + s * half, method) - correlate(h, middle - s * half, method)
                for s in (row[place] for row in signs)
            ]
        )
    h = h - h.mean()
    n, fixed = len(h), (middle**2 + half**2).sum()
    by_swap = [np.bincount(place, part, signs.shape[1]) for part in (h * half, half, middle * half)]
    pull, shift, cross = (signs @ np.column_stack(by_swap)).T
    means = []
    for side in (1, -1):
        spread = fixed + side * 2 * cross - (middle.sum() + side * shift) ** 2 / n
        top = h @ middle + side * pull
        means.append(
            np.divide(
                top, np.sqrt((h @ h) * np.maximum(spread, 0)), out=np.zeros(len(signs)), where=spread > 1e-12
            )
        )
    return np.asarray(means[0] - means[1])


def correlation_difference(
    human: Any, a: Any, b: Any, *, method: str = "pearson", groups: Any = None, confidence: float = 0.95
) -> Estimate:
    """Return the difference of two judges' correlations with people, with an interval that leaves out groups.

    Parameters
    ----------
    human, a, b : one score per item, nan if missing. Items without all three are left out.
    method : "pearson", "spearman" or "kendall" (tau-b).
    groups : the group of each item (its document). By default, every item is a group.

    Returns
    -------
    Estimate
        r_a - r_b with ``ci_low``, ``ci_high``, ``se``, ``p_value``, ``r_a``, ``r_b``, ``n``; for Pearson also
        ``design_effect``, the ratio of the variance to that of independent items.

    >>> d = correlation_difference([1, 2, 5, 5, 3, 1, 4, 4], [1, 2, 4, 5, 3, 2, 4, 5], [2, 1, 4, 3, 3, 1, 5, 3])
    >>> round(d, 3), d.ci_low < d < d.ci_high
    (0.153, True)
    """
    h, x, y, kept = _complete(human, a, b)
    r_a, r_b = correlate(h, x, method), correlate(h, y, method)
    details = {"r_a": r_a, "r_b": r_b, "n": len(h), "method": method}
    if np.isnan([r_a, r_b]).any():
        return Estimate.undefined(CONSTANT, **details)
    spread = _left_out(h, x, y, _places(groups, kept), method, r_a - r_b, confidence)
    return Estimate(r_a - r_b, **details, **spread)


def _left_out(
    h: Numbers, x: Numbers, y: Numbers, place: Codes, method: str, gap: float, confidence: float
) -> dict[str, Any]:
    """Return the interval that leaves out groups."""
    clusters = Clusters(place, "groups")
    if method != "pearson":

        def without(rest: Codes) -> float:
            return correlate(h[rest], x[rest], method) - correlate(h[rest], y[rest], method)

        return group_interval(without, clusters, gap, confidence=confidence)
    parts = _products(h, x, y)
    spread = sums_interval(clusters.sums(parts), _gaps, "groups", confidence=confidence, value=gap)
    alone = sums_interval(parts, _gaps, "items", confidence=confidence, value=gap)
    effect = max(1.0, (spread["se"] / alone["se"]) ** 2) if alone["se"] > 0 else np.nan
    return spread | {"design_effect": effect}


def _products(h: Numbers, x: Numbers, y: Numbers) -> Numbers:
    """Return items x products; their sums give both correlations."""
    h, x, y = ((side - side.mean()) / side.std() for side in (h, x, y))
    return np.column_stack([np.ones_like(h), h, x, y, h * h, x * x, y * y, h * x, h * y])


def _gaps(sums: Numbers) -> Numbers:
    """Return r_a - r_b for each row of sums; nan if either is undefined."""
    n, sh, sx, sy, hh, xx, yy, hx, hy = sums.T
    spread = [square - side**2 / n for square, side in ((hh, sh), (xx, sx), (yy, sy))]
    r_a, r_b = (
        (product - sh * side / n) / np.sqrt(np.where(spread[0] * own > 1e-9, spread[0] * own, np.nan))
        for product, side, own in ((hx, sx, spread[1]), (hy, sy, spread[2]))
    )
    return np.asarray(r_a - r_b)


ONE_ANSWER = "no item has two answers or more"


def flip_rate(answers: Sequence[Sequence[float]], threshold: float, documents: Any = None) -> Estimate:
    """Return the probability that two single answers of a judge fall on different sides of a threshold.

    If an answer to item i reaches the threshold with probability p_i, this is the mean of 2 p_i (1 - p_i). The
    unbiased estimate for an item with k of n answers at or above the threshold is 2 k (n - k) / (n (n - 1)).

    Parameters
    ----------
    answers : the scores of each item's answers; items with fewer than two are left out.
    threshold : answers at or above it pass.
    documents : the document of each item; by default every item is a separate document.

    Returns
    -------
    Estimate
        With ``n`` (items), ``answers`` (mean number per item) and a 95% interval that leaves out whole documents. If
        no verdict changes, the upper limit is the rate at which this would happen with probability 2.5%.

    >>> found = flip_rate([[3, 4], [4, 4, 4], [2, 3, 3, 4], [5]], 3.5)
    >>> found.n, found.answers, round(found, 3)
    (3, 3.0, 0.5)
    """
    kept = [place for place, scores in enumerate(answers) if len(scores) > 1]
    if not kept:
        return Estimate.undefined(ONE_ANSWER, n=0, threshold=threshold)
    n = np.array([len(answers[place]) for place in kept], dtype=float)
    passed = np.array([np.sum(np.asarray(answers[place]) >= threshold - 1e-9) for place in kept], dtype=float)
    terms = 2 * passed * (n - passed) / (n * (n - 1))
    clusters = parse_clusters(documents, len(answers), DOCUMENTS).of(kept)
    sums = clusters.sums(np.column_stack([terms, np.ones(len(terms))]))
    spread = cut(sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], clusters.kind), 0.0, 1.0)
    if not terms.any():
        most = 1 - 0.025 ** (1 / clusters.n)
        spread |= {"ci_low": 0.0, "ci_high": most, "interval_kind": f"exact, over {clusters.kind}"}
    details = {"n": len(kept), "answers": float(n.mean()), "threshold": threshold}
    return Estimate(float(terms.mean()), **details, **spread)
