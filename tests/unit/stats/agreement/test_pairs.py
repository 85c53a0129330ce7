"""Every two raters at once: as each pair is computed alone."""

from __future__ import annotations

import itertools
import math
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats as scipy_stats

from coeval.stats import percent_agreement
from coeval.stats.agreement.coefficients import agreement_weights
from coeval.stats.agreement.two_raters import PairTables, kappas_of_tables, pair_tables
from coeval.stats.clusters import Clusters
from coeval.stats.rating_matrix import parse_ratings
from tests.support.studies.rated import rate_on

POINTS = [1, 2, 3, 4, 5]
DOCUMENTS = np.arange(15) // 3


def four_people() -> np.ndarray:
    """Fifteen units of five documents; the first and the last person share no unit of the first document."""
    rng = np.random.default_rng(6)
    table = np.clip(rng.integers(1, 6, 15) + rng.integers(-1, 2, (4, 15)), 1, 5).astype(float)
    table[0, :3] = np.nan
    table[3, 9:11] = np.nan
    return table


def blocks(clusters: Clusters | None = None) -> list[PairTables]:
    return list(pair_tables(rate_on(four_people(), POINTS), clusters))


PAIRS = list(itertools.combinations(range(4), 2))


def kappa_by_definition(a: np.ndarray, b: np.ndarray, weights: str) -> float:
    """1 - observed / expected disagreement, over the pairs of units (Cohen 1968)."""
    both = ~(np.isnan(a) | np.isnan(b))
    gaps = np.abs(a[both][:, None] - b[both][None, :])
    apart = {"identity": gaps > 0, "linear": gaps, "quadratic": gaps**2, "ordinal": gaps * (gaps + 1) / 2}[
        weights
    ]
    return float(1 - np.diag(apart).mean() / apart.mean())


def test_each_pair_has_what_it_has_alone() -> None:
    table, found = four_people(), blocks()
    assert [block.a for block in found] == [0, 1, 2]
    for (a, b), block in zip(PAIRS, (found[a] for a, _ in PAIRS), strict=True):
        pair, k = table[[a, b]], b - a - 1
        assert block.sizes[k] == (~np.isnan(pair)).all(axis=0).sum()
        assert block.percents()[k] == pytest.approx(percent_agreement(pair))
        for weights in ("identity", "quadratic"):
            assert block.kappas(weights)[k] == pytest.approx(kappa_by_definition(*pair, weights))


def test_a_pair_without_a_common_unit_has_nothing() -> None:
    (block,) = pair_tables(parse_ratings([[1, 2, None, None], [None, None, 1, 2]]))
    assert block.sizes.tolist() == [0]
    assert np.isnan([*block.percents(), *block.kappas("identity"), *block.alphas("nominal")]).all()


def limits(values: list[float], value: float) -> tuple[float, float]:
    """Tukey's interval: t over the documents that both share, moved outwards by three quarters of the bias."""
    kept, n = np.array(values), len(values)
    half = scipy_stats.t.ppf(0.975, n - 1) * math.sqrt((n - 1) / n * ((kept - kept.mean()) ** 2).sum())
    moved = value - 3 / 4 * (n - 1) * (kept.mean() - value)
    return min(value, moved) - half, min(1.0, max(value, moved) + half)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_limits_of_a_pair_leave_out_each_document_that_both_share(level: Any) -> None:
    table, found = four_people(), blocks(Clusters(DOCUMENTS))
    for a, b in PAIRS:
        pair = table[[a, b]]
        shared = np.unique(DOCUMENTS[~np.isnan(pair).any(axis=0)])
        without = [
            krippendorff.alpha(pair[:, one != DOCUMENTS], level_of_measurement=level) for one in shared
        ]
        wanted = limits(without, krippendorff.alpha(pair, level_of_measurement=level))
        low, high = found[a].alpha_limits(level)
        assert (low[b - a - 1], high[b - a - 1]) == pytest.approx(wanted), (a, b)


def test_a_pair_that_shares_one_document_or_never_differs_has_no_limits() -> None:
    ratings = parse_ratings([[1, 2, 3, 1], [1, 2, 3, None], [2, None, None, None]])
    (low, high) = next(iter(pair_tables(ratings, Clusters(np.arange(4))))).alpha_limits("nominal")
    assert np.isnan(low).all() and np.isnan(high).all()


# --- kappas of many tables --------------------------------------------------------------------------------


def test_kappas_of_several_tables_with_uneven_margins_by_hand() -> None:
    """Rows are the first rater's. [[4, 2], [1, 3]]: pa = .7, pe = .6 x .5 + .4 x .5 = .5, kappa = .4.

    [[1, 0], [5, 2]]: pa = 3/8, pe = 1/8 x 6/8 + 7/8 x 2/8 = 20/64, kappa = (24 - 20) / (64 - 20) = 1/11.
    """
    tables = np.array([[[4.0, 2], [1, 3]], [[1, 0], [5, 2]], [[1, 0], [0, 0]]])
    found = kappas_of_tables(tables, np.eye(2))
    assert found[:2] == pytest.approx([0.4, 1 / 11]) and np.isnan(found[2])


def test_weighted_kappas_of_several_tables_are_those_of_each() -> None:
    tables = np.random.default_rng(1).integers(1, 7, (5, 4, 4))
    labels = [np.repeat(np.argwhere(table > 0), table[table > 0], axis=0).T for table in tables]
    for name in ("linear", "quadratic", "ordinal"):
        weights = agreement_weights(name, np.arange(4.0))
        wanted = [kappa_by_definition(first, second, name) for first, second in labels]
        assert kappas_of_tables(tables.astype(float), weights) == pytest.approx(wanted)
