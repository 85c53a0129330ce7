"""Correlations from tables are scipy's, whatever the ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from coeval.stats.judges import vector_correlation
from coeval.stats.judges.correlation import correlations
from coeval.stats.judges.vector_correlation import METHODS, correlate, rank

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
scores = st.integers(1, 5).map(float)
means = st.sampled_from([1.0, 1.5, 5 / 3, 2.0, 7 / 3, 3.25, 4.0, 5.0])


@pytest.mark.slow
@given(st.lists(st.tuples(scores, means), min_size=3, max_size=60))
def test_values_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    for side in (x, y):
        np.testing.assert_array_equal(rank(side), stats.rankdata(side))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert all(np.isnan(correlate(x, y, method)) for method in METHODS)
        return
    for method in METHODS:
        expected = SCIPY[method](x, y)
        assert correlate(x, y, method) == pytest.approx(expected.statistic, rel=1e-12, abs=1e-14)
        value = getattr(correlations(x, y).dataset, method)
        assert value.details["p_value"] == pytest.approx(expected.pvalue)


def test_many_different_values_and_no_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are left to scipy: where a table would be large, and where the p-value is exact."""
    rng = np.random.default_rng(2)
    x = rng.permutation(12).astype(float)
    y = x + rng.normal(0, 4, 12)
    tested = stats.kendalltau(x, y)
    assert correlate(x, y, "kendall") == pytest.approx(tested.statistic, abs=1e-15)
    monkeypatch.setattr(vector_correlation, "CELLS", 10)
    assert correlate(x, y, "kendall") == tested.statistic


def test_a_large_table_is_exact() -> None:
    """Pairs of 100,000 items are counted in whole numbers."""
    rng = np.random.default_rng(3)
    x = rng.integers(1, 6, 100_000).astype(float)
    y = np.round((x + rng.integers(1, 6, 100_000)) / 7, 3)
    tested = stats.kendalltau(x, y)
    assert correlate(x, y, "kendall") == pytest.approx(tested.statistic, rel=1e-12)
