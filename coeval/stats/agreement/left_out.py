"""Leaving one annotator out: what each changes in the agreement of all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import check_words, point_alpha
from coeval.stats.agreement.clustered import alpha_coefficient, hold_units
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
    whole = _Whole.of(data, parse_clusters(clusters, data.n_units), known)
    rows = [_without_one(whole, place, confidence) for place in range(data.n_annotators)]
    adjusted = adjust_bh([row.difference.details.get("p_value", np.nan) for row in rows])
    return [
        replace(row, difference=row.difference.having(p_bh=p)) for row, p in zip(rows, adjusted, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Whole:
    """What everybody's ratings give, before one person's are taken away."""

    data: Ratings
    clusters: Clusters
    level: Level
    alpha: float
    sums: Numbers
    """Of the units with two ratings, over clusters; without columns where the scores are near-continuous."""

    @classmethod
    def of(cls, data: Ratings, clusters: Clusters, level: Level) -> _Whole:
        part = clusters.of(np.flatnonzero(data.per_unit > 1))
        alpha = point_alpha(data, level)
        nothing = np.isnan(alpha) or len(data.categories) > MANY
        return cls(
            data, part, level, alpha, np.zeros((part.n, 0)) if nothing else cls._sums(data, data, part, level)
        )

    @staticmethod
    def _sums(rated: Ratings, data: Ratings, part: Clusters, level: Level) -> Numbers:
        return hold_units(rated, data.per_unit > 1, part).sums(alpha_coefficient(data.numbers, level).columns)

    def sums_of(self, rest: Ratings) -> Numbers:
        """The sums of some of the ratings, over the same clusters."""
        return self._sums(rest, self.data, self.clusters, self.level)


def _without_one(whole: _Whole, place: int, confidence: float) -> LeftOut:
    data, level, kind = whole.data, whole.level, whole.clusters.kind
    rest = data.without(place)
    name, n, alpha = data.annotators[place], len(data.code) - len(rest.code), point_alpha(rest, level)
    if np.isnan(alpha) or np.isnan(whole.alpha):
        few = data.n_annotators < 3
        reason = "needs at least three annotators" if few else "alpha of the others alone is undefined"
        nothing = Estimate.undefined(reason, level=level)
        return LeftOut(name, n, nothing, nothing)
    difference = alpha - whole.alpha
    if len(data.categories) > MANY:
        spread: dict[str, Any] = jackknife_interval(difference, np.empty(0), kind, n=whole.clusters.n)
    else:
        value, width = alpha_coefficient(data.numbers, level).value, whole.sums.shape[1]

        def differences(rows: Numbers) -> Numbers:
            return value(rows[:, :width]) - value(rows[:, width:])

        sums = np.hstack([whole.sums_of(rest), whole.sums])
        spread = sums_interval(sums, differences, kind, confidence=confidence, value=difference)
    details = Estimate(alpha, level=level, n_units=int((rest.per_unit > 1).sum()))
    return LeftOut(name, n, details, Estimate(difference, level=level, **spread))
