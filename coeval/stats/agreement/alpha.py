"""Krippendorff's alpha: its intervals over clusters, its mean over criteria, and the difference of two arms.

Clusters are left out, so the intervals apply to other units judged by these annotators, not to other annotators.
Krippendorff's own bootstrap (2006) resamples errors and covers far too little, so it is not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coeval.stats.agreement.coefficients import NOT_PAIRED, count_ratings, percent_statistic
from coeval.stats.agreement.unit_kinds import (
    Level,
    UnitKinds,
    check_level,
    clustered_interval,
    grouped,
    widened_to,
)
from coeval.stats.clusters import UNITS, Clusters, cut, jackknife_interval, parse_clusters
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings

TENTATIVE = 0.667
ACCEPTABLE = 0.800

CONSTANT = "every paired rating is the same, so there is no variation to agree about"


def krippendorff_alpha(ratings: RatingsLike, level: str = "ordinal", *, clusters: Any = None) -> Estimate:
    """Return Krippendorff's alpha, with an interval that leaves out one cluster at a time.

    Parameters
    ----------
    ratings : annotators x units, nan if missing; numbers or words. Words are ordered alphabetically.
    level : "nominal", "ordinal" or "interval".
    clusters : the cluster label of each unit (its document). By default, every unit is a cluster.

    Returns
    -------
    Estimate
        With the interval of ``jackknife_interval``, ``n_units`` (units with two or more ratings),
        ``n_units_left_out``, ``n_ratings`` (ratings of these units), ``n_annotators``, ``level`` and
        ``percent_agreement``. nan if no unit has two ratings, or all paired ratings are the same.

    Raises
    ------
    ValueError
        If the level is unknown, or interval for words.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, sections C and D:

    >>> ratings = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    ...            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    ...            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> round(krippendorff_alpha(ratings, "nominal"), 3), round(krippendorff_alpha(ratings, "ordinal"), 3)
    (0.743, 0.815)
    >>> krippendorff_alpha([[3, 3], [3, 3]])
    undefined (every paired rating is the same, so there is no variation to agree about)
    """
    data, level_name = parse_ratings(ratings), check_level(level)
    _check_words(data, level_name)
    parsed = parse_clusters(clusters, data.n_units)
    return alpha_levels(data, parsed, (level_name,))[level_name]


def alpha_levels(data: Ratings, clusters: Clusters, levels: Sequence[Level]) -> dict[Level, Estimate]:
    """Return alpha at several levels, as ``krippendorff_alpha``.

    Parameters
    ----------
    clusters : the clusters of the units of ``data``, in the same order.
    """
    units, details = paired_units(data, clusters), _count(data)
    by_level = {level: alpha_of(units, level, **details) for level in levels}
    defined = [level for level in levels if by_level[level].defined]
    for level in defined:
        value = float(by_level[level])
        spread = clustered_interval(units, _at(level), value)
        by_level[level] = by_level[level].having(**spread)
    return by_level


def alpha_of(units: UnitKinds, level: Level, **details: Any) -> Estimate:
    """Return alpha without an interval; every unit must have two ratings or more.

    If alpha is undefined, the estimate is nan and has a ``reason``.
    """
    if not len(units.times):
        return Estimate.undefined(NOT_PAIRED, **details, level=level)
    value = float(units.alphas(units.times[None, :], level)[0])
    if np.isnan(value):
        return Estimate.undefined(CONSTANT, **details, level=level)
    return Estimate(value, **details, level=level)


def plain_alphas(data: Ratings, levels: Sequence[Level]) -> dict[Level, Estimate]:
    """Return alpha at several levels without intervals."""
    units, details = paired_units(data, Clusters(np.arange(data.n_units))), _count(data)
    return {level: alpha_of(units, level, **details) for level in levels}


def paired_units(data: Ratings, clusters: Clusters) -> UnitKinds:
    """Return the kinds of the units with two ratings or more."""
    paired = data.per_unit > 1
    return UnitKinds.of(data, paired, clusters.of(np.flatnonzero(paired)))


def _count(data: Ratings) -> dict[str, Any]:
    units = paired_units(data, Clusters(np.arange(data.n_units)))
    percent = float(percent_statistic(units, units.times[None, :])[0])
    return count_ratings(data) | {"percent_agreement": percent}


def _at(level: Level) -> Any:
    return lambda units, weights: units.alphas(weights, level)


def _check_words(data: Ratings, level: Level) -> None:
    """Raise ValueError for distances between words."""
    if level == "interval" and not data.numeric:
        raise ValueError(
            f"Level {level!r} needs numbers, but the ratings hold {data.categories[0]!r}; "
            "use level='nominal'."
        )


def mean_alpha(
    parts: Sequence[Ratings],
    clusters: Sequence[Clusters],
    level: Level = "ordinal",
) -> Estimate:
    """Return the mean of the criteria's alphas, with an interval that leaves out each cluster of all criteria.

    The pooled alpha would be inflated, because people agree that one criterion scores higher than another.

    Parameters
    ----------
    parts : the ratings of each criterion.
    clusters : the clusters of each criterion's units; the same number means the same document in all criteria.

    Returns
    -------
    Estimate
        With ``n_criteria`` (in the mean), ``n_criteria_left_out`` (alpha undefined) and the interval over clusters.
    """
    whole = max((code.n for code in clusters), default=0)
    everything = [_numbered_alike(data, code, whole) for data, code in zip(parts, clusters, strict=True)]
    alphas = [alpha_of(units, level) for units in everything]
    defined = [units for units, alpha in zip(everything, alphas, strict=True) if alpha.defined]
    details = {"level": level, "n_criteria": len(defined), "n_criteria_left_out": len(parts) - len(defined)}
    if not defined:
        reasons = [alpha.reason or "" for alpha in alphas] or ["there is no criterion"]
        # two people may have scored another criterion than the first
        reason = next((reason for reason in reasons if reason != NOT_PAIRED), reasons[0])
        return Estimate.undefined(reason, **details)
    value = float(np.mean([float(alpha) for alpha in alphas if alpha.defined]))
    there = np.any([np.diff(units.held.indptr) > 0 for units in defined], axis=0)
    n, kind = int(there.sum()), defined[0].kind
    defined = grouped([replace(units, held=units.held[there], clusters=n) for units in defined])
    if not any(units.is_skewed for units in defined):
        without = np.mean([units.without_each(_at(level)) for units in defined], axis=0)
        spread = jackknife_interval(value, without, kind, n=n)
        return Estimate(value, **cut(spread, -np.inf, 1.0), **details)
    whole_alphas, left_out = zip(*(_with_two(units, level) for units in defined), strict=True)
    without = np.mean(left_out, axis=0)
    spread = jackknife_interval(float(np.mean(whole_alphas)), without, kind)
    return Estimate(value, **widened_to(value, spread, n), **details)


def _with_two(units: UnitKinds, level: Level) -> tuple[float, Numbers]:
    """Return alpha with two units added if scores are skewed, and without each cluster and each added unit.

    The units that other criteria need change nothing in a criterion that is not skewed.
    """
    if units.is_skewed:
        more = units.with_two_units()
        return float(alpha_of(more, level)), more.without_each(_at(level))
    alone = float(alpha_of(units, level))
    return alone, np.append(units.without_each(_at(level)), [alone, alone])


def _numbered_alike(data: Ratings, clusters: Clusters, whole: int) -> UnitKinds:
    """Return the paired units with the same numbers of clusters as in other criteria, even if one is missing here."""
    paired = data.per_unit > 1
    units = UnitKinds.of(data, paired, Clusters(clusters.code[paired], clusters.kind))
    held = units.held.copy()
    held.resize((whole, held.shape[1]))
    return replace(units, held=held, clusters=whole)


def mean_alpha_difference(
    pairs: Sequence[tuple[Ratings, Ratings]],
    clusters: Sequence[Clusters],
    level: Level = "ordinal",
) -> Estimate:
    """Return the mean over criteria of alpha of the first ratings minus alpha of the second.

    Criteria in which one of the alphas is undefined are left out. Criteria are not pooled, because their scales may
    differ. Each cluster is left out of all criteria, and of both sides, at once.

    Parameters
    ----------
    pairs : for each criterion, two sets of ratings of the same units.
    clusters : the clusters of each criterion's units; the same number means the same document in all criteria.
    """
    paired = [(a.per_unit > 1) | (b.per_unit > 1) for a, b in pairs]
    code = np.concatenate(
        [np.empty(0, np.int64), *(of.code[kept] for of, kept in zip(clusters, paired, strict=True))]
    )
    used, kind = np.unique(code), clusters[0].kind if clusters else UNITS
    sides = []
    for two, of in zip(pairs, clusters, strict=True):
        place = Clusters(np.searchsorted(used, of.code), kind)
        sides.append([_numbered_alike(side, place, len(used)) for side in two])
    alphas = [[alpha_of(units, level) for units in two] for two in sides]
    defined = [
        sides_of for sides_of, two in zip(sides, alphas, strict=True) if all(alpha.defined for alpha in two)
    ]
    means = [_mean_defined([two[k] for two in alphas], bool(defined), alphas) for k in (0, 1)]
    details = {"level": level, "alpha_a": means[0], "alpha_b": means[1], "n_criteria": len(defined)}
    details |= {
        f"n_units_{name}": sum(int(two[k].times.sum()) for two in defined or sides)
        for k, name in enumerate("ab")
    }
    if not defined:
        which = "first" if np.isnan(means[0]) else "second"
        reasons = [two[["first", "second"].index(which)].reason for two in alphas]
        why = f": {reasons[0]}" if reasons and reasons[0] else ""
        return Estimate.undefined(f"alpha of the {which} ratings is undefined{why}", **details)
    flat = grouped([units for sides_of in defined for units in sides_of])
    without = np.zeros(0)
    if flat[0].held.shape[0] > 1:
        gaps = [
            flat[2 * k].without_each(_at(level)) - flat[2 * k + 1].without_each(_at(level))
            for k in range(len(defined))
        ]
        without = np.mean(gaps, axis=0)
    gap = means[0] - means[1]
    spread = jackknife_interval(gap, without, kind, n=len(used))
    return Estimate(gap, **details, **spread)


def _mean_defined(side: Sequence[Estimate], paired: bool, alphas: Sequence[Sequence[Estimate]]) -> float:
    """Return the mean of one side's alphas: over criteria with both alphas if there are any, else with its own."""
    kept = [
        float(alpha)
        for alpha, two in zip(side, alphas, strict=True)
        if alpha.defined and (not paired or all(side_alpha.defined for side_alpha in two))
    ]
    return float(np.mean(kept)) if kept else np.nan
