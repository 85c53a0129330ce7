"""One judge asked in two ways: what the second way does to its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.estimates.clusters import DOCUMENTS, cut, group_interval, parse_clusters, sums_interval
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import parse_vector

NOTHING = "no unit was scored in both ways"


@dataclass(frozen=True)
class ScoreShift:
    """Scores of the same units given in two ways; estimates carry intervals over documents."""

    n: int
    mean_first: float
    mean_second: float
    shift: Estimate
    """The second way's mean less the first way's."""
    same: Estimate
    """The share of units with the very same score."""
    alpha: Estimate
    """Krippendorff's alpha of the two ways, interval level."""


def compare_scores(first: Any, second: Any, documents: Sequence[Any] | None = None) -> ScoreShift:
    """What the second way does to the scores of the first.

    Parameters
    ----------
    first, second : one score a unit, nan where missing; a unit needs both.
    documents : a label a unit, of what was sampled together.

    Source: the mean of paired differences, and Krippendorff 2011, sections C and D, for alpha; every interval leaves
    out whole documents (``estimates.clusters``).

    >>> found = compare_scores([1, 2, 4, 5, None], [2, 2, 5, 5, 3], ["a", "b", "c", "d", "e"])
    >>> found.n, float(found.shift), float(found.same), round(found.alpha, 3)
    (4, 0.5, 0.5, 0.91)
    """
    x, y = parse_vector(first, "first"), parse_vector(second, "second")
    if len(x) != len(y):
        raise ValueError(f"first has {len(x)} scores and second {len(y)}; give one of each for every unit.")
    kept = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    x, y = x[kept], y[kept]
    n = len(kept)
    if not n:
        nothing = Estimate.undefined(NOTHING)
        return ScoreShift(0, np.nan, np.nan, nothing, nothing, nothing)
    clusters = parse_clusters(documents, n if documents is None else len(documents), DOCUMENTS)
    clusters = clusters if documents is None else clusters.of(kept)
    both = np.column_stack([y - x, np.abs(y - x) < 1e-9, np.ones(n)])
    sums = clusters.sums(both)
    shift = sums_interval(sums, lambda each: each[:, 0] / each[:, 2], clusters.kind)
    same = sums_interval(sums, lambda each: each[:, 1] / each[:, 2], clusters.kind)
    alpha = krippendorff_alpha([x, y], "interval")
    if alpha.defined:
        spread = group_interval(
            lambda places: float(krippendorff_alpha([x[places], y[places]], "interval")),
            clusters,
            float(alpha),
        )
        alpha = alpha.having(**cut(spread, -1.0, 1.0))
    return ScoreShift(
        n,
        float(x.mean()),
        float(y.mean()),
        Estimate(float((y - x).mean()), n=n, **shift),
        Estimate(float(both[:, 1].mean()), n=n, **cut(same, 0.0, 1.0)),
        alpha,
    )
