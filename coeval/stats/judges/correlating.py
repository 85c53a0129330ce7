"""One correlation of two complete vectors, and its p-value: from how often each two values met, where they are few.

Scores lie on few points and so do means of a few of them: Kendall's tau-b of 200,000 of them is that of a table of some
hundred cells. Statistics and p-values are those of scipy, which only vectors of many different values wait for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.stats.estimates.later import special, stats
from coeval.stats.rating_matrix import Codes, Numbers

METHODS = ("pearson", "spearman", "kendall")
CELLS = 1_000_000
"""Tables of more cells take longer than scipy."""


def correlate(x: Numbers, y: Numbers, method: str) -> float:
    """One correlation of two complete vectors; nan where either never varies."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    if method == "kendall":
        met = Met.of(x, y)
        return met.tau if met else float(stats.kendalltau(x, y).statistic)
    if method == "spearman":
        return correlate(rank(x), rank(y), "pearson")
    if method != "pearson":
        raise ValueError(f"There is no correlation {method!r}; choose one of: {', '.join(METHODS)}.")
    x, y = x - x.mean(), y - y.mean()
    # plain sums: a product of vectors wakes the threads of BLAS, which costs more than it saves
    return float(np.clip((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()), -1, 1))


def check_none(x: Numbers, y: Numbers, method: str) -> tuple[float, float]:
    """A correlation of three items or more, both sides varying, and its two-sided p-value against none.

    >>> x, y = np.array([1.0, 2, 2, 4, 5, 3]), np.array([2.0, 1, 3, 4, 4, 3])
    >>> [tuple(round(value, 6) for value in check_none(x, y, method)) for method in METHODS]
    [(0.79421, 0.059167), (0.850841, 0.031713), (0.741249, 0.047525)]
    """
    n = len(x)
    if method == "kendall":
        met = Met.of(x, y)
        if met is None or not met.has_ties:
            # without ties the p-value of few items is exact
            tested = stats.kendalltau(x, y)
            return float(tested.statistic), float(tested.pvalue)
        return met.tau, 2 * float(special.ndtr(-abs(met.z)))
    r = correlate(x, y, method)
    if method == "pearson":
        half = n / 2 - 1
        return r, 2 * float(special.betaincc(half, half, (1 + abs(r)) / 2))
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(np.float64(n - 2) / ((1 + r) * (1 - r)))
    return r, 2 * float(special.stdtr(n - 2, -abs(t)))


def rank(values: Numbers) -> Numbers:
    """Ranks from 1, those of equal values their mean.

    >>> rank(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    codes, distinct = pd.factorize(values, sort=True)
    sizes = np.bincount(codes, minlength=len(distinct))
    return np.asarray((np.cumsum(sizes) - (sizes - 1) / 2)[codes], dtype=float)


@dataclass(frozen=True, eq=False)
class Met:
    """How often each two values met: values of one side x values of the other."""

    table: Codes

    @classmethod
    def of(cls, x: Numbers, y: Numbers) -> Met | None:
        """The table of two vectors; None where it would be large."""
        (a, one), (b, other) = pd.factorize(x, sort=True), pd.factorize(y, sort=True)
        width = len(other)
        if len(one) * width > CELLS:
            return None
        return cls(np.bincount(a * width + b, minlength=len(one) * width).reshape(len(one), width))

    @property
    def _sides(self) -> tuple[Codes, Codes]:
        return self.table.sum(axis=1), self.table.sum(axis=0)

    @property
    def has_ties(self) -> bool:
        """Whether any value of either side is there twice."""
        return any(int(side.max()) > 1 for side in self._sides)

    @property
    def balance(self) -> int:
        """Pairs of items in the same order on both sides, less those in opposite orders."""
        # of each cell: how many items are higher on both sides, and how many higher on the first and lower on the other
        above = np.cumsum(self.table[::-1], axis=0)[::-1][1:]
        left = np.cumsum(above, axis=1)
        right = left[:, -1:] - left
        lower = np.hstack([np.zeros((len(left), 1), dtype=np.int64), left[:, :-1]])
        return int((self.table[:-1] * (right - lower)).sum())

    @property
    def tau(self) -> float:
        """Kendall's tau-b."""
        n = int(self.table.sum())
        untied = [n * (n - 1) // 2 - int((side * (side - 1) // 2).sum()) for side in self._sides]
        return float(np.clip(self.balance / np.sqrt(untied[0]) / np.sqrt(untied[1]), -1, 1))

    @property
    def z(self) -> float:
        """``balance`` over its standard deviation without a correlation (Kendall 1970, Rank Correlation Methods)."""
        n = int(self.table.sum())
        m = n * (n - 1.0)
        pairs, threes, fives = np.array([_count_ties(side) for side in self._sides]).T
        variance = (m * (2 * n + 5) - fives.sum()) / 18 + 2 * pairs.prod() / m
        return self.balance / float(np.sqrt(variance + threes.prod() / (9 * m * (n - 2))))


def _count_ties(sizes: Codes) -> tuple[float, float, float]:
    """What a side's groups of equal values take from the variance."""
    ties = sizes[sizes > 1].astype(float)
    pairs = ties * (ties - 1)
    return float(pairs.sum() / 2), float((pairs * (ties - 2)).sum()), float((pairs * (2 * ties + 5)).sum())
