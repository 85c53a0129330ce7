"""Resampling: exactly the package on the same draws, seeded, and honest about what it left out."""

from __future__ import annotations

import tracemalloc

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.stats import (
    alpha_difference,
    bootstrap_alpha,
    icc,
    jackknife_alpha,
    krippendorff_alpha,
    leave_one_out,
)
from coeval.stats.agreement.patterns import CountPatterns, draw_weights, sample_units
from coeval.stats.rating_matrix import parse_ratings


def draw_table(annotators: int, units: int, missing: float = 0.2, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.clip(np.round(rng.normal(3, 1, units) + rng.normal(0, 0.8, (annotators, units))), 1, 5)
    table[rng.random(table.shape) < missing] = np.nan
    return table


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 6),
    st.integers(5, 60),
    st.integers(0, 1000),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_replicates_are_the_packages_on_the_same_draws(
    annotators: int, units: int, seed: int, level: str
) -> None:
    """A weight of w for a pattern stands for w units that show it: build them, and ask the package."""
    sample = sample_units(parse_ratings(draw_table(annotators, units, seed=seed)))
    assert isinstance(sample, CountPatterns)
    weights = next(draw_weights(sample.times, 5, np.random.default_rng(seed)))
    (ours,) = sample.alphas(weights, level)  # type: ignore[arg-type]
    for row, value in zip(weights.astype(int), ours, strict=True):
        counts = np.repeat(sample.counts, row, axis=0).astype(int)
        if np.count_nonzero(counts.sum(axis=0)) < 2:
            assert np.isnan(value)
            continue
        wanted = krippendorff.alpha(
            value_counts=counts, value_domain=sample.values, level_of_measurement=level
        )
        assert value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("times", [[5, 50, 3, 142], [1] * 40, [1, 2]])
def test_draws_are_multinomial(times: list[int]) -> None:
    """Every draw has as many units as there are; means, variances and covariances are the multinomial's."""
    counts = np.array(times)
    n, p = counts.sum(), counts / counts.sum()
    drawn = np.concatenate(list(draw_weights(counts, 20_000, np.random.default_rng(1))))
    assert (drawn.sum(axis=1) == n).all() and len(drawn) == 20_000
    spread = 5 * np.sqrt(n / 20_000)
    assert np.abs(drawn.mean(axis=0) - n * p).max() < spread
    wanted = n * (np.diag(p) - np.outer(p, p))
    assert np.abs(np.cov(drawn.T) - wanted).max() < 0.08 * max(1, n * p.max())


def test_a_seed_gives_the_same_interval_and_another_seed_another() -> None:
    table = draw_table(4, 50)
    first, again = (bootstrap_alpha(table, seed=7, replicates=200) for _ in range(2))
    assert first.ci == again.ci != bootstrap_alpha(table, seed=8, replicates=200).ci
    assert first == krippendorff_alpha(table)


def test_bootstrap_and_jackknife_agree_on_the_error() -> None:
    table = draw_table(5, 200)
    for level in ("nominal", "ordinal", "interval"):
        boot, jack = bootstrap_alpha(table, level), jackknife_alpha(table, level)
        assert boot.se == pytest.approx(jack.se, rel=0.15)
        assert boot.ci_low < boot < boot.ci_high and jack.ci_low < jack < jack.ci_high


def test_near_continuous_values_are_resampled_too() -> None:
    rng = np.random.default_rng(2)
    table = np.round(rng.normal(0, 1, 80) + rng.normal(0, 0.5, (3, 80)), 3)
    boot, jack = bootstrap_alpha(table, replicates=300), jackknife_alpha(table)
    assert boot.se == pytest.approx(jack.se, rel=0.2)


def test_jackknife_is_the_textbooks() -> None:
    """n = 6 units: se^2 = (n - 1) / n sum of squares of the leave-one-out values about their mean."""
    table = draw_table(3, 6, missing=0)
    without = [krippendorff_alpha(np.delete(table, k, axis=1), "interval") for k in range(6)]
    se = np.sqrt(5 / 6 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert jackknife_alpha(table, "interval").se == pytest.approx(se)


def test_undefined_replicates_are_left_out_and_counted() -> None:
    """Ten units, one of which varies: a draw misses it with probability .9^10 = .349."""
    table = np.full((2, 10), 3.0)
    table[:, 0] = [2, 3]
    found = bootstrap_alpha(table, "nominal", replicates=2000)
    assert found.replicates_left_out / 2000 == pytest.approx(0.349, abs=0.04)
    assert found.replicates_left_out + len(found.distribution) == 2000


def test_an_undefined_alpha_has_no_interval() -> None:
    found = bootstrap_alpha([[3, 3, 3], [3, 3, 3]])
    assert not found.defined and found.reason and np.isnan(found.ci).all()


def test_share_below_the_thresholds() -> None:
    table = draw_table(4, 60)
    found = bootstrap_alpha(table, replicates=500)
    assert found.p_below_667 == (found.distribution < 0.667).mean()
    assert found.p_below_800 == (found.distribution < 0.8).mean()


def test_percentile_interval_on_request() -> None:
    found = bootstrap_alpha(draw_table(4, 60), replicates=500, method="percentile")
    assert found.ci == pytest.approx(tuple(np.quantile(found.distribution, [0.025, 0.975])))
    with pytest.raises(ValueError, match="bca or percentile"):
        bootstrap_alpha(draw_table(4, 60), method="normal")


def test_difference_of_the_same_units_is_tighter_than_of_different_ones() -> None:
    table = draw_table(5, 150, missing=0)
    joint = alpha_difference(table[:4], table, replicates=400)
    apart = alpha_difference(table[:4], table, replicates=400, paired=False)
    wanted = krippendorff_alpha(table[:4]) - krippendorff_alpha(table)
    assert joint == pytest.approx(wanted) and apart == pytest.approx(wanted)
    assert joint.se < apart.se / 2
    assert joint.paired and not apart.paired


def test_units_are_matched_by_their_columns() -> None:
    frame = pd.DataFrame(draw_table(3, 30, missing=0), columns=[f"u{k}" for k in range(30)])
    shuffled = frame[frame.columns[::-1]]
    assert alpha_difference(frame, shuffled, paired=True, replicates=50).ci == (0.0, 0.0)


def test_difference_with_an_undefined_side_says_which() -> None:
    found = alpha_difference([[1, 2], [1, 2]], [[1, 1], [1, 1]])
    assert "second" in str(found.reason)


def test_leaving_out_the_one_who_guesses_helps() -> None:
    table = draw_table(4, 120, missing=0)
    table[3] = np.random.default_rng(9).integers(1, 6, 120)
    rows = leave_one_out(pd.DataFrame(table, index=list("abcd")))
    best = max(rows, key=lambda row: row.difference)
    assert best.annotator == "d" and best.difference.ci_low > 0
    assert rows[0].alpha == pytest.approx(krippendorff_alpha(table[1:]), abs=1e-12)


def test_leaving_out_one_of_two_is_undefined() -> None:
    assert all(not row.alpha.defined for row in leave_one_out([[1, 2, 3], [1, 2, 2]]))


@pytest.mark.slow
def test_default_interval_covers() -> None:
    """120 seeded studies of 20 units: the interval holds the truth in .91 to .98 of them, within chance."""
    from tests.benchmarks.agreement import draw_ratings

    rng = np.random.default_rng(1)
    truth = krippendorff_alpha(draw_ratings(5, 200_000, rng))
    limits = [bootstrap_alpha(draw_ratings(5, 20, rng), seed=k).ci for k in range(120)]
    covered = np.mean([low <= truth <= high for low, high in limits])
    assert 0.9 <= covered <= 0.99


@pytest.mark.slow
def test_leaving_out_groups_of_units_needs_room_for_one_group_at_a_time() -> None:
    """What each two of 200 raters share is 0.3 MB; of all 50 groups at once it would be 16 MB."""
    draw = np.random.default_rng(8)
    table = np.full((200, 400), np.nan)
    for unit in range(400):
        table[draw.choice(200, 4, replace=False), unit] = draw.integers(1, 6, 4)
    ratings = parse_ratings(table)
    tracemalloc.start()
    forms = icc(ratings, clusters=np.arange(400) % 50)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert forms.icc21.n_annotators == 200 and peak < 8e6
