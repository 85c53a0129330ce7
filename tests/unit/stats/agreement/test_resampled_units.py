"""Units drawn anew or left out, of few scores and of near-continuous ones; two sets of ratings side by side."""

from __future__ import annotations

import math
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from coeval.stats import alpha_difference, bootstrap_alpha, jackknife_alpha, krippendorff_alpha
from coeval.stats.agreement import patterns
from coeval.stats.agreement.patterns import (
    CountPatterns,
    RatedUnits,
    draw_weights,
    keep_units,
    sample_both,
    sample_units,
)
from coeval.stats.rating_matrix import parse_ratings

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def table_of(fine: bool, units: int = 14) -> np.ndarray:
    """Three people's scores of 1 to 5, or to three decimals; some missing, one unit with a single rating."""
    rng = np.random.default_rng(11)
    table = rng.normal(5, 1, units) + rng.normal(0, 0.7, (3, units))
    table = np.round(table * 1000) / 1000 if fine else np.clip(np.round(table - 2), 1, 5)
    table[0, 2] = table[1, 5] = np.nan
    table[1:, 8] = np.nan
    if fine:
        table[1, :4] = table[2, :4]
    return table


def package_alpha(table: np.ndarray, level: str) -> float:
    return float(krippendorff.alpha(table, level_of_measurement=level))


# --- left out one by one ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("fine", [False, True])
def test_the_jackknife_leaves_out_each_unit_that_two_rated(level: str, fine: bool) -> None:
    """se^2 = (n - 1) / n sum of squares about the mean of the values without each unit, whatever the scores."""
    table = table_of(fine, 20)
    units = [unit for unit in range(20) if unit != 8]
    without = np.array([package_alpha(np.delete(table, unit, axis=1), level) for unit in units])
    found = jackknife_alpha(table, level)
    se = math.sqrt(18 / 19 * ((without - without.mean()) ** 2).sum())
    assert found == pytest.approx(package_alpha(table, level))
    assert found.se == pytest.approx(se)
    assert found.bias == pytest.approx(18 * (without.mean() - found))
    half = scipy_stats.t.ppf(0.975, 18) * se
    assert found.ci == pytest.approx((found - half, min(1.0, found + half)))
    assert (found.details["n_units"], found.details["n_units_left_out"]) == (19, 1)


@pytest.mark.parametrize("level", LEVELS)
def test_blocks_of_any_size_give_the_same(level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = parse_ratings(table_of(True, 20))
    whole = sample_units(data).alphas_without_one(level)
    monkeypatch.setattr(patterns, "CELLS", 300)
    assert sample_units(data).alphas_without_one(level) == pytest.approx(whole)
    parts = list(draw_weights(np.array([3, 2, 5]), 40, np.random.default_rng(1), width=97))
    assert [len(part) for part in parts] == [3] * 13 + [1]
    assert all((part.sum(axis=1) == 10).all() for part in parts)


# --- two engines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_units_one_by_one_and_kinds_of_units_have_the_same_alphas(level: Any) -> None:
    """The engine of near-continuous scores on scores of 1 to 5, for the same draws of the same units."""
    data = parse_ratings(table_of(False))
    kinds = sample_units(data)
    assert isinstance(kinds, CountPatterns)
    paired = data.per_unit > 1
    alone = RatedUnits(keep_units(data, paired), np.ones(int(paired.sum()), dtype=np.int64))
    drawn = np.random.default_rng(2).integers(0, 4, (30, len(alone.times))).astype(float)
    drawn[0] = 0
    place = data.kinds.among(paired).of_unit
    of_kinds = np.stack([np.bincount(place, row, len(kinds.times)) for row in drawn])
    (first,), (second,) = kinds.alphas(of_kinds, level), alone.alphas(drawn, level)
    assert second == pytest.approx(first, nan_ok=True) and math.isnan(first[0])
    assert np.isfinite(first[1:]).all()


def test_units_that_are_kept_keep_their_names_and_ratings() -> None:
    frame = pd.DataFrame([[1, 2, 3], [1, None, 2]], index=["ann", "bob"], columns=["x", "y", "z"])
    kept = keep_units(parse_ratings(frame), np.array([False, True, True]))
    assert list(kept.units) == ["y", "z"] and kept.annotators == ("ann", "bob")
    wanted = np.array([[2, 3], [np.nan, 2]])
    assert np.array_equal(kept.table(), wanted, equal_nan=True)


def test_two_sets_of_ratings_are_drawn_over_the_units_that_either_pairs() -> None:
    a = parse_ratings([[1, 1, 2, None, 2], [1, 2, None, None, None]])
    b = parse_ratings([[3, None, 4, 3, None], [4, None, 4, None, 3]])
    first, second = sample_both(a, b)
    assert first.times.sum() == second.times.sum() == 3  # the last two units are paired in neither
    weights = first.times[None, :].astype(float)
    alphas = [sample.alphas(weights, "nominal")[0][0] for sample in (first, second)]
    assert alphas == pytest.approx([package_alpha(side.table(), "nominal") for side in (a, b)])


# --- the bootstrap ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fine", [False, True])
def test_every_replicate_is_alpha_of_as_many_units_drawn_with_replacement(fine: bool) -> None:
    """The mean and the spread of the replicates are those of draws put together unit by unit."""
    table = table_of(fine)
    found = bootstrap_alpha(table, "interval", replicates=1500, seed=1)
    units, rng = np.delete(table, 8, axis=1), np.random.default_rng(9)
    drawn = [package_alpha(units[:, rng.integers(0, 13, 13)], "interval") for _ in range(1500)]
    assert found.distribution.mean() == pytest.approx(np.mean(drawn), abs=0.03)
    assert found.distribution.std() == pytest.approx(np.std(drawn), rel=0.15)
    assert (found.replicates, found.replicates_left_out, found.details["n_units"]) == (1500, 0, 13)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_of_the_replicates_is_corrected_and_accelerated(level: str) -> None:
    """Efron's acceleration, sum d^3 / 6 (sum d^2)^1.5 of the distances of alpha without each unit from their mean.

    The quantiles are widened to Student's t with n - 1 degrees of freedom and sqrt(n / (n - 1)). Near-continuous
    scores have no acceleration.
    """
    units = np.delete(table_of(False), 8, axis=1)
    without = np.array([package_alpha(np.delete(units, unit, axis=1), level) for unit in range(13)])
    gap = without.mean() - without
    bend = (gap**3).sum() / (6 * (gap**2).sum() ** 1.5)
    for table, n, acceleration in ((table_of(False), 13, bend), (table_of(True, 20), 19, 0.0)):
        found = bootstrap_alpha(table, level, seed=2)
        drawn = found.distribution
        bias = scipy_stats.norm.ppf((drawn < found).mean() + (drawn == found).mean() / 2)
        wide = bias + math.sqrt(n / (n - 1)) * scipy_stats.t.ppf([0.025, 0.975], n - 1)
        levels = scipy_stats.norm.cdf(bias + wide / (1 - acceleration * wide))
        assert found.ci == pytest.approx(tuple(np.quantile(drawn, levels)))
    assert abs(bend) > 0.005


def test_what_is_left_open_is_a_thousand_draws_of_seed_nought() -> None:
    table = table_of(False)
    for found, asked in (
        (bootstrap_alpha(table), bootstrap_alpha(table, "ordinal", replicates=1000, seed=0)),
        (
            alpha_difference(table, table[:2]),
            alpha_difference(table, table[:2], "ordinal", replicates=1000, seed=0),
        ),
    ):
        assert found.details["replicates"] == 1000 and found.details["confidence"] == 0.95
        assert found.ci == asked.ci and found.details["level"] == "ordinal"


def test_no_draw_has_no_shares_below_the_lines() -> None:
    found = bootstrap_alpha(table_of(False), replicates=0)
    assert len(found.distribution) == 0 and np.isnan(found.ci).all()
    assert math.isnan(found.p_below_667) and math.isnan(found.p_below_800)


def test_words_are_in_the_order_they_are_given_however_they_are_resampled() -> None:
    """Words in an order have the intervals of the numbers in their place."""
    names = {1.0: "poor", 2.0: "fair", 3.0: "good", 4.0: "best", 5.0: "all"}
    table, order = table_of(False), list(names.values())
    words = [[names.get(score) for score in row] for row in table]
    for statistic in (bootstrap_alpha, jackknife_alpha):
        assert statistic(words, value_domain=order).ci == pytest.approx(statistic(table).ci)
    for sides in ((words, words[:2]), (words[:2], words)):
        numbers = [table[: len(side)] for side in sides]
        assert alpha_difference(*sides, value_domain=order).ci == pytest.approx(alpha_difference(*numbers).ci)


def test_confidence_is_that_of_intervals_over_clusters() -> None:
    table, clusters = table_of(False), np.arange(14) // 2
    found = bootstrap_alpha(table, clusters=clusters, confidence=0.5)
    assert found.details["confidence"] == 0.5
    assert found.ci == pytest.approx(jackknife_alpha(table, clusters=clusters, confidence=0.5).ci)


def test_draws_that_overshoot_are_drawn_anew_each_for_itself() -> None:
    """Where every row has more units than are due, every row is drawn again, and no two rows need be alike."""

    class Overshooting(np.random.Generator):
        def poisson(self, *_: Any, size: Any = None) -> Any:
            return np.full(size, 1000)

    (rows,) = draw_weights(np.array([30, 50, 20]), 400, Overshooting(np.random.PCG64(1)))
    assert (rows.sum(axis=1) == 100).all() and len(np.unique(rows, axis=0)) > 100
    assert rows.mean(axis=0) == pytest.approx([30, 50, 20], abs=1)  # a standard error is a quarter at most


def test_no_paired_unit_gives_no_interval_but_a_reason() -> None:
    for found in (bootstrap_alpha([[1, None], [None, 2]]), jackknife_alpha([[1, None], [None, 2]])):
        assert "no unit has ratings by two" in str(found.reason)
        assert (found.details["level"], found.details["n_units"]) == ("ordinal", 0)


# --- differences ------------------------------------------------------------------------------------------


def test_a_difference_says_what_it_is_of() -> None:
    table = table_of(False)
    found = alpha_difference(table, table[:2], "nominal", replicates=50)
    names = ("level", "alpha_a", "alpha_b", "paired", "n_units_a", "n_units_b")
    assert {name: found.details[name] for name in names} == {
        "level": "nominal",
        "alpha_a": pytest.approx(package_alpha(table, "nominal")),
        "alpha_b": pytest.approx(package_alpha(table[:2], "nominal")),
        "paired": True,
        "n_units_a": 13,
        "n_units_b": 11,
    }
    assert found == pytest.approx(found.details["alpha_a"] - found.details["alpha_b"])


def test_ratings_of_other_units_are_drawn_apart_unless_asked_for() -> None:
    frame = pd.DataFrame(table_of(False), columns=[f"u{k}" for k in range(14)])
    fewer = frame[["u9", "u3", "u1", "u0", "u12", "u11"]]
    apart, together = (alpha_difference(frame, fewer, replicates=200, paired=each) for each in (None, True))
    assert (apart.paired, together.paired) == (False, True)
    wanted = package_alpha(frame.to_numpy(), "ordinal") - package_alpha(fewer.to_numpy(), "ordinal")
    assert (apart, together) == pytest.approx((wanted, wanted))
    assert apart.se != together.se


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_a_difference_varies_as_alphas_of_units_drawn_anew(level: str, paired: bool) -> None:
    """Its error against draws put together unit by unit, the same units on both sides or others."""
    table = table_of(False)
    units, few = np.delete(table, 8, axis=1), np.delete(table, 8, axis=1)[:2]
    found = alpha_difference(table, table[:2], level, replicates=1500, seed=1, paired=paired)
    rng, drawn = np.random.default_rng(9), []
    for _ in range(300):
        first = rng.integers(0, 13, 13)
        second = first if paired else rng.integers(0, 13, 13)
        drawn.append(package_alpha(units[:, first], level) - package_alpha(few[:, second], level))
    assert found.se == pytest.approx(np.nanstd(drawn), rel=0.2)
    assert found.ci_low < found < found.ci_high
    again = alpha_difference(table, table[:2], level, replicates=1500, seed=1, paired=paired)
    assert again.ci == found.ci


@pytest.mark.parametrize("level", LEVELS)
def test_near_continuous_units_that_one_side_alone_pairs_are_drawn_for_both(level: str) -> None:
    table = table_of(True, 20)
    fewer = table.copy()
    fewer[1:, [0, 19]] = np.nan
    wanted = package_alpha(table, level) - package_alpha(fewer, level)
    found = alpha_difference(table, fewer, level, replicates=40)
    assert found == pytest.approx(wanted) and found.ci_low < found.ci_high


def test_a_difference_with_an_undefined_side_names_the_first_or_the_second() -> None:
    alike, table = [[1, 1], [1, 1]], [[1, 2], [1, 2]]
    assert alpha_difference(alike, table).reason == "alpha of the first ratings is undefined"
    assert alpha_difference(table, alike).reason == "alpha of the second ratings is undefined"
    assert math.isnan(alpha_difference(table, alike).details["alpha_b"])


def test_the_sign_of_a_difference_follows_its_sides() -> None:
    """The p-value is small where one set agrees far better than the other, and the interval is on its side of 0."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 80).astype(float)
    well, badly = np.tile(truth, (2, 1)), np.vstack([truth, rng.permutation(truth)])
    well[1, :8] = 3
    better, worse = alpha_difference(well, badly), alpha_difference(badly, well)
    assert better.ci_low > 0 > worse.ci_high and better == pytest.approx(-worse)
    assert max(better.p_value, worse.p_value) < 0.01
    none = alpha_difference(badly, np.vstack([truth, rng.permutation(truth)]))
    assert none.p_value > 0.05 and none.ci_low < 0 < none.ci_high


def test_near_continuous_scores_have_a_difference_too() -> None:
    """Over clusters it has no interval: there is no small table to sum over."""
    table = table_of(True, 20)
    wanted = package_alpha(table[:2], "interval") - package_alpha(table, "interval")
    drawn = alpha_difference(table[:2], table, "interval", replicates=200)
    over = alpha_difference(table[:2], table, "interval", clusters=np.arange(20) // 2)
    assert (drawn, over) == pytest.approx((wanted, wanted))
    assert drawn.ci_low < drawn < drawn.ci_high and np.isnan(over.ci).all()
    assert (over.details["clusters"], over.details["resampled"], over.details["replicates"]) == (
        10,
        "units",
        0,
    )


def test_words_have_no_interval_alpha_by_any_resampling() -> None:
    words = [["a", "b"], ["a", "b"]]
    for sides in ((words, [[1, 2], [1, 2]]), ([[1, 2], [1, 2]], words)):
        with pytest.raises(ValueError, match="needs numbers"):
            alpha_difference(*sides, "interval")
    for statistic in (bootstrap_alpha, jackknife_alpha):
        with pytest.raises(ValueError, match="needs numbers"):
            statistic(words, "interval")
        assert statistic(words, "nominal", value_domain=["b", "a", "c"]) == 1


def test_confidence_is_that_of_the_intervals() -> None:
    table = table_of(False)
    wide, narrow = (bootstrap_alpha(table, confidence=each, seed=1) for each in (0.95, 0.5))
    assert wide.ci_low < narrow.ci_low < narrow.ci_high < wide.ci_high
    found = jackknife_alpha(table, confidence=0.5)
    assert found - found.ci_low == pytest.approx(scipy_stats.t.ppf(0.75, 12) * found.se)
    gaps = [alpha_difference(table, table[:2], confidence=each, seed=1) for each in (0.95, 0.5)]
    assert gaps[0].ci_low < gaps[1].ci_low < gaps[1].ci_high < gaps[0].ci_high
    assert krippendorff_alpha(table, "interval", confidence=0.5).details["confidence"] == 0.5
