"""Every two raters at once: alpha, kappa and percent agreement from all their tables together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coeval.stats.agreement.cohen import kappas_of_tables
from coeval.stats.agreement.disagreement import Level, alphas_of_coincidences
from coeval.stats.agreement.weights import agreement_weights
from coeval.stats.estimates.later import sparse, special
from coeval.stats.rating_matrix import Codes, Numbers, Ratings


@dataclass(frozen=True, eq=False)
class PairTables:
    """The tables of one annotator ``a`` with every later one: pairs x categories of a x categories of b."""

    a: int
    tables: Numbers
    values: Numbers

    @property
    def sizes(self) -> Codes:
        """The units each pair shares."""
        sizes: Codes = self.tables.sum(axis=(1, 2)).astype(np.int64)
        return sizes

    def alphas(self, level: Level) -> Numbers:
        """Alpha of each pair; nan where undefined."""
        return alphas_of_coincidences(self.values, *self._coincidences(), level)

    def percents(self) -> Numbers:
        """Percent agreement of each pair; nan without a common unit."""
        agreeing = np.trace(self.tables, axis1=1, axis2=2)
        shares: Numbers = np.divide(
            agreeing, self.sizes, out=np.full(len(agreeing), np.nan), where=self.sizes > 0
        )
        return shares

    def kappas(self, weights: str) -> Numbers:
        """Cohen's kappa of each pair; nan where undefined."""
        return kappas_of_tables(self.tables, agreement_weights(weights, self.values))

    def alpha_limits(self, level: Level, confidence: float = 0.95) -> tuple[Numbers, Numbers]:
        """The jackknife interval of each pair's alpha: every cell of a table is a kind of unit."""
        ratings, mismatches = self._coincidences()
        q, (i, j) = len(self.values), np.triu_indices(len(self.values), 1)
        rows, columns = np.indices((q, q)).reshape(2, -1)
        lost = np.eye(q)[rows] + np.eye(q)[columns]
        broken = 2.0 * (
            ((rows[:, None] == i) & (columns[:, None] == j))
            | ((rows[:, None] == j) & (columns[:, None] == i))
        )
        without = alphas_of_coincidences(
            self.values,
            (ratings[:, None] - lost).reshape(-1, q),
            (mismatches[:, None] - broken).reshape(-1, len(i)),
            level,
        )
        times = self.tables.reshape(len(self.tables), -1)
        return _jackknifed(self.alphas(level), without.reshape(times.shape), times, confidence)

    def _coincidences(self) -> tuple[Numbers, Numbers]:
        both = self.tables + self.tables.transpose(0, 2, 1)
        i, j = np.triu_indices(len(self.values), 1)
        return both.sum(axis=2), 2 * both[:, i, j]


def _jackknifed(
    values: Numbers, without: Numbers, times: Numbers, confidence: float
) -> tuple[Numbers, Numbers]:
    """``intervals.jackknife`` of many values at once."""
    usable = (times > 0) & ~np.isnan(without)
    times, without = np.where(usable, times, 0), np.where(usable, without, 0)
    n = np.maximum(times.sum(axis=1), 1)
    means = (times * without).sum(axis=1) / n
    variance = (n - 1) / n * (times * (without - means[:, None]) ** 2).sum(axis=1)
    half = special.stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) * np.sqrt(variance)
    half = np.where(n > 1, half, np.nan)
    return values - half, np.minimum(1.0, values + half)


def pair_tables(data: Ratings) -> Iterator[PairTables]:
    """For each annotator but the last, the tables with every later annotator.

    One-hot X is (annotator, category) x units; the tables of a are the block X_a X'.
    """
    width = len(data.categories)
    rows = data.annotator * width + data.code
    shape = (data.n_annotators * width, data.n_units)
    hot = sparse.csr_matrix((np.ones(len(rows)), (rows, data.unit)), shape=shape)
    for a in range(data.n_annotators - 1):
        block = (hot[a * width : (a + 1) * width] @ hot[(a + 1) * width :].T).toarray()
        yield PairTables(a, block.reshape(width, -1, width).transpose(1, 0, 2), data.numbers)
