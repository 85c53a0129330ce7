"""Equivalence of a judge's mean and people's, and the share of verdicts that change between two answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from coeval.stats.clusters import DOCUMENTS, Clusters, cut, parse_clusters, ratio_of, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers

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
    spread = sums_interval(sums, ratio_of, clusters.kind, confidence=1 - 2 * LEVEL, value=value)
    bias, se = Estimate(value, **spread), float(spread["se"])
    if not se > 0:
        nothing = Estimate.undefined("the judge differs from people by the same in every cluster")
        return Equivalence(bias, margin, nothing, nothing, len(gaps))
    df = clusters.n - 1
    worse = float(scipy.special.stdtr(df, (abs(value) - margin) / se))
    least = abs(value) + float(scipy.special.stdtrit(df, 1 - LEVEL)) * se
    return Equivalence(bias, margin, Estimate(worse), Estimate(least), len(gaps))


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
    spread = cut(sums_interval(sums, ratio_of, clusters.kind), 0.0, 1.0)
    if not terms.any():
        most = 1 - 0.025 ** (1 / clusters.n)
        spread |= {"ci_low": 0.0, "ci_high": most, "interval_kind": f"exact, over {clusters.kind}"}
    details = {"n": len(kept), "answers": float(n.mean()), "threshold": threshold}
    return Estimate(float(terms.mean()), **details, **spread)
