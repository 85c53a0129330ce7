"""Intervals for alpha by resampling units, differences of alphas, and the effect of each annotator.

Units are resampled, so the intervals apply to other units judged by these annotators, not to other annotators.
Krippendorff's own bootstrap (2006) resamples errors and covers far too little, so it is not included.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coeval.stats.agreement.alpha import check_words, counted, plain_alpha, point_alpha, undefined_alpha
from coeval.stats.agreement.clustered_agreement import (
    ACCEPTABLE,
    TENTATIVE,
    alpha_coefficient,
    alpha_levels,
    hold_units,
)
from coeval.stats.agreement.patterns import (
    MANY,
    CountPatterns,
    Level,
    Units,
    check_level,
    draw_weights,
    sample_both,
    sample_units,
)
from coeval.stats.clusters import Clusters, jackknife_interval, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate, acceleration_of, adjust_bh, inverted, jackknife, summarise
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings


def bootstrap_alpha(
    ratings: RatingsLike,
    level: str = "ordinal",
    *,
    replicates: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    method: str = "bca",
    clusters: Any = None,
    value_domain: Sequence[Any] | None = None,
) -> Estimate:
    """Return alpha with its interval from resampling the pairable units.

    Every replicate is alpha of the same number of units, drawn with replacement. Replicates with undefined alpha
    (all ratings the same) are left out and counted.

    Parameters
    ----------
    method : "bca" (default) or "percentile"; see ``intervals.summarise``.
    clusters : the cluster label of each unit (its document). Whole clusters are then resampled for the shares
        below .667 and .800; the interval leaves them out one by one (``jackknife_interval``), because clusters are
        often few.

    Returns
    -------
    Estimate
        As ``krippendorff_alpha``, with ``ci_low``, ``ci_high``, ``se``, ``p_below_667`` and ``p_below_800``
        (shares of replicates below), ``replicates``, ``replicates_left_out``, ``interval_kind`` and
        ``distribution`` (the replicates). The interval is nan if every replicate was left out.

    >>> a = bootstrap_alpha([[1, 2, 3, 3, 2, 1, 4, 1], [1, 2, 3, 3, 2, 2, 4, 1]], replicates=500, seed=1)
    >>> round(a, 3), a.ci_low < a <= a.ci_high, a.replicates_left_out
    (0.925, True, 0)
    """
    data, known = parse_ratings(ratings, value_domain), check_level(level)
    check_words(data, known)
    if clusters is not None:
        parsed = parse_clusters(clusters, data.n_units)
        options = {"replicates": replicates, "seed": seed}
        return alpha_levels(data, parsed, (known,), confidence=confidence, **options)[known]
    return bootstrap_levels(data, (known,), replicates, confidence, seed, method)[known]


def bootstrap_levels(
    data: Ratings,
    levels: Sequence[Level],
    replicates: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    method: str = "bca",
) -> dict[Level, Estimate]:
    """Bootstrap alpha at several levels from the same draws (see ``bootstrap_alpha``)."""
    sample, basics = sample_units(data), counted(data)
    drawn = draw_alphas(sample, levels, replicates, seed)
    by_level = {}
    for level in levels:
        value, details = point_alpha(data, level), basics | {"level": level}
        if np.isnan(value):
            by_level[level] = undefined_alpha(details)
            continue
        bend = _acceleration(sample, level) if method == "bca" else 0.0
        spread = summarise(drawn[level], value, basics["n_units"], confidence, bend, method)
        by_level[level] = Estimate(value, **details, **spread, **_shares_below(spread["distribution"]))
    return by_level


def _acceleration(sample: Units, level: Level) -> float:
    """Return the acceleration; 0 for near-continuous values, for which it would take too long."""
    if not isinstance(sample, CountPatterns):
        return 0.0
    return acceleration_of(sample.alphas_without_one(level), sample.times)


def _shares_below(kept: Numbers) -> dict[str, float]:
    if not len(kept):
        return {"p_below_667": np.nan, "p_below_800": np.nan}
    return {"p_below_667": float((kept < TENTATIVE).mean()), "p_below_800": float((kept < ACCEPTABLE).mean())}


def draw_alphas(sample: Units, levels: Sequence[Level], replicates: int, seed: int) -> dict[Level, Numbers]:
    """Return the replicates of alpha at each level, nan if undefined."""
    if not len(sample.times):
        return {level: np.full(replicates, np.nan) for level in levels}
    parts: dict[Level, list[Numbers]] = {level: [] for level in levels}
    for weights in draw_weights(sample.times, replicates, np.random.default_rng(seed), sample.width):
        for level, alphas in zip(levels, sample.alphas(weights, *levels), strict=True):
            parts[level].append(alphas)
    return {level: np.concatenate(parts[level] or [np.empty(0)]) for level in levels}


def jackknife_alpha(
    ratings: RatingsLike,
    level: str = "ordinal",
    *,
    confidence: float = 0.95,
    clusters: Any = None,
    value_domain: Sequence[Any] | None = None,
) -> Estimate:
    """Return alpha with its interval from leaving out one unit, or one cluster of units, at a time.

    Returns
    -------
    Estimate
        As ``krippendorff_alpha``, with ``se``, ``ci_low``, ``ci_high`` (t with n - 1 degrees of freedom, cut
        at 1), ``bias`` and ``interval_kind``. Undefined values without a unit are left out and counted.

    >>> a = jackknife_alpha([[1, 2, 3, 3, 2, 1, 4, 1], [1, 2, 3, 3, 2, 2, 4, 1]], "interval")
    >>> round(a, 3), round(a.se, 3)
    (0.943, 0.071)
    """
    data, known = parse_ratings(ratings, value_domain), check_level(level)
    check_words(data, known)
    if clusters is not None:
        parsed = parse_clusters(clusters, data.n_units)
        return alpha_levels(data, parsed, (known,), replicates=0, confidence=confidence)[known]
    sample, details = sample_units(data), counted(data) | {"level": known}
    value = point_alpha(data, known)
    if np.isnan(value):
        return undefined_alpha(details)
    without = sample.alphas_without_one(known)
    return Estimate(value, **details, **jackknife(value, without, sample.times, confidence, ceiling=1.0))


def alpha_difference(
    a: RatingsLike,
    b: RatingsLike,
    level: str = "ordinal",
    *,
    replicates: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    paired: bool | None = None,
    clusters: Any = None,
    value_domain: Sequence[Any] | None = None,
) -> Estimate:
    """Return alpha of ``a`` minus alpha of ``b``, with a joint interval.

    Parameters
    ----------
    a, b : ratings, annotators x units: with and without an annotator, two arms, two criteria sets.
    paired : True if both have the same units, which are then resampled together. By default, this is so if their
        columns are the same. Units are matched by column.
    clusters : the cluster label of each unit, if both have the same units. Each cluster is then left out of both at
        once, for the interval of ``jackknife_interval``.

    Returns
    -------
    Estimate
        With ``ci_low``, ``ci_high``, ``se``, ``p_value`` (two-sided, twice the smaller share of replicates
        on one side of 0), ``alpha_a``, ``alpha_b``, ``paired``, ``replicates_left_out``.

    >>> one = [[1, 2, 3, 3, 2, 1, 4, 1], [1, 2, 3, 3, 2, 2, 4, 1]]
    >>> d = alpha_difference(one, one, replicates=50)
    >>> float(d), d.ci, d.paired
    (0.0, (0.0, 0.0), True)
    """
    known = check_level(level)
    first, second = parse_ratings(a, value_domain), parse_ratings(b, value_domain)
    for side in (first, second):
        check_words(side, known)
    same = list(first.units) == list(second.units)
    if paired and not same:
        first, second = _matched(first, second)
    together = same if paired is None else paired
    samples = sample_both(first, second) if together else (sample_units(first), sample_units(second))
    values = [plain_alpha(sample, known) for sample in samples]
    units = [counted(side)["n_units"] for side in (first, second)]
    details = {
        "level": known,
        "alpha_a": values[0],
        "alpha_b": values[1],
        "paired": together,
        "n_units_a": units[0],
        "n_units_b": units[1],
    }
    if np.isnan(values).any():
        which = "first" if np.isnan(values[0]) else "second"
        return Estimate.undefined(f"alpha of the {which} ratings is undefined", **details)
    gap = values[0] - values[1]
    if clusters is not None:
        parsed = parse_clusters(clusters, first.n_units)
        return Estimate(gap, **details, **_clustered(first, second, parsed, known, gap, confidence))
    drawn = _draw_differences(samples, known, replicates, seed, together)
    return Estimate(gap, **details, **_difference(drawn, gap, min(units), confidence))


def _clustered(
    a: Ratings, b: Ratings, clusters: Clusters, level: Level, gap: float, confidence: float
) -> dict[str, Any]:
    """Return the interval of the difference between two alphas of the same units, leaving out each cluster
    from both.
    """
    if max(len(a.categories), len(b.categories)) > MANY:
        return jackknife_interval(gap, np.empty(0), clusters.kind, n=clusters.n)
    kept = (a.per_unit > 1) | (b.per_unit > 1)
    part = clusters.of(np.flatnonzero(kept))
    first, second = (alpha_coefficient(side.numbers, level) for side in (a, b))
    sums = [hold_units(side, kept, part).sums(places.columns) for places, side in ((first, a), (second, b))]
    width = sums[0].shape[1]

    def difference(rows: Numbers) -> Numbers:
        return first.value(rows[:, :width]) - second.value(rows[:, width:])

    return sums_interval(np.hstack(sums), difference, part.kind, confidence=confidence, value=gap)


def _matched(a: Ratings, b: Ratings) -> tuple[Ratings, Ratings]:
    """Return both sets of ratings over the same units, in the same order."""
    units = list(dict.fromkeys([*a.units, *b.units]))
    place = {unit: position for position, unit in enumerate(units)}

    def moved(side: Ratings) -> Ratings:
        to = np.array([place[unit] for unit in side.units], dtype=np.int64)
        return Ratings(side.annotators, units, side.categories, side.annotator, to[side.unit], side.code)

    return moved(a), moved(b)


def _draw_differences(
    samples: tuple[Units, Units], level: Level, replicates: int, seed: int, together: bool
) -> Numbers:
    a, b = samples
    if not together:
        return (
            draw_alphas(a, (level,), replicates, seed)[level]
            - draw_alphas(b, (level,), replicates, seed + 1)[level]
        )
    blocks = draw_weights(a.times, replicates, np.random.default_rng(seed), a.width + b.width)
    return np.concatenate([a.alphas(weights, level)[0] - b.alphas(weights, level)[0] for weights in blocks])


def _difference(drawn: Numbers, value: float, n: int, confidence: float) -> dict[str, Any]:
    summary = summarise(drawn, value, n, confidence)
    return summary | {"p_value": inverted(summary.pop("distribution"), value, n)}


# Alpha without one annotator: each annotator's effect on agreement.


@dataclass(frozen=True)
class LeftOut:
    """Alpha without one annotator. ``difference`` (without minus with) is above 0 if the others agree better."""

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
    """Return alpha without each annotator, and each annotator's effect on alpha.

    Parameters
    ----------
    clusters : the cluster label of each unit. By default, every unit is a cluster.

    Returns
    -------
    list of LeftOut
        One for each annotator. ``difference`` has a joint interval over clusters, ``p_value``, and ``p_bh``, which is
        adjusted over the annotators (Benjamini and Hochberg 1995), because this is a screening.

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
    """The statistics of all raters, before any rater is left out."""

    data: Ratings
    clusters: Clusters
    level: Level
    alpha: float
    sums: Numbers
    """Sums over clusters for units with two ratings; no columns if the scores are near-continuous."""

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
        """Return the sums of the ratings ``rest`` over the same clusters."""
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
