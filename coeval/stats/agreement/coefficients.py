"""Chance-corrected agreement with linearised errors: Gwet, Fleiss, Conger, Brennan-Prediger; percent agreement.

Every coefficient here is (pa - pe) / (1 - pe). pa is the weighted share of agreeing pairs, averaged over units with
two or more ratings; pe is the agreement expected by chance. The error is Gwet's, from each unit's influence on pa
and pe (Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., chapter 5; the irrCAC packages). Units are treated as
a sample of an infinite population.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from coeval.stats.agreement.patterns import MANY
from coeval.stats.agreement.weights import weights_of
from coeval.stats.estimates import Estimate, t_limits
from coeval.stats.rating_matrix import Codes, Kinds, Numbers, Ratings, RatingsLike, parse_ratings

ONE_CATEGORY = "only one category was used, so chance agreement and agreement cannot be separated"
SURE = 1 - 1e-12
"""Chance agreement above this is treated as 1: rounding can leave sums over six people's shares just below 1."""

NOT_PAIRED = "no unit has ratings by two annotators"

Chance = Callable[[Numbers, Numbers, Numbers], tuple[float, Numbers]]
"""A function from shares (patterns x categories), times and weights to pe and each pattern's influence on pe."""


def percent_of(data: Ratings) -> float:
    """Return percent agreement of coded ratings; nan without a paired unit."""
    sizes = data.per_unit
    paired = sizes > 1
    if not paired.any():
        return np.nan
    if len(data.categories) <= MANY:
        kinds = data.kinds.among(paired)
        sizes = kinds.rows.sum(axis=1)
        agreeing = (kinds.rows * (kinds.rows - 1)).sum(axis=1) / (sizes * (sizes - 1))
        return float(agreeing @ kinds.times / kinds.times.sum())
    alike = np.bincount(*_agreeing_pairs(data), minlength=data.n_units)[paired]
    return float((alike / (sizes[paired] * (sizes[paired] - 1))).mean())


def _agreeing_pairs(data: Ratings) -> tuple[Codes, Numbers]:
    """Return, for each (unit, category) that occurs, its unit and the number of ordered pairs that agree on it."""
    keys, times = np.unique(data.unit * len(data.categories) + data.code, return_counts=True)
    return keys // len(data.categories), times * (times - 1.0)


def krippendorff_linear(data: Ratings, weights: Any, confidence: float = 0.95) -> Estimate:
    """Return alpha with disagreement 1 - weight, and Gwet's linearised error (irrCAC ``krippen.alpha.raw``)."""
    counts, times = as_numbers(data.kinds.among(data.per_unit > 1))
    basics = basics_of(data)
    if not len(times):
        return Estimate.undefined(NOT_PAIRED, **basics)
    matrix, n = weights_of(weights, data), times.sum()
    sizes, mean_size = counts.sum(axis=1), counts.sum(axis=1) @ times / n
    agreeing = (counts * (counts @ matrix - 1)).sum(axis=1) / (mean_size * (sizes - 1))
    agreement = agreeing @ times / n
    slack = 1 / (sizes @ times)
    shares = counts / mean_size
    prevalence = times @ shares / n
    pe = float(prevalence @ matrix @ prevalence)
    if not pe < SURE:
        return Estimate.undefined(ONE_CATEGORY, **basics)
    surplus = (sizes - mean_size) / mean_size
    plain = (agreement - pe) / (1 - pe)
    chance = shares @ (matrix + matrix.T) @ prevalence / 2 - pe * surplus
    pa = (1 - slack) * agreement + slack
    influence = (agreeing - pa * surplus - pe) / (1 - pe) - 2 * (1 - plain) * (chance - pe) / (1 - pe)
    return _with_error((pa - pe) / (1 - pe), influence - plain, times, confidence, pa=pa, pe=pe, **basics)


def as_numbers(kinds: Kinds) -> tuple[Numbers, Numbers]:
    return kinds.rows.astype(float), kinds.times.astype(float)


def coefficient(
    data: Ratings, weights: Any, confidence: float, chance: Chance, *, corrected: bool = True
) -> Estimate:
    counts, times = as_numbers(data.kinds.among(data.per_unit > 0))
    matrix = weights_of(weights, data)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    expected = chance(shares, times, matrix) if len(times) else (np.nan, np.zeros(0))
    return assembled(data, counts, times, matrix, expected, confidence, corrected=corrected)


def assembled(
    data: Ratings,
    counts: Numbers,
    times: Numbers,
    matrix: Numbers,
    chance: tuple[float, Numbers],
    confidence: float,
    *,
    corrected: bool = True,
) -> Estimate:
    """Return (pa - pe) / (1 - pe) with its standard error, from each pattern's count and influence on pe.

    If only one score was given, coefficients that are ``corrected`` for chance are undefined.
    """
    basics, (pe, chance_influence) = basics_of(data), chance
    sizes = counts.sum(axis=1)
    paired = sizes > 1
    n, n_paired = times.sum(), times[paired].sum()
    if not n_paired:
        return Estimate.undefined(NOT_PAIRED, **basics)
    constant = corrected and np.count_nonzero(counts.any(axis=0)) < 2
    if constant or not pe < SURE or matrix.shape[0] < 2:
        return Estimate.undefined(ONE_CATEGORY, **basics)
    pairs = np.where(paired, sizes * (sizes - 1), 1)
    agreeing = (counts * (counts @ matrix - 1)).sum(axis=1) / pairs * paired
    pa = float(agreeing @ times / n_paired)
    value = (pa - pe) / (1 - pe)
    influence = (n / n_paired) * (agreeing - pe * paired) / (1 - pe) - value
    influence -= (1 - value) * chance_influence / (1 - pe)
    return _with_error(value, influence, times, confidence, pa=pa, pe=pe, **basics)


def _with_error(
    value: float, influence: Numbers, times: Numbers, confidence: float, **details: Any
) -> Estimate:
    n = float(times.sum())
    se = float(np.sqrt(times @ influence**2 / (n * (n - 1)))) if n > 1 else np.nan
    return Estimate(value, **details, **t_interval(value, se, n - 1, confidence))


def t_interval(value: float, se: float, df: float, confidence: float) -> dict[str, Any]:
    """Return the interval and two-sided p-value of a coefficient that cannot exceed 1."""
    spread = t_limits(value, se, df, confidence)
    tail = float(scipy.special.stdtr(df, -value / se)) if se > 0 else (np.nan if np.isnan(se) else 0.0)
    return {
        **spread,
        "ci_high": float(np.minimum(1.0, spread["ci_high"])),
        "p_value": 2 * min(tail, 1 - tail),
        "p_one_sided": tail,
        "confidence": confidence,
        "interval_kind": "linearised over units, t",
    }


def basics_of(data: Ratings) -> dict[str, Any]:
    return {
        "n": int((data.per_unit > 0).sum()),
        "n_units": int((data.per_unit > 1).sum()),
        "n_ratings": len(data.code),
        "n_annotators": int(np.count_nonzero(np.bincount(data.annotator))),
        "n_categories": len(data.categories),
    }


# The chance-corrected coefficients (Gwet's AC1 and AC2, Fleiss, Conger, Brennan-Prediger), percent agreement.


def gwet_ac(
    ratings: RatingsLike,
    weights: Any = "identity",
    *,
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return Gwet's AC1 (identity weights) or AC2 (other weights).

    Parameters
    ----------
    ratings : annotators x units, nan if missing; numbers or words.
    weights : see ``agreement_weights``.
    value_domain : all admissible categories. By default only those that occur count, which changes pe.

    Returns
    -------
    Estimate
        With ``se``, ``ci_low``, ``ci_high`` (t with n - 1 degrees of freedom, cut at 1), ``p_value``, ``pa``,
        ``pe``, ``n_units``, ``n_annotators``; nan with a ``reason`` if undefined.

    Source: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement.

    >>> ac1 = gwet_ac([[1, 1, 2, 2], [1, 1, 2, 1]])
    >>> round(ac1, 4), round(ac1.pa, 2), round(ac1.pe, 4)
    (0.5294, 0.75, 0.4688)
    """
    return coefficient(parse_ratings(ratings, value_domain), weights, confidence, _gwet_chance)


def fleiss_kappa(
    ratings: RatingsLike = None,
    *,
    counts: Any = None,
    weights: Any = "identity",
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return Fleiss' kappa, generalised to weights and missing ratings.

    Parameters
    ----------
    ratings, counts : annotators x units, or instead the counts as units x categories.

    Returns
    -------
    Estimate
        As ``gwet_ac``. Without weights, and if every unit has the same number of ratings, also ``se_null`` and
        ``z`` of the test of no agreement (Fleiss, Nee and Landis 1979).

    Source: Fleiss 1971, Measuring nominal scale agreement among many raters.

    >>> round(fleiss_kappa(counts=[[3, 0], [0, 3], [2, 1], [3, 0]]), 4)
    0.625
    """
    data = _from_counts(counts) if ratings is None else parse_ratings(ratings, value_domain)
    kappa = coefficient(data, weights, confidence, _fleiss_chance)
    plain = np.array_equal(weights_of(weights, data), np.eye(len(data.categories)))
    return kappa.having(**_null_error(data, float(kappa))) if plain else kappa


def brennan_prediger(
    ratings: RatingsLike,
    weights: Any = "identity",
    *,
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return Brennan and Prediger's coefficient (Randolph's free-marginal kappa), with uniform chance.

    >>> round(brennan_prediger([[1, 1, 2, 2], [1, 1, 2, 1]]), 4)
    0.5
    """
    return coefficient(parse_ratings(ratings, value_domain), weights, confidence, _uniform_chance)


def percent_agreement(
    ratings: RatingsLike,
    weights: Any = "identity",
    *,
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return the share of agreeing pairs of ratings in a unit, averaged over units with two or more ratings.

    With weights other than identity, near agreement counts partly.

    >>> round(percent_agreement([[1, 2, 3], [1, 2, 1], [1, 1, None]]), 4)
    0.4444
    """
    data = parse_ratings(ratings, value_domain)
    estimate = coefficient(data, weights, confidence, _no_chance, corrected=False)
    return (
        estimate
        if len(data.categories) != 1 or not estimate.n_units
        else Estimate(1.0, **basics_of(data), se=0.0)
    )


def conger_kappa(
    ratings: RatingsLike,
    weights: Any = "identity",
    *,
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return Conger's kappa: Cohen's kappa for any number of annotators, each with separate margins.

    Source: Conger 1980, Integration and generalization of kappas for multiple raters.

    >>> round(conger_kappa([[1, 1, 2, 2], [1, 1, 2, 1]]), 4)
    0.5
    """
    data = parse_ratings(ratings, value_domain)
    people, q = data.n_annotators, len(data.categories)
    counts = np.bincount(data.annotator * q + data.code, minlength=people * q).reshape(people, q)
    rated = counts.sum(axis=1)
    r = int(np.count_nonzero(rated))
    if r < 2:
        return Estimate.undefined("fewer than two annotators", **basics_of(data))
    margins = counts / np.maximum(rated, 1)[:, None]
    matrix = weights_of(weights, data)
    others = (margins.sum(axis=0) - margins) @ (matrix + matrix.T) / (r * (r - 1))
    pe = float((others * margins).sum() / 2)
    n = int((data.per_unit > 0).sum())
    gains = others[data.annotator, data.code] - (others * margins).sum(axis=1)[data.annotator]
    influence = np.bincount(data.unit, gains * n / rated[data.annotator], data.n_units).astype(float)
    kept = data.per_unit > 0
    return assembled(
        data, data.counts[kept].astype(float), np.ones(n), matrix, (pe, influence[kept]), confidence
    )


def _no_chance(shares: Numbers, times: Numbers, weights: Numbers) -> tuple[float, Numbers]:
    return 0.0, np.zeros(len(shares))


def _gwet_chance(shares: Numbers, times: Numbers, weights: Numbers) -> tuple[float, Numbers]:
    q = len(weights)
    if q < 2:
        return 1.0, np.zeros(len(shares))
    prevalence = times @ shares / times.sum()
    spread = weights.sum() / (q * (q - 1))
    pe = float(spread * (prevalence * (1 - prevalence)).sum())
    return pe, 2 * (spread * shares @ (1 - prevalence) - pe)


def _fleiss_chance(shares: Numbers, times: Numbers, weights: Numbers) -> tuple[float, Numbers]:
    prevalence = times @ shares / times.sum()
    pe = float(prevalence @ weights @ prevalence)
    return pe, 2 * (shares @ (weights + weights.T) @ prevalence / 2 - pe)


def _uniform_chance(shares: Numbers, times: Numbers, weights: Numbers) -> tuple[float, Numbers]:
    return float(weights.sum() / len(weights) ** 2), np.zeros(len(shares))


def _from_counts(counts: Any) -> Ratings:
    """Return counts (units x categories) as ratings of anonymous annotators."""
    table = np.asarray(counts)
    if table.ndim != 2 or (table < 0).any() or not np.array_equal(table, np.round(table)):
        raise ValueError("counts must be a table of whole numbers, units x categories.")
    table = table.astype(np.int64)
    unit, code = (np.repeat(places.ravel(), table.ravel()) for places in np.indices(table.shape))
    place = np.arange(len(unit)) - np.searchsorted(unit, unit)
    annotators = tuple(range(int(table.sum(axis=1).max(initial=0))))
    return Ratings(annotators, range(len(table)), np.arange(float(table.shape[1])), place, unit, code)


def _null_error(data: Ratings, kappa: float) -> dict[str, Any]:
    """Return the error and z under no agreement if units are rated equally often (Fleiss, Nee and Landis 1979)."""
    sizes = data.per_unit
    if not len(sizes) or sizes.min() != sizes.max() or sizes.min() < 2 or np.isnan(kappa):
        return {}
    r, n = int(sizes[0]), len(sizes)
    p = data.counts.sum(axis=0) / (n * r)
    q = 1 - p
    spread = p @ q
    variance = 2 * (spread**2 - p @ (q * (q - p))) / (n * r * (r - 1) * spread**2)
    se_null = float(np.sqrt(variance))
    return {"se_null": se_null, "z": kappa / se_null}
