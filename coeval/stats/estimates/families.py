"""Families of tests: p-values adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coeval.stats.rating_matrix import Numbers


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (1979), in the order given: below .05 with a chance of 5% that any is wrong.

    Undefined ones (nan) stay so and do not count.

    >>> adjust_holm([0.01, 0.04, float("nan"), 0.03])
    [0.03, 0.06, nan, 0.06]
    """
    return _adjusted(p_values, lambda m: m - np.arange(float(m)), upwards=True)


def adjust_bh(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p-values (1995): of those below .05, 5% are expected to be wrong.

    >>> [round(p, 3) for p in adjust_bh([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    return _adjusted(p_values, lambda m: m / np.arange(1, m + 1), upwards=False)


def _adjusted(p_values: Sequence[float], factors: Callable[[int], Numbers], *, upwards: bool) -> list[float]:
    """Each ordered p-value times its factor, made monotone from the smallest up or from the largest down."""
    p = np.asarray(p_values, dtype=float)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    raised = p[order] * factors(len(order))
    raised = np.maximum.accumulate(raised) if upwards else np.minimum.accumulate(raised[::-1])[::-1]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(raised, 1)
    return [float(value) for value in adjusted]
