"""Every two raters at once: alpha, kappa and percent agreement from all their tables together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coeval.stats.agreement.cohen import kappas_of_tables
from coeval.stats.agreement.disagreement import Level, alphas_of_coincidences
from coeval.stats.agreement.weights import agreement_weights
from coeval.stats.estimates.clusters import OF_BIAS, Clusters
from coeval.stats.estimates.later import sparse, special
from coeval.stats.rating_matrix import Codes, Numbers, Ratings


@dataclass(frozen=True, eq=False)
class PairTables:
    """The tables of one annotator ``a`` with every later one: pairs x categories of a x categories of b."""

    a: int
    tables: Numbers
    values: Numbers
    by_group: Numbers
    """Groups of clusters x pairs x categories of a x categories of b."""

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
        """The interval of each pair's alpha, from leaving out each group of clusters (``jackknife_interval``)."""
        groups, q = len(self.by_group), len(self.values)
        without = _coincidences((self.tables - self.by_group).reshape(-1, q, q))
        alphas = alphas_of_coincidences(self.values, *without, level).reshape(groups, -1)
        shared = self.by_group.sum(axis=(2, 3)) > 0
        return _limits(self.alphas(level), np.where(shared, alphas, np.nan), confidence)

    def _coincidences(self) -> tuple[Numbers, Numbers]:
        return _coincidences(self.tables)


def _coincidences(tables: Numbers) -> tuple[Numbers, Numbers]:
    """Each table's pairable ratings by category, and the coincidences of each two categories."""
    both = tables + tables.transpose(0, 2, 1)
    i, j = np.triu_indices(tables.shape[1], 1)
    return both.sum(axis=2), 2 * both[:, i, j]


def _limits(values: Numbers, without: Numbers, confidence: float) -> tuple[Numbers, Numbers]:
    """``clusters.jackknife_interval`` of many values at once; ``without`` is groups x values."""
    usable = ~np.isnan(without)
    n = np.maximum(usable.sum(axis=0), 1)
    means = np.where(usable, without, 0).sum(axis=0) / n
    variance = (n - 1) / n * np.where(usable, (without - means) ** 2, 0).sum(axis=0)
    half = special.stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) * np.sqrt(variance)
    half = np.where((n > 1) & (variance > 1e-24), half, np.nan)
    mended = values - OF_BIAS * (n - 1) * (means - values)
    return np.minimum(values, mended) - half, np.minimum(1.0, np.maximum(values, mended) + half)


def pair_tables(data: Ratings, clusters: Clusters | None = None) -> Iterator[PairTables]:
    """For each annotator but the last, the tables with every later annotator, also for each group of clusters.

    One-hot X is (annotator, category) x units; the tables of a are the block X_a X', and those of the groups the same
    with the units of each group in rows of their own.
    """
    width = len(data.categories)
    group = clusters.groups() if clusters else np.zeros(data.n_units, dtype=np.int64)
    groups = int(group.max()) + 1 if len(group) else 0
    rows, high = data.annotator * width + data.code, data.n_annotators * width
    hot = sparse.csr_matrix((np.ones(len(rows)), (rows, data.unit)), shape=(high, data.n_units))
    apart = group[data.unit] * high + rows
    split = sparse.csr_matrix((np.ones(len(rows)), (apart, data.unit)), shape=(groups * high, data.n_units))
    for a in range(data.n_annotators - 1):
        block = (hot[a * width : (a + 1) * width] @ split.T).toarray().reshape(width, groups, -1, width)
        by_group = block.transpose(1, 2, 0, 3)[:, a + 1 :]
        yield PairTables(a, by_group.sum(axis=0), data.numbers, by_group)
