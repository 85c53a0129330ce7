"""Agreement: equal to the krippendorff package, true to its laws, and clear where it is undefined."""

from __future__ import annotations

import itertools
import math
from unittest.mock import patch

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from coeval.stats import fleiss_kappa, gwet_ac, icc, krippendorff_alpha, percent_agreement
from coeval.stats.clusters import NO_SPREAD

LEVELS = ("nominal", "ordinal", "interval")
law = settings(deadline=None, max_examples=60)


@st.composite
def tables(draw: st.DrawFn, annotators: tuple[int, int] = (2, 5), points: int = 5) -> np.ndarray:
    """Annotators x units on a scale, some ratings missing; at least one unit paired and some variation."""
    shape = draw(st.tuples(st.integers(*annotators), st.integers(2, 12)))
    table = draw(hnp.arrays(float, shape, elements=st.integers(0, points).map(float)))
    table[table == 0] = np.nan
    paired = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    assume(len(np.unique(paired[~np.isnan(paired)])) > 1)
    return table


@law
@given(tables(), st.sampled_from(LEVELS))
def test_alpha_is_the_packages(table: np.ndarray, level: str) -> None:
    wanted = krippendorff.alpha(table, level_of_measurement=level)
    assert krippendorff_alpha(table, level) == pytest.approx(wanted, abs=1e-12)


def test_kinds_of_input_are_read_alike() -> None:
    rows = [[1, 2, None, 4], [1, 3, 3, 4]]
    wanted = krippendorff_alpha(np.array(rows, dtype=float))
    assert wanted.n_units == 3
    frame = pd.DataFrame(rows, index=["ann", "bob"])
    for same in (
        rows,
        frame,
        frame.astype("Int64"),
        frame.astype(object),
        [["1", "2", "", "4"], ["1", "3", "3", "4"]],
        {"ann": {"a": 1, "b": 2, "d": 4}, "bob": {"a": 1, "b": 3, "c": 3, "d": 4}},
    ):
        assert krippendorff_alpha(same) == pytest.approx(wanted)
    assert krippendorff_alpha(np.array([["x", "nan"], ["x", "y"]])).n_units == 1


def test_words_have_no_distances() -> None:
    with pytest.raises(ValueError, match="needs numbers"):
        krippendorff_alpha([["low", "mid", "high"], ["low", "high", "high"]], "interval")


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[3, 3], [3, 3]], "every paired rating is the same"),
        ([[3, None], [None, 3]], "no unit has ratings by two"),
        ([[None, None], [None, None]], "no unit has ratings by two"),
        ([[1, 2, 3]], "no unit has ratings by two"),
    ],
)
def test_undefined_alpha_says_why(ratings: list[list[float | None]], reason: str) -> None:
    for level in LEVELS:
        found = krippendorff_alpha(ratings, level)
        assert math.isnan(found) and not found.defined and reason in str(found.reason)
    for other in (gwet_ac(ratings), fleiss_kappa(ratings)):
        assert math.isnan(other) and other.reason


def test_skew_hurts_alpha_and_not_ac1() -> None:
    """95 of 100 units agree on "no"; the rest are one-sided: alpha -.02, AC1 .95 (notes on skew)."""
    a = np.array([0] * 95 + [1, 1, 0, 0, 0])
    b = np.array([0] * 95 + [0, 0, 1, 1, 1])
    found = [krippendorff_alpha([a, b], "nominal"), gwet_ac([a, b]), percent_agreement([a, b])]
    assert [round(value, 2) for value in found] == [-0.02, 0.95, 0.95]


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="level of measurement 'rank'"):
        krippendorff_alpha([[1, 2], [1, 2]], "rank")
    with pytest.raises(ValueError, match="table, annotators x units"):
        krippendorff_alpha([1, 2, 3])
    with pytest.raises(ValueError, match="infinite"):
        krippendorff_alpha([[1, math.inf], [1, 2]])
    with pytest.raises(ValueError, match="no weights 'cubic'"):
        gwet_ac([[1, 2], [1, 2]], weights="cubic")


def test_icc_of_people_who_give_every_unit_the_same_is_nought_or_undefined() -> None:
    """Sums of squares that only rounding keeps from nought: their quotient divided by zero, or was any number."""
    for scores in itertools.product(range(1, 6), repeat=3):
        forms = icc([[score, score] for score in scores])
        assert forms["ICC(2,1)"] == 0 if len(set(scores)) > 1 else not forms["ICC(2,1)"].defined


def test_icc_with_missing_ratings_recovers_the_truth() -> None:
    """Variances 1, .25 and .64 of units, judges and error: ICC(2,1) = 1 / 1.89."""
    rng = np.random.default_rng(0)
    judges = rng.normal(size=(12, 1)) * 0.5
    judges *= 0.5 / judges.std(ddof=1)
    ratings = rng.normal(size=(1, 3000)) + judges + rng.normal(size=(12, 3000)) * 0.8
    ratings[rng.random(ratings.shape) < 0.6] = np.nan
    found = icc(ratings)
    assert found["ICC(2,1)"] == pytest.approx(1 / 1.89, abs=0.03)
    assert (
        not found["ICC(2,1)"].complete
        and found["ICC(2,1)"].ci_low < found["ICC(2,1)"] < found["ICC(2,1)"].ci_high
    )


@pytest.mark.parametrize("raters", [3, 4, 7])
def test_icc_of_complete_tables_is_that_of_the_textbook_however_they_fall(raters: int) -> None:
    """Mean squares by hand: one singular value of the raters' equations is nought and must count as nought."""
    for seed in range(100):
        table = np.random.default_rng(seed).integers(1, 6, (raters, 12)).astype(float)
        k, n = table.shape
        units, judges, all_ = table.mean(axis=0), table.mean(axis=1), table.mean()
        between = k * ((units - all_) ** 2).sum() / (n - 1)
        of_judges = n * ((judges - all_) ** 2).sum() / (k - 1)
        error = ((table - units - judges[:, None] + all_) ** 2).sum() / ((n - 1) * (k - 1))
        found = icc(table)
        assert found["ICC(2,1)"] == pytest.approx(
            (between - error) / (between + (k - 1) * error + k * (of_judges - error) / n), abs=1e-9
        )


COLLAPSING = np.full((2, 9), np.nan)
"""Without its last two ratings the units' means are all the same, but for what rounding leaves."""
COLLAPSING[:, [3, 5, 8]] = [[3, 2, 3], [1, 2, 2]]

WITHOUT_SPREAD = np.full((2, 7), np.nan)
"""Each form is the same without each two of its units: no error can be told."""
WITHOUT_SPREAD[:, [1, 4]] = [[1, 1], [1, 2]]


@pytest.mark.slow
@law
@given(tables((2, 4)))
@example(table=COLLAPSING)
@example(table=WITHOUT_SPREAD)
def test_intraclass_correlations_without_a_cluster_are_those_of_the_rest(table: np.ndarray) -> None:
    """The jackknife's error of each form, from the forms computed anew without each two units; none is added."""
    clusters = np.arange(table.shape[1]) // 2
    rest = [icc(table[:, clusters != name]) for name in range(clusters[-1] + 1)]
    with patch("coeval.stats.agreement.icc.MANY", 0):
        spread = icc(table, clusters=clusters)
    for form, found in spread.items():
        values = np.array([part[form] for part in rest])
        known = values[~np.isnan(values)]
        if found.defined and len(known) > 1:
            error = np.sqrt((len(known) - 1) / len(known) * ((known - known.mean()) ** 2).sum())
            if np.isnan(found.details["se"]):
                assert error <= 1e-6 and found.details["no_interval"] == NO_SPREAD
            else:
                assert found.details["se"] == pytest.approx(error, abs=1e-6, rel=1e-6)
