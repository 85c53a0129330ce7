"""Agreement of two raters: kappas, percent agreement, and every pair of raters of a study."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from coeval.stats.agreement.alpha import alpha_levels
from coeval.stats.agreement.coefficients import agreement_weights
from coeval.stats.agreement.unit_kinds import MANY, Level, UnitKinds
from coeval.stats.clusters import OF_BIAS, Clusters
from coeval.stats.estimates import Estimate, t_quantile
from coeval.stats.rating_matrix import Codes, Numbers, Ratings


def kappas_of_tables(tables: Numbers, matrix: Numbers) -> Numbers:
    """Return kappa of many tables (pairs x categories x categories); nan if undefined."""
    shares = tables / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
    pa = (shares * matrix).sum(axis=(1, 2))
    pe = np.einsum("pi,ij,pj->p", shares.sum(axis=2), matrix, shares.sum(axis=1))
    met = (tables.sum(axis=(1, 2)) > 0) & (1 - pe > 1e-12)
    kappas: Numbers = np.divide(pa - pe, 1 - pe, out=np.full(len(tables), np.nan), where=met)
    return kappas


# All pairs of raters at once: alpha, kappa and percent agreement from all their tables.


@dataclass(frozen=True, eq=False)
class PairTables:
    """The tables of annotator ``a`` with each later annotator: pairs x categories of a x categories of b."""

    a: int
    tables: Numbers
    values: Numbers
    by_group: Numbers
    """Groups of clusters x pairs x categories of a x categories of b."""

    @property
    def sizes(self) -> Codes:
        """Return the number of units that each pair shares."""
        sizes: Codes = self.tables.sum(axis=(1, 2)).astype(np.int64)
        return sizes

    def alphas(self, level: Level) -> Numbers:
        """Return alpha of each pair; nan if undefined."""
        return self._alphas(self.tables, level)

    def _alphas(self, tables: Numbers, level: Level) -> Numbers:
        kinds = UnitKinds.of_pairs(self.values)
        return kinds.alphas(tables.reshape(-1, len(self.values) ** 2), level)

    def percents(self) -> Numbers:
        """Return percent agreement of each pair; nan without a common unit."""
        agreeing = np.trace(self.tables, axis1=1, axis2=2)
        shares: Numbers = np.divide(
            agreeing, self.sizes, out=np.full(len(agreeing), np.nan), where=self.sizes > 0
        )
        return shares

    def kappas(self, weights: str) -> Numbers:
        """Return Cohen's kappa of each pair; nan if undefined."""
        return kappas_of_tables(self.tables, agreement_weights(weights, self.values))

    def alpha_limits(self, level: Level) -> tuple[Numbers, Numbers]:
        """Return the interval of each pair's alpha from leaving out groups of clusters (``jackknife_interval``)."""
        alphas = self._alphas(self.tables - self.by_group, level).reshape(len(self.by_group), -1)
        shared = self.by_group.sum(axis=(2, 3)) > 0
        return _limits(self.alphas(level), np.where(shared, alphas, np.nan))


def _limits(values: Numbers, without: Numbers) -> tuple[Numbers, Numbers]:
    """Return ``clusters.jackknife_interval`` for many values at once; ``without`` is groups x values."""
    usable = ~np.isnan(without)
    n = np.maximum(usable.sum(axis=0), 1)
    means = np.where(usable, without, 0).sum(axis=0) / n
    variance = (n - 1) / n * np.where(usable, (without - means) ** 2, 0).sum(axis=0)
    half = t_quantile(np.maximum(n - 1, 1)) * np.sqrt(variance)
    half = np.where((n > 1) & (variance > 1e-24), half, np.nan)
    mended = values - OF_BIAS * (n - 1) * (means - values)
    return np.minimum(values, mended) - half, np.minimum(1.0, np.maximum(values, mended) + half)


def pair_tables(data: Ratings, clusters: Clusters | None = None) -> Iterator[PairTables]:
    """Yield each annotator's tables with all later annotators, in total and for each group of clusters.

    X is the one-hot matrix (annotator, category) x units. The tables of a are the block X_a X'; for the groups, each
    group's units have separate rows.
    """
    width = len(data.categories)
    group = clusters.groups() if clusters else np.zeros(data.n_units, dtype=np.int64)
    groups = int(group.max()) + 1 if len(group) else 0
    rows, high = data.annotator * width + data.code, data.n_annotators * width
    hot = scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, data.unit)), shape=(high, data.n_units))
    apart = group[data.unit] * high + rows
    split = scipy.sparse.csr_matrix(
        (np.ones(len(rows)), (apart, data.unit)), shape=(groups * high, data.n_units)
    )
    for a in range(data.n_annotators - 1):
        block = (hot[a * width : (a + 1) * width] @ split.T).toarray().reshape(width, groups, -1, width)
        by_group = block.transpose(1, 2, 0, 3)[:, a + 1 :]
        yield PairTables(a, by_group.sum(axis=0), data.numbers, by_group)


# All pairs of raters in the agreement section, with the model last.

SHOWN: tuple[Level, ...] = ("nominal", "ordinal", "interval")
MANY_PAIRS = 2000
"""The largest number of pairs for which pairs without common units are also listed."""


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the ``n`` units that both scored. The interval belongs to ordinal alpha.

    Near-continuous scores have no kappa.
    """

    a: Hashable
    b: Hashable
    n: int
    nominal: Estimate
    ordinal: Estimate
    interval: Estimate
    percent: float
    cohen: float | None
    ci_low: float | None
    ci_high: float | None
    interval_kind: str | None


def list_pairs(people: Ratings, everyone: Ratings, clusters: Clusters) -> Iterator[RaterPair]:
    """Yield each pair of raters, with the model last: three alphas, an interval of ordinal alpha, and Cohen's kappa.

    ``clusters`` are the clusters of the units of ``everyone``.
    """
    if len(everyone.categories) <= MANY:
        pairs = _from_tables(everyone, clusters)
    else:
        pairs = _with_many_values(people, everyone, clusters)
    everybody = people.n_annotators * (people.n_annotators - 1) / 2 <= MANY_PAIRS
    return (pair for pair in pairs if pair.n or everybody)


def _with_many_values(people: Ratings, everyone: Ratings, clusters: Clusters) -> Iterator[RaterPair]:
    """Yield the pairs if some scores are near-continuous; people with few different values still have tables."""
    model = everyone.n_annotators - 1 if everyone.n_annotators > people.n_annotators else None
    if len(people.categories) <= MANY:
        places = np.searchsorted(np.asarray(everyone.units), np.asarray(people.units))
        yield from _from_tables(people, Clusters(clusters.code[places], clusters.kind))
    for a, b in combinations(range(everyone.n_annotators), 2):
        if len(people.categories) > MANY or b == model:
            yield _without_table(everyone, a, b, clusters)


def _from_tables(data: Ratings, clusters: Clusters) -> Iterator[RaterPair]:
    names, kind = data.annotators, f"jackknife over {clusters.kind}, t"
    for block in pair_tables(data, clusters):
        alphas = [block.alphas(level) for level in SHOWN]
        numbers = np.column_stack(
            [block.percents(), block.kappas("identity"), *block.alpha_limits("ordinal")]
        )
        for k, n in enumerate(block.sizes):
            nominal, ordinal, interval = (_alpha(values[k], n) for values in alphas)
            percent, cohen, low, high = numbers[k].tolist()
            a, b = names[block.a], names[block.a + 1 + k]
            yield RaterPair(a, b, int(n), nominal, ordinal, interval, percent, cohen, low, high, kind)


def _alpha(value: float, n: int) -> Estimate:
    if np.isnan(value):
        return Estimate.undefined("every score of both is the same" if n else "they share no unit")
    return Estimate(value)


def _without_table(data: Ratings, a: int, b: int, clusters: Clusters) -> RaterPair:
    """Return a pair of raters with near-continuous scores, which have no table and no kappa."""
    pair = data.where(np.isin(data.annotator, (a, b)))
    alphas = alpha_levels(pair, clusters, SHOWN)
    details = alphas["ordinal"].details
    n, percent = details["n_units"], details["percent_agreement"]
    low, high, kind = (details.get(name) for name in ("ci_low", "ci_high", "interval_kind"))
    nominal, ordinal, interval = (_alpha(float(alphas[level]), n) for level in SHOWN)
    one, other = data.annotators[a], data.annotators[b]
    return RaterPair(one, other, n, nominal, ordinal, interval, percent, None, low, high, kind)
