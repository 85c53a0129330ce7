"""Intervals from resampled values: bias-corrected and accelerated bootstrap, percentiles, the jackknife."""

from __future__ import annotations

from typing import Any

import numpy as np

from coeval.stats.estimates.later import special
from coeval.stats.rating_matrix import Codes, Numbers

BCA = "bootstrap over units, bias-corrected and accelerated"
PERCENTILE = "bootstrap over units, percentile"
JACKKNIFE = "jackknife over units, t"


def summarise(
    drawn: Numbers, value: float, n: float, confidence: float, acceleration: float = 0.0, method: str = "bca"
) -> dict[str, Any]:
    """The interval of ``value`` from its replicates, leaving out and counting the undefined ones.

    Parameters
    ----------
    drawn : the replicates, nan where undefined.
    n : how many units were drawn.
    method : "bca" (Efron 1987), its normal quantiles widened by sqrt(n / (n - 1)) and Student's t so that
        20 units suffice (Hesterberg 2015, What teachers should know about the bootstrap, section 5.3);
        or "percentile".
    """
    kept = drawn[~np.isnan(drawn)]
    interval = {"bca": BCA, "percentile": PERCENTILE}.get(method)
    if interval is None:
        raise ValueError(f"There is no interval method {method!r}; choose bca or percentile.")
    details = {
        "interval_kind": interval,
        "confidence": confidence,
        "replicates": len(drawn),
        "replicates_left_out": len(drawn) - len(kept),
        "distribution": kept,
    }
    if len(kept) < 2 or n < 2:
        return details | dict.fromkeys(("ci_low", "ci_high", "se"), np.nan)
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        levels = _corrected(levels, kept, value, n, acceleration)
    low, high = np.quantile(kept, levels)
    return details | {"ci_low": float(low), "ci_high": float(high), "se": float(kept.std(ddof=1))}


def _corrected(levels: Numbers, kept: Numbers, value: float, n: float, acceleration: float) -> Numbers:
    """The levels at which to read the replicates, after bias, skewness and small samples."""
    below = (kept < value).mean() + (kept == value).mean() / 2
    bias = special.ndtri(np.clip(below, 1 / (len(kept) + 1), len(kept) / (len(kept) + 1)))
    wide = bias + np.sqrt(n / (n - 1)) * special.stdtrit(n - 1, levels)
    corrected: Numbers = special.ndtr(bias + wide / np.maximum(1 - acceleration * wide, 0.1))
    return corrected


def inverted(kept: Numbers, value: float, n: float, acceleration: float = 0.0) -> float:
    """The two-sided p-value against 0 that agrees with ``summarise``'s interval: where 0 lies on the edge of it.

    The levels that ``_corrected`` reads are solved for the one at which the replicates stand at 0.
    """
    if not len(kept):
        return np.nan
    edge = 1 / (len(kept) + 1)
    below = (kept < value).mean() + (kept == value).mean() / 2
    bias = special.ndtri(np.clip(below, edge, 1 - edge))
    at_zero = (kept < 0).mean() + (kept == 0).mean() / 2
    reach = special.ndtri(np.clip(at_zero, edge, 1 - edge)) - bias
    wide = reach / (1 + acceleration * reach)
    level = special.stdtr(n - 1, (wide - bias) / np.sqrt(n / (n - 1)))
    return float(2 * min(level, 1 - level))


def acceleration_of(without: Numbers, times: Codes) -> float:
    """How fast the error changes with the value, from the values without one unit of each kind."""
    usable = ~np.isnan(without)
    n = times[usable].sum()
    if n < 2:
        return 0.0
    gap = times[usable] @ without[usable] / n - without[usable]
    spread = float(times[usable] @ gap**2)
    return float(times[usable] @ gap**3) / (6 * spread**1.5) if spread > 0 else 0.0


def jackknife(
    value: float, without: Numbers, times: Codes, confidence: float, ceiling: float = np.inf
) -> dict[str, Any]:
    """Tukey's interval from the values without one unit of each kind, t with n - 1 degrees of freedom."""
    usable = ~np.isnan(without)
    n = int(times[usable].sum())
    details = {
        "interval_kind": JACKKNIFE,
        "confidence": confidence,
        "replicates": n,
        "replicates_left_out": int(times.sum()) - n,
    }
    if n < 2:
        return details | dict.fromkeys(("ci_low", "ci_high", "se", "bias"), np.nan)
    mean = times[usable] @ without[usable] / n
    se = float(np.sqrt((n - 1) / n * (times[usable] @ (without[usable] - mean) ** 2)))
    half = float(special.stdtrit(n - 1, (1 + confidence) / 2)) * se
    return details | {
        "se": se,
        "ci_low": value - half,
        "ci_high": min(ceiling, value + half),
        "bias": float((n - 1) * (mean - value)),
    }
