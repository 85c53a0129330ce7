"""Agreement of two raters: Cohen's kappa, plain and weighted, and all pairs of raters of a study at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from coeval.stats.agreement.coefficients import ONE_CATEGORY, SURE, t_interval
from coeval.stats.agreement.patterns import Level, alphas_of_coincidences
from coeval.stats.agreement.weights import agreement_weights
from coeval.stats.clusters import OF_BIAS, Clusters
from coeval.stats.estimates import Estimate, Result
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, parse_pair, parse_ratings

# Cohen's kappa, plain and weighted, and the other coefficients of a table of two raters.


def cohen_kappa(
    a: Any = None,
    b: Any = None,
    weights: Any = None,
    *,
    table: Any = None,
    proportions: Any = None,
    n: float | None = None,
    value_domain: Sequence[Any] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return Cohen's kappa of two raters, plain or weighted.

    Parameters
    ----------
    a, b : the two raters' labels of the same units; or only ``a``, a table of two annotators x units. Units
        without both ratings are left out and counted.
    weights : None for plain kappa, a name (linear, quadratic ...: see ``agreement_weights``), or a matrix of
        agreement (1 on the diagonal) or of disagreement (0 on the diagonal, as in Cohen 1968).
    table : instead of labels, the counts of each category of the first rater (row) and the second (column).
    proportions, n : instead of counts, shares of ``n`` units.

    Returns
    -------
    Estimate
        With ``se`` (Fleiss, Cohen and Everitt 1969), ``ci_low``, ``ci_high`` (t, n - 1 degrees of freedom),
        ``p_value``, ``se_null`` and ``z`` (against no agreement), ``pa``, ``pe``, ``n``, ``n_left_out``.

    Source: Cohen 1960, A coefficient of agreement for nominal scales; Cohen 1968, Weighted kappa, table 1:

    >>> shares = [[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]
    >>> round(cohen_kappa(proportions=shares, n=200), 3)
    0.492
    >>> round(cohen_kappa(proportions=shares, n=200, weights=[[0, 1, 3], [1, 0, 6], [3, 6, 0]]), 3)
    0.348
    >>> round(cohen_kappa(["y", "y", "n", "n"], ["y", "n", "n", "n"]), 2)
    0.5
    """
    if table is None and proportions is None:
        data = parse_ratings(a, value_domain) if b is None else parse_pair(a, b, value_domain)
        shares, size, left_out = _crossed(data)
        matrix = _matrix(weights, data.numbers)
    else:
        shares, size = _given_table(table, proportions, n)
        left_out, matrix = 0, _matrix(weights, np.arange(1.0, len(shares) + 1))
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    kappa = _coefficient(shares, size, matrix, *_cohen_chance(rows, columns, matrix), confidence)
    return _with_null(kappa, rows, columns, matrix).having(n_left_out=left_out)


def kappas_of_tables(tables: Numbers, matrix: Numbers) -> Numbers:
    """Return kappa of many tables (pairs x categories x categories); nan if undefined."""
    shares = tables / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
    pa = (shares * matrix).sum(axis=(1, 2))
    pe = np.einsum("pi,ij,pj->p", shares.sum(axis=2), matrix, shares.sum(axis=1))
    met = (tables.sum(axis=(1, 2)) > 0) & (1 - pe > 1e-12)
    kappas: Numbers = np.divide(pa - pe, 1 - pe, out=np.full(len(tables), np.nan), where=met)
    return kappas


def two_rater_table(table: Any, weights: Any = None, confidence: float = 0.95) -> Result:
    """Return every coefficient of a table of two raters.

    Parameters
    ----------
    table : the counts of each category of the first rater (row) and the second (column).

    Returns
    -------
    Result
        ``cohen``, ``scott``, ``gwet``, ``brennan_prediger``, ``krippendorff``, ``percent``: Estimates with
        ``se`` and interval as ``irrCAC.table`` gives them (Gwet 2014).

    >>> found = two_rater_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    >>> round(found.cohen, 4), round(found.gwet, 4)
    (0.7964, 0.8493)
    """
    shares, n = _given_table(table, None, None)
    matrix = _matrix(weights, np.arange(1.0, len(shares) + 1))
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    both, q = (rows + columns) / 2, len(shares)
    scott = _cohen_chance(both, both, matrix)
    spread = matrix.sum() / (q * (q - 1)) if q > 1 else 1.0
    chances = {
        "cohen": _cohen_chance(rows, columns, matrix),
        "scott": scott,
        "gwet": (float(spread * both @ (1 - both)), spread * (2 - both[:, None] - both[None, :])),
        "brennan_prediger": (float(matrix.sum()) / q**2, np.zeros_like(matrix)),
        "percent": (0.0, np.zeros_like(matrix)),
    }
    coefficients = Result(
        {
            name: _coefficient(shares, n, matrix, *chance, confidence, corrected=name != "percent")
            for name, chance in chances.items()
        }
    )
    return Result(coefficients, krippendorff=_small_sample(coefficients["scott"], n, confidence))


def _crossed(data: Ratings) -> tuple[Numbers, float, int]:
    """Return the shares table of two raters, its size, and the number of units that only one of them rated."""
    if data.n_annotators != 2:
        raise ValueError(
            f"Cohen's kappa compares two raters, but there are {data.n_annotators}; "
            f"give two, or use conger_kappa or fleiss_kappa."
        )
    codes = data.code_table()
    both = (codes >= 0).all(axis=0)
    q, n = len(data.categories), int(both.sum())
    counts = np.bincount(codes[0, both] * q + codes[1, both], minlength=q * q).reshape(q, q)
    left_out = int((codes >= 0).any(axis=0).sum()) - n
    return counts / max(n, 1), float(n), left_out


def _given_table(table: Any, proportions: Any, n: float | None) -> tuple[Numbers, float]:
    given = np.asarray(table if proportions is None else proportions, dtype=float)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or (given < 0).any() or not given.sum() > 0:
        raise ValueError("A table of two raters must be square, without negative entries, and not empty.")
    size = float(given.sum()) if proportions is None else n
    if size is None:
        raise ValueError("Proportions need n, the number of units they are shares of.")
    return given / given.sum(), size


def _matrix(weights: Any, values: Numbers) -> Numbers:
    """Return agreement weights. A matrix with a zero diagonal is read as disagreement weights."""
    if weights is not None and not isinstance(weights, str):
        given = np.asarray(weights, dtype=float)
        if given.ndim == 2 and given.max(initial=0) > 0 and not np.diag(given).any():
            weights = 1 - given / given.max()
    return agreement_weights(weights, values)


def _cohen_chance(rows: Numbers, columns: Numbers, matrix: Numbers) -> tuple[float, Numbers]:
    """Return pe of two margins, and each cell's influence on it (its mean is 2 pe)."""
    return float(rows @ matrix @ columns), (matrix @ columns)[:, None] + (matrix.T @ rows)[None, :]


def _coefficient(
    shares: Numbers,
    n: float,
    matrix: Numbers,
    pe: float,
    influence: Numbers,
    confidence: float,
    *,
    corrected: bool = True,
) -> Estimate:
    """Return (pa - pe) / (1 - pe) of a table, with the variance of w - (1 - value) influence over its cells."""
    if not n > 0:
        return Estimate.undefined("no unit was rated by both", n=0, n_units=0)
    pa = float((shares * matrix).sum())
    details = {"pa": pa, "pe": pe, "n": int(n), "n_units": int(n)}
    constant = corrected and np.count_nonzero(shares.any(axis=0) | shares.any(axis=1)) < 2
    if constant or not pe < SURE or len(shares) < 2:
        return Estimate.undefined(ONE_CATEGORY, **details)
    value = (pa - pe) / (1 - pe)
    cells = matrix - (1 - value) * influence
    variance = (shares * cells**2).sum() - (shares * cells).sum() ** 2
    se = float(np.sqrt(max(variance, 0.0) / n) / (1 - pe))
    return Estimate(value, **details, **t_interval(value, se, n - 1, confidence))


def _with_null(kappa: Estimate, rows: Numbers, columns: Numbers, matrix: Numbers) -> Estimate:
    """Add the error and z under no agreement (Fleiss, Cohen and Everitt 1969, equation 9)."""
    if not kappa.defined:
        return kappa
    pe, influence = _cohen_chance(rows, columns, matrix)
    variance = (np.outer(rows, columns) * (matrix - influence) ** 2).sum() - pe**2
    se_null = float(np.sqrt(max(variance, 0.0) / kappa.n) / (1 - pe))
    return kappa.having(se_null=se_null, z=kappa / se_null if se_null > 0 else np.nan)


def _small_sample(scott: Estimate, n: float, confidence: float) -> Estimate:
    """Return Krippendorff's alpha of two complete raters, which is Scott's pi with a small-sample correction."""
    if not scott.defined:
        return scott
    pa = (1 - 1 / (2 * n)) * scott.pa + 1 / (2 * n)
    value = (pa - scott.pe) / (1 - scott.pe)
    return Estimate(
        value,
        pa=pa,
        pe=scott.pe,
        n=scott.n,
        n_units=scott.n,
        **t_interval(value, scott.se, n - 1, confidence),
    )


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
        return alphas_of_coincidences(self.values, *self._coincidences(), level)

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

    def alpha_limits(self, level: Level, confidence: float = 0.95) -> tuple[Numbers, Numbers]:
        """Return the interval of each pair's alpha from leaving out groups of clusters (``jackknife_interval``)."""
        groups, q = len(self.by_group), len(self.values)
        without = _coincidences((self.tables - self.by_group).reshape(-1, q, q))
        alphas = alphas_of_coincidences(self.values, *without, level).reshape(groups, -1)
        shared = self.by_group.sum(axis=(2, 3)) > 0
        return _limits(self.alphas(level), np.where(shared, alphas, np.nan), confidence)

    def _coincidences(self) -> tuple[Numbers, Numbers]:
        return _coincidences(self.tables)


def _coincidences(tables: Numbers) -> tuple[Numbers, Numbers]:
    """Return each table's pairable ratings by category, and the coincidences of each pair of categories."""
    both = tables + tables.transpose(0, 2, 1)
    i, j = np.triu_indices(tables.shape[1], 1)
    return both.sum(axis=2), 2 * both[:, i, j]


def _limits(values: Numbers, without: Numbers, confidence: float) -> tuple[Numbers, Numbers]:
    """Return ``clusters.jackknife_interval`` for many values at once; ``without`` is groups x values."""
    usable = ~np.isnan(without)
    n = np.maximum(usable.sum(axis=0), 1)
    means = np.where(usable, without, 0).sum(axis=0) / n
    variance = (n - 1) / n * np.where(usable, (without - means) ** 2, 0).sum(axis=0)
    half = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2) * np.sqrt(variance)
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
