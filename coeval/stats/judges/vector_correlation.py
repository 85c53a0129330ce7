"""The correlation of two complete vectors, and the difference of two correlations that share one.

Scores, and means of few scores, have few different values: Kendall's tau-b of 200,000 scores needs a table of some
hundred cells. The results equal those of scipy, which is only used for vectors of many different values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from coeval.stats.clusters import Clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Codes, Numbers

# The correlation of two complete vectors, from a table if they have few different values.

METHODS = ("pearson", "spearman", "kendall")
CELLS = 1_000_000
"""The largest table, in cells, that is faster than scipy."""


def correlate(x: Numbers, y: Numbers, method: str) -> float:
    """Return the correlation of two complete vectors; nan if either never varies."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    if method == "kendall":
        met = Met.of(x, y)
        return met.tau if met else float(scipy.stats.kendalltau(x, y).statistic)
    if method == "spearman":
        return correlate(rank(x), rank(y), "pearson")
    if method != "pearson":
        raise ValueError(f"There is no correlation {method!r}; choose one of: {', '.join(METHODS)}.")
    x, y = x - x.mean(), y - y.mean()
    # plain sums: a dot product would start BLAS threads, which takes longer
    return float(np.clip((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()), -1, 1))


def rank(values: Numbers) -> Numbers:
    """Return ranks from 1; equal values get the mean of their ranks.

    >>> rank(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    codes, distinct = pd.factorize(values, sort=True)
    sizes = np.bincount(codes, minlength=len(distinct))
    return np.asarray((np.cumsum(sizes) - (sizes - 1) / 2)[codes], dtype=float)


@dataclass(frozen=True, eq=False)
class Met:
    """The table of two vectors: how often each pair of their values occurs."""

    table: Codes

    @classmethod
    def of(cls, x: Numbers, y: Numbers) -> Met | None:
        """Return the table of two vectors; None if it would be large."""
        (a, first), (b, other) = pd.factorize(x, sort=True), pd.factorize(y, sort=True)
        width = len(other)
        if len(first) * width > CELLS:
            return None
        return cls(np.bincount(a * width + b, minlength=len(first) * width).reshape(len(first), width))

    @property
    def _sides(self) -> tuple[Codes, Codes]:
        return self.table.sum(axis=1), self.table.sum(axis=0)

    @property
    def balance(self) -> int:
        """Return the number of concordant pairs of items minus that of discordant pairs."""
        # for each cell: items that are higher in both vectors, and items higher in the first and lower in the second
        above = np.cumsum(self.table[::-1], axis=0)[::-1][1:]
        left = np.cumsum(above, axis=1)
        right = left[:, -1:] - left
        lower = np.hstack([np.zeros((len(left), 1), dtype=np.int64), left[:, :-1]])
        return int((self.table[:-1] * (right - lower)).sum())

    @property
    def tau(self) -> float:
        """Return Kendall's tau-b."""
        n = int(self.table.sum())
        untied = [n * (n - 1) // 2 - int((side * (side - 1) // 2).sum()) for side in self._sides]
        return float(np.clip(self.balance / np.sqrt(untied[0]) / np.sqrt(untied[1]), -1, 1))


# Two correlations that share a variable: Williams' test, and the difference with its interval.


@dataclass(frozen=True)
class WilliamsTest:
    """``t`` with ``df`` degrees of freedom, and its p-value.

    ``n_effective`` is the equivalent number of independent items.
    """

    t: Estimate
    df: float
    p_two_sided: float
    n: int
    n_effective: float
    reason: str | None


def williams_test(
    r12: float, r13: float, r23: float, n: int, *, n_effective: float | None = None
) -> WilliamsTest:
    """Test whether r12 differs from r13, two correlations that share a variable (Williams' test).

    Parameters
    ----------
    r12, r13 : the correlations of the shared variable (people) with each of two judges.
    r23 : the correlation of the two judges.
    n : the number of items with all three scores.
    n_effective : for clustered items, the equivalent number of independent items (``n`` divided by the design
        effect). The test uses it if it is below ``n``.

    Returns
    -------
    WilliamsTest
        ``df`` is ``n_effective`` - 3. If the test is undefined (too few items, equal or opposite judges, or
        an undefined correlation), ``reason`` says why.

    Raises
    ------
    ValueError
        If a correlation is not between -1 and 1.

    Source: Williams 1959; Steiger 1980, Tests for comparing elements of a correlation matrix, equation 7:

    >>> found = williams_test(0.4, 0.5, 0.1, 103)
    >>> round(found.t, 2), round(found.p_two_sided, 2)
    (-0.89, 0.37)
    """
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if abs(r) > 1 + 1e-12:
            raise ValueError(f"{name} is {r}, but a correlation lies between -1 and 1.")
    size = float(n) if n_effective is None else min(n_effective, float(n))
    reason = _williams_reason(r12, r13, r23, size)
    if reason:
        nothing = Estimate.undefined(reason)
        return WilliamsTest(nothing, size - 3, np.nan, n, size, reason)
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * max(k, 0.0) * (size - 1) / (size - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    t = float((r12 - r13) * np.sqrt((size - 1) * (1 + r23) / spread))
    return WilliamsTest(
        t=Estimate(t, n=n),
        df=size - 3,
        p_two_sided=2 * float(scipy.special.stdtr(size - 3, -abs(t))),
        n=n,
        n_effective=size,
        reason=None,
    )


def _williams_reason(r12: float, r13: float, r23: float, n: float) -> str | None:
    if np.isnan([r12, r13, r23]).any():
        return "one of the correlations is undefined"
    if n < 4:
        return f"{n:.4g} items are too few; the test needs at least 4"
    if abs(r23) >= 1 - 1e-12:
        return "the two judges agree perfectly, or are exact opposites, so there is no difference to test"
    return None


CONSTANT = "a judge or the people gave one score only, or fewer than two items have scores"


def correlation_difference(human: Numbers, a: Numbers, b: Numbers, clusters: Clusters) -> Estimate:
    """Return the difference of two judges' correlations with people, with an interval that leaves out clusters.

    Parameters
    ----------
    human, a, b : one score per item, none missing.
    clusters : the cluster of each item.

    Returns
    -------
    Estimate
        r_a - r_b with ``ci_low``, ``ci_high``, ``se``, ``p_value``, ``n`` and ``design_effect``, the ratio of the
        variance to that of independent items.

    >>> sides = ([1, 2, 5, 5, 3, 1, 4, 4], [1, 2, 4, 5, 3, 2, 4, 5], [2, 1, 4, 3, 3, 1, 5, 3])
    >>> d = correlation_difference(*(np.array(side, float) for side in sides), Clusters(np.arange(8)))
    >>> round(d, 3), d.ci_low < d < d.ci_high
    (0.153, True)
    """
    gap = correlate(human, a, "pearson") - correlate(human, b, "pearson")
    if np.isnan(gap):
        return Estimate.undefined(CONSTANT, n=len(human))
    parts = _products(human, a, b)
    spread = sums_interval(clusters.sums(parts), _gaps, clusters.kind, value=gap)
    alone = sums_interval(parts, _gaps, "items", value=gap)
    effect = max(1.0, (spread["se"] / alone["se"]) ** 2) if alone["se"] > 0 else np.nan
    return Estimate(gap, n=len(human), **spread, design_effect=effect)


def _products(h: Numbers, x: Numbers, y: Numbers) -> Numbers:
    """Return items x products; their sums give both correlations."""
    h, x, y = ((side - side.mean()) / side.std() for side in (h, x, y))
    return np.column_stack([np.ones_like(h), h, x, y, h * h, x * x, y * y, h * x, h * y])


def _gaps(sums: Numbers) -> Numbers:
    """Return r_a - r_b for each row of sums; nan if either is undefined."""
    n, sh, sx, sy, hh, xx, yy, hx, hy = sums.T
    spread = [square - side**2 / n for square, side in ((hh, sh), (xx, sx), (yy, sy))]
    r_a, r_b = (
        (product - sh * side / n)
        / np.sqrt(np.where(spread[0] * variance > 1e-9, spread[0] * variance, np.nan))
        for product, side, variance in ((hx, sx, spread[1]), (hy, sy, spread[2]))
    )
    return np.asarray(r_a - r_b)
