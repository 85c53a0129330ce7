"""Chance-corrected agreement with linearised errors: Gwet's AC1 and AC2, Fleiss, Conger, Brennan-Prediger, alpha.

Every coefficient here is (pa - pe) / (1 - pe). pa is the mean, over units with two ratings or more, of the
weighted share of agreeing pairs; pe is what chance gives. The error is Gwet's: each unit's influence on pa and
pe, over all units (Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., chapter 5; the irrCAC packages).
Units are taken to be drawn from an endless population.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coeval.stats.agreement.patterns import MANY
from coeval.stats.agreement.weights import weights_of
from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Codes, Kinds, Numbers, Ratings

ONE_CATEGORY = "only one category was ever used, so agreement by chance cannot be told from agreement"
NOT_PAIRED = "no unit has ratings by two annotators"

Chance = Callable[[Numbers, Numbers, Numbers], tuple[float, Numbers]]
"""From shares (patterns x categories), times and weights: pe, and each pattern's influence on it."""


def percent_of(data: Ratings) -> float:
    """Plain percent agreement of coded ratings; nan without a paired unit."""
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
    """Each (unit, category) that occurs: its unit, and the ordered pairs of ratings that agree on it."""
    keys, times = np.unique(data.unit * len(data.categories) + data.code, return_counts=True)
    return keys // len(data.categories), times * (times - 1.0)


def krippendorff_linear(data: Ratings, weights: Any, confidence: float = 0.95) -> Estimate:
    """Alpha with disagreement 1 - weight, and Gwet's linearised error (irrCAC ``krippen.alpha.raw``)."""
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
    if not pe < 1:
        return Estimate.undefined(ONE_CATEGORY, **basics)
    surplus = (sizes - mean_size) / mean_size
    plain = (agreement - pe) / (1 - pe)
    chance = shares @ (matrix + matrix.T) @ prevalence / 2 - pe * surplus
    pa = (1 - slack) * agreement + slack
    influence = (agreeing - pa * surplus - pe) / (1 - pe) - 2 * (1 - plain) * (chance - pe) / (1 - pe)
    return _with_error((pa - pe) / (1 - pe), influence - plain, times, confidence, pa=pa, pe=pe, **basics)


def as_numbers(kinds: Kinds) -> tuple[Numbers, Numbers]:
    return kinds.rows.astype(float), kinds.times.astype(float)


def coefficient(data: Ratings, weights: Any, confidence: float, chance: Chance) -> Estimate:
    counts, times = as_numbers(data.kinds.among(data.per_unit > 0))
    matrix = weights_of(weights, data)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    expected = chance(shares, times, matrix) if len(times) else (np.nan, np.zeros(0))
    return assembled(data, counts, times, matrix, expected, confidence)


def assembled(
    data: Ratings,
    counts: Numbers,
    times: Numbers,
    matrix: Numbers,
    chance: tuple[float, Numbers],
    confidence: float,
) -> Estimate:
    """(pa - pe) / (1 - pe) and its error, from each pattern's counts and its influence on pe."""
    basics, (pe, chance_influence) = basics_of(data), chance
    sizes = counts.sum(axis=1)
    paired = sizes > 1
    n, n_paired = times.sum(), times[paired].sum()
    if not n_paired:
        return Estimate.undefined(NOT_PAIRED, **basics)
    if not pe < 1 or matrix.shape[0] < 2:
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
    """The interval and two-sided p-value of a coefficient that cannot exceed 1."""
    half = float(special.stdtrit(df, (1 + confidence) / 2)) * se if df > 0 else np.nan
    tail = float(special.stdtr(df, -value / se)) if se > 0 else (np.nan if np.isnan(se) else 0.0)
    return {
        "se": se,
        "ci_low": float(value - half),
        "ci_high": float(np.minimum(1.0, value + half)),
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
