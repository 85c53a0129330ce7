"""The chance-corrected coefficients: Gwet's AC1 and AC2, Fleiss, Conger, Brennan-Prediger; percent agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coeval.stats.agreement.chance import assembled, basics_of, coefficient
from coeval.stats.agreement.weights import weights_of
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings


def gwet_ac(
    ratings: RatingsLike,
    weights: Any = "identity",
    *,
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Gwet's AC1 (identity weights) or AC2 (any others).

    Parameters
    ----------
    ratings : annotators x units, nan where missing; numbers or words.
    weights : see ``agreement_weights``.
    value_domain : all admissible categories; without it only those that occur count, which changes pe.

    Returns
    -------
    Estimate
        With ``se``, ``ci_low``, ``ci_high`` (t with n - 1 degrees of freedom, cut at 1), ``p_value``, ``pa``,
        ``pe``, ``n_units``, ``n_annotators``; nan with a ``reason`` where undefined.

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
    """Fleiss' kappa, generalised to weights and missing ratings.

    Parameters
    ----------
    ratings : annotators x units; or give ``counts``, units x categories, instead.

    Returns
    -------
    Estimate
        As ``gwet_ac``; and, without weights, where every unit has equally many ratings, ``se_null`` and ``z``
        of the test of no agreement (Fleiss, Nee and Landis 1979).

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
    """Brennan and Prediger's coefficient (Randolph's free-marginal kappa): chance is uniform over categories.

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
    """The share of agreeing pairs of ratings in a unit, averaged over units with two ratings or more.

    With weights other than identity, near agreement counts in part.

    >>> round(percent_agreement([[1, 2, 3], [1, 2, 1], [1, 1, None]]), 4)
    0.4444
    """
    data = parse_ratings(ratings, value_domain)
    estimate = coefficient(data, weights, confidence, lambda shares, times, w: (0.0, np.zeros(len(shares))))
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
    """Conger's kappa: Cohen's kappa for any number of annotators, each with margins of their own.

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
    """Units x categories as ratings, one anonymous annotator for each place in a unit."""
    table = np.asarray(counts)
    if table.ndim != 2 or (table < 0).any() or not np.array_equal(table, np.round(table)):
        raise ValueError("counts must be a table of whole numbers, units x categories.")
    table = table.astype(np.int64)
    unit, code = (np.repeat(places.ravel(), table.ravel()) for places in np.indices(table.shape))
    place = np.arange(len(unit)) - np.searchsorted(unit, unit)
    annotators = tuple(range(int(table.sum(axis=1).max(initial=0))))
    return Ratings(annotators, range(len(table)), np.arange(float(table.shape[1])), place, unit, code)


def _null_error(data: Ratings, kappa: float) -> dict[str, Any]:
    """Error and z under no agreement, for units rated equally often (Fleiss, Nee and Landis 1979)."""
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
