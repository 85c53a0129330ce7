"""Percent agreement, the coefficients that are corrected for chance (Gwet's AC1 and AC2, Fleiss' kappa), and weights.

Every coefficient here is (pa - pe) / (1 - pe). pa is the weighted share of agreeing pairs, averaged over units with
two or more ratings; pe is the agreement expected by chance from the shares of the scores (Gwet 2014, Handbook of
Inter-Rater Reliability, 4th ed., chapter 5). Intervals leave out whole clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coeval.stats.agreement.unit_kinds import MANY, Statistic, UnitKinds, clustered_interval
from coeval.stats.clusters import cut, parse_clusters
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings

ONE_CATEGORY = "only one category was used, so chance agreement and agreement cannot be separated"
NOT_PAIRED = "no unit has ratings by two annotators"
TOO_MANY = f"more than {MANY} different scores; this coefficient is for categories"
SURE = 1 - 1e-12
"""Chance agreement above this is treated as 1: rounding can leave sums over six people's shares just below 1."""

Chance = Callable[[Numbers, Numbers], Numbers]
"""A function from the shares of the scores (rows x scores) and the weights to pe of each row."""


def percent_agreement(ratings: RatingsLike, *, clusters: Any = None) -> Estimate:
    """Return the share of agreeing pairs of ratings in a unit, averaged over units with two or more ratings.

    >>> round(percent_agreement([[1, 2, 3], [1, 2, 1], [1, 1, None]]), 4)
    0.4444
    """
    agreement = _estimate(parse_ratings(ratings), percent_statistic, clusters)
    return (
        agreement.having(**cut(agreement.details, 0.0, 1.0)) if "ci_low" in agreement.details else agreement
    )


def gwet_ac(ratings: RatingsLike, weights: str = "identity", *, clusters: Any = None) -> Estimate:
    """Return Gwet's AC1 (identity weights) or AC2 (other weights).

    Parameters
    ----------
    ratings : annotators x units, nan if missing; numbers or words. Only categories that occur count for pe.
    weights : see ``agreement_weights``.
    clusters : the cluster label of each unit. By default, every unit is a cluster.

    Returns
    -------
    Estimate
        With the interval over clusters, ``pa``, ``pe``, ``n_units``, ``n_annotators``; nan with a ``reason`` if
        undefined.

    Source: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement.

    >>> ac1 = gwet_ac([[1, 1, 2, 2], [1, 1, 2, 1]])
    >>> round(ac1, 4), round(ac1.pa, 2), round(ac1.pe, 4)
    (0.5294, 0.75, 0.4688)
    """
    return _corrected(parse_ratings(ratings), weights, gwet_chance, clusters)


def fleiss_kappa(ratings: RatingsLike, weights: str = "identity", *, clusters: Any = None) -> Estimate:
    """Return Fleiss' kappa, generalised to weights and missing ratings. Parameters are those of ``gwet_ac``.

    Source: Fleiss 1971, Measuring nominal scale agreement among many raters.

    >>> round(fleiss_kappa([[1, 2, 1, 1], [1, 2, 1, 1], [1, 2, 2, 1]]), 4)
    0.625
    """
    return _corrected(parse_ratings(ratings), weights, _fleiss_chance, clusters)


def gwet_chance(shares: Numbers, weights: Numbers) -> Numbers:
    """Return Gwet's chance agreement for each row of shares."""
    q = len(weights)
    return np.asarray(weights.sum() / max(q * (q - 1), 1) * (shares * (1 - shares)).sum(axis=1))


def _fleiss_chance(shares: Numbers, weights: Numbers) -> Numbers:
    return np.asarray(np.einsum("bi,ij,bj->b", shares, weights, shares))


def percent_statistic(units: UnitKinds, weights: Numbers) -> Numbers:
    """Return percent agreement for each row of weights."""
    paired = units.sizes > 1
    alike = np.asarray(units.counts.multiply(units.counts - (units.counts > 0)).sum(axis=1)).ravel()
    shares = np.divide(
        alike, units.sizes * (units.sizes - 1), out=np.zeros(len(units.sizes)), where=units.sizes > 1
    )
    n = weights @ paired.astype(float)
    return np.asarray(np.divide(weights @ shares, n, out=np.full(len(n), np.nan), where=n > 0))


def _corrected(data: Ratings, weights: str, chance: Chance, clusters: Any) -> Estimate:
    matrix = agreement_weights(weights, data.numbers)
    if len(data.categories) > MANY:
        return Estimate.undefined(TOO_MANY, **count_ratings(data))
    statistic = _chance_statistic(matrix, chance)
    coefficient = _estimate(data, statistic, clusters)
    if not coefficient.defined:
        return coefficient
    pa, pe = (float(part[0]) for part in _agreements(_rated(data, None), None, matrix, chance))
    return coefficient.having(pa=pa, pe=pe)


def _chance_statistic(matrix: Numbers, chance: Chance) -> Statistic:
    def statistic(units: UnitKinds, weights: Numbers) -> Numbers:
        pa, pe = _agreements(units, weights, matrix, chance)
        return np.asarray(np.divide(pa - pe, 1 - pe, out=np.full(len(pa), np.nan), where=pe < SURE))

    return statistic


def _agreements(
    units: UnitKinds, weights: Numbers | None, matrix: Numbers, chance: Chance
) -> tuple[Numbers, Numbers]:
    """Return pa and pe for each row of weights (by default, of all units)."""
    weights = units.times[None, :] if weights is None else weights
    counts, sizes = units.counts.toarray(), units.sizes
    paired = sizes > 1
    agreeing = (counts * (counts @ matrix - 1)).sum(axis=1) / np.where(paired, sizes * (sizes - 1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        pa = (weights @ (agreeing * paired)) / (weights @ paired.astype(float))
        shares = (weights @ (counts / sizes[:, None])) / weights.sum(axis=1, keepdims=True)
        return pa, chance(shares, matrix)


def _rated(data: Ratings, clusters: Any) -> UnitKinds:
    rated = data.per_unit > 0
    parsed = parse_clusters(clusters, data.n_units)
    return UnitKinds.of(data, rated, parsed.of(np.flatnonzero(rated)))


def _estimate(data: Ratings, statistic: Statistic, clusters: Any) -> Estimate:
    basics = count_ratings(data)
    if not basics["n_units"]:
        return Estimate.undefined(NOT_PAIRED, **basics)
    units = _rated(data, clusters)
    constant = len(np.unique(data.code)) < 2
    if constant and statistic is not percent_statistic:
        return Estimate.undefined(ONE_CATEGORY, **basics)
    value = float(statistic(units, units.times[None, :])[0])
    if np.isnan(value):
        return Estimate.undefined(ONE_CATEGORY, **basics)
    if constant and len(data.categories) < 2:
        return Estimate(value, **basics)
    return Estimate(value, **basics, **clustered_interval(units, statistic, value))


def count_ratings(data: Ratings) -> dict[str, Any]:
    """Return the counts behind a coefficient: units with two or more ratings, their ratings and people.

    ``n_units_left_out`` counts the units with one rating. Only the chance agreement of Gwet and Fleiss uses them.
    """
    paired = data.per_unit > 1
    return {
        "n": int(paired.sum()),
        "n_units": int(paired.sum()),
        "n_units_left_out": int((data.per_unit == 1).sum()),
        "n_ratings": int(data.per_unit[paired].sum()),
        "n_annotators": int(np.count_nonzero(np.bincount(data.annotator[paired[data.unit]]))),
    }


def agreement_weights(weights: str, values: Numbers) -> Numbers:
    """Return the matrix of agreement weights, categories x categories, 1 on the diagonal.

    Parameters
    ----------
    weights : identity, linear, quadratic or ordinal.
    values : the categories' numbers, ascending.

    >>> agreement_weights("linear", np.array([1.0, 2.0, 3.0]))[0].tolist()
    [1.0, 0.5, 0.0]
    """
    if weights not in _DISTANCES:
        raise ValueError(f"There are no weights {weights!r}; choose one of: {', '.join(_DISTANCES)}.")
    distance = _DISTANCES[weights](values)
    furthest = distance.max(initial=0.0)
    return 1 - distance / furthest if furthest > 0 else np.ones_like(distance)


def _differences(values: Numbers) -> Numbers:
    return np.abs(values[:, None] - values[None, :])


def _identity(values: Numbers) -> Numbers:
    return (_differences(values) > 0).astype(float)


def _ordinal(values: Numbers) -> Numbers:
    """Return C(m, 2), where m is the number of categories from one to the other, both included."""
    places = np.arange(1.0, len(values) + 1)
    between = _differences(places) + 1
    return between * (between - 1) / 2


_DISTANCES: dict[str, Callable[[Numbers], Numbers]] = {
    "identity": _identity,
    "linear": _differences,
    "quadratic": lambda values: _differences(values) ** 2,
    "ordinal": _ordinal,
}
