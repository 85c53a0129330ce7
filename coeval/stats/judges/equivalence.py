"""Equivalence: is a judge's mean as near to people's as a margin that was stated?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coeval.stats.estimates.clusters import Clusters, sums_interval
from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Numbers

LEVEL = 0.05


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests: ``bias`` is the judge's mean less people's, its interval the one of 90%.

    ``p_value`` is the larger of the two; ``smallest_margin`` is the least margin at which they would be equivalent.
    """

    bias: Estimate
    margin: float
    p_value: Estimate
    smallest_margin: Estimate
    n: int


def equivalence_test(judge: Numbers, people: Numbers, margin: float, clusters: Clusters) -> Equivalence:
    """Whether a judge's mean lies within +-``margin`` of people's, items of a cluster not independent.

    The errors of +-margin are each tested one-sided with Student's t over clusters. Both must be rejected; this is as
    much as the 90% interval lying within the margin.

    Parameters
    ----------
    judge, people : a score an item each, none missing.
    margin : in points, above 0, stated before the data are seen.
    clusters : of the items.

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
    worse = float(special.stdtr(df, (abs(value) - margin) / se))
    least = abs(value) + float(special.stdtrit(df, 1 - LEVEL)) * se
    return Equivalence(bias, margin, Estimate(worse), Estimate(least), len(gaps))
