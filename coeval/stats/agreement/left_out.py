"""Leaving one annotator out: what each changes in the agreement of all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import check_words, point_alpha
from coeval.stats.agreement.clustered import alpha_coefficient
from coeval.stats.agreement.disagreement import Level, check_level
from coeval.stats.agreement.patterns import MANY
from coeval.stats.estimates.clusters import Clusters, jackknife_interval, parse_clusters, sums_interval
from coeval.stats.estimates.families import adjust_bh
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings


@dataclass(frozen=True)
class LeftOut:
    """Alpha without one annotator, and ``difference``: without minus with, above 0 where the others agree better."""

    annotator: Hashable
    n_ratings: int
    alpha: Estimate
    difference: Estimate


def leave_one_out(
    ratings: RatingsLike,
    level: str = "ordinal",
    *,
    clusters: Any = None,
    confidence: float = 0.95,
    value_domain: Sequence[Any] | None = None,
) -> list[LeftOut]:
    """Alpha without each annotator, and what that annotator changes.

    Parameters
    ----------
    clusters : a label a unit, of what was drawn together; without them every unit is a cluster of its own.

    Returns
    -------
    list of LeftOut
        One for each annotator, ``difference`` with its joint interval over clusters and ``p_value``; its ``p_bh`` is
        adjusted over the annotators (Benjamini and Hochberg 1995), as this is a screen.

    >>> rows = leave_one_out({"a": {1: 1, 2: 2, 3: 3}, "b": {1: 1, 2: 2, 3: 3}, "c": {1: 3, 2: 1, 3: 2}})
    >>> [(row.annotator, round(row.difference, 2) > 0) for row in rows]
    [('a', False), ('b', False), ('c', True)]
    """
    data, known = parse_ratings(ratings, value_domain), check_level(level)
    check_words(data, known)
    parsed = parse_clusters(clusters, data.n_units)
    rows = [_without_one(data, parsed, place, known, confidence) for place in range(data.n_annotators)]
    adjusted = adjust_bh([row.difference.details.get("p_value", np.nan) for row in rows])
    return [
        replace(row, difference=row.difference.having(p_bh=p)) for row, p in zip(rows, adjusted, strict=True)
    ]


def _without_one(data: Ratings, clusters: Clusters, place: int, level: Level, confidence: float) -> LeftOut:
    rest = data.without(place)
    name, n = data.annotators[place], int((data.annotator == place).sum())
    alpha, whole = point_alpha(rest, level), point_alpha(data, level)
    if np.isnan(alpha) or np.isnan(whole):
        few = data.n_annotators < 3
        reason = "needs at least three annotators" if few else "alpha of the others alone is undefined"
        nothing = Estimate.undefined(reason, level=level)
        return LeftOut(name, n, nothing, nothing)
    paired = data.per_unit > 1
    part = clusters.of(np.flatnonzero(paired))
    if len(data.categories) > MANY:
        spread: dict[str, Any] = jackknife_interval(alpha - whole, np.empty(0), part.kind, n=part.n)
    else:
        coefficient = alpha_coefficient(data.numbers, level)
        tables = [coefficient.columns(side.counts[paired].astype(float)) for side in (rest, data)]
        width = tables[0].shape[1]

        def difference(rows: Numbers) -> Numbers:
            return coefficient.value(rows[:, :width]) - coefficient.value(rows[:, width:])

        sums = part.sums(np.hstack(tables))
        spread = sums_interval(sums, difference, part.kind, confidence=confidence, value=alpha - whole)
    details = Estimate(alpha, level=level, n_units=int((rest.per_unit > 1).sum()))
    return LeftOut(name, n, details, Estimate(alpha - whole, level=level, **spread))
