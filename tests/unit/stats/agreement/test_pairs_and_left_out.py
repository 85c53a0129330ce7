"""Every two raters at once, and everybody without one: as each pair, and each rest, is computed alone."""

from __future__ import annotations

import itertools
import math
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats as scipy_stats

from coeval.stats import cohen_kappa, krippendorff_alpha, leave_one_out, percent_agreement
from coeval.stats.agreement.coefficients import agreement_weights
from coeval.stats.agreement.two_raters import PairTables, kappas_of_tables, pair_tables
from coeval.stats.clusters import Clusters
from coeval.stats.rating_matrix import parse_ratings

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
    return list(pair_tables(parse_ratings(four_people(), POINTS), clusters))


PAIRS = list(itertools.combinations(range(4), 2))


def test_each_pair_has_what_it_has_alone() -> None:
    table, found = four_people(), blocks()
    assert [block.a for block in found] == [0, 1, 2]
    for (a, b), block in zip(PAIRS, (found[a] for a, _ in PAIRS), strict=True):
        pair, k = table[[a, b]], b - a - 1
        assert block.sizes[k] == (~np.isnan(pair)).all(axis=0).sum()
        assert block.percents()[k] == pytest.approx(percent_agreement(pair))
        for weights in ("identity", "quadratic"):
            wanted = cohen_kappa(pair, weights=weights, value_domain=POINTS)
            assert block.kappas(weights)[k] == pytest.approx(wanted)


def test_a_pair_without_a_common_unit_has_nothing() -> None:
    (block,) = pair_tables(parse_ratings([[1, 2, None, None], [None, None, 1, 2]]))
    assert block.sizes.tolist() == [0]
    assert np.isnan([*block.percents(), *block.kappas("identity"), *block.alphas("nominal")]).all()


def limits(values: list[float], value: float, confidence: float = 0.95) -> tuple[float, float]:
    """Tukey's interval: t over the documents that both share, moved outwards by three quarters of the bias."""
    kept, n = np.array(values), len(values)
    half = scipy_stats.t.ppf((1 + confidence) / 2, n - 1) * math.sqrt(
        (n - 1) / n * ((kept - kept.mean()) ** 2).sum()
    )
    moved = value - 3 / 4 * (n - 1) * (kept.mean() - value)
    return min(value, moved) - half, min(1.0, max(value, moved) + half)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_the_limits_of_a_pair_leave_out_each_document_that_both_share(level: Any, confidence: float) -> None:
    table, found = four_people(), blocks(Clusters(DOCUMENTS))
    for a, b in PAIRS:
        pair = table[[a, b]]
        shared = np.unique(DOCUMENTS[~np.isnan(pair).any(axis=0)])
        without = [
            krippendorff.alpha(pair[:, one != DOCUMENTS], level_of_measurement=level) for one in shared
        ]
        wanted = limits(without, krippendorff.alpha(pair, level_of_measurement=level), confidence)
        low, high = found[a].alpha_limits(level, confidence)
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
        wanted = [cohen_kappa(first, second, name) for first, second in labels]
        assert kappas_of_tables(tables.astype(float), weights) == pytest.approx(wanted)


# --- without one annotator --------------------------------------------------------------------------------


def alpha_of(table: np.ndarray, level: str) -> float:
    return float(krippendorff.alpha(table, level_of_measurement=level, value_domain=POINTS))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_what_one_person_changes_is_alpha_without_them_less_alpha_with_them(level: str) -> None:
    table = four_people()
    for place, row in enumerate(leave_one_out(table, level, value_domain=POINTS)):
        rest = np.delete(table, place, axis=0)
        assert row.alpha == pytest.approx(alpha_of(rest, level))
        assert row.difference == pytest.approx(alpha_of(rest, level) - alpha_of(table, level))
        assert row.n_ratings == (~np.isnan(table[place])).sum()
        assert (row.alpha.level, row.difference.level) == (level, level)
        assert row.alpha.n_units == ((~np.isnan(rest)).sum(axis=0) > 1).sum()


@pytest.mark.parametrize("clusters", [None, DOCUMENTS])
def test_what_one_person_changes_is_computed_anew_without_each_cluster(clusters: np.ndarray | None) -> None:
    table, of_unit = four_people(), np.arange(15) if clusters is None else clusters
    rest = table[1:]
    gaps = np.array(
        [
            alpha_of(rest[:, of_unit != one], "ordinal") - alpha_of(table[:, of_unit != one], "ordinal")
            for one in np.unique(of_unit)
        ]
    )
    n, found = len(gaps), leave_one_out(table, clusters=clusters, value_domain=POINTS)[0].difference
    assert found.se == pytest.approx(math.sqrt((n - 1) / n * ((gaps - gaps.mean()) ** 2).sum()))
    assert (found.clusters, found.resampled) == (n, "units")
    assert found.bias == pytest.approx((n - 1) * (gaps.mean() - found))


def test_the_confidence_of_what_one_person_changes_is_the_one_asked_for() -> None:
    found = leave_one_out(four_people(), confidence=0.8, value_domain=POINTS)[0].difference
    half = scipy_stats.t.ppf(0.9, 14) * found.se
    assert found.ci_high - found.ci_low == pytest.approx(2 * half + 0.75 * abs(found.bias))


def test_the_p_values_of_the_people_are_adjusted_as_a_screen() -> None:
    """Benjamini and Hochberg: of four ordered p-values the k-th times 4 / k, none above a later one."""
    rows = [row.difference for row in leave_one_out(four_people(), "interval")]
    ordered = sorted(rows, key=lambda one: one.p_value)
    raised = [4 / (k + 1) * one.p_value for k, one in enumerate(ordered)]
    wanted = [min(1.0, *raised[k:], 1.0) for k in range(4)]
    assert [one.p_bh for one in ordered] == pytest.approx(wanted)
    assert any(one.p_bh > one.p_value for one in rows)


def test_leaving_one_out_says_why_it_cannot() -> None:
    two = leave_one_out({"ann": {1: 1, 2: 2, 3: 2}, "bob": {1: 1, 2: 2}})
    assert [(row.annotator, row.n_ratings) for row in two] == [("ann", 3), ("bob", 2)]
    reason = "needs at least three annotators"
    assert {str(row.alpha.reason) for row in two} | {str(row.difference.reason) for row in two} == {reason}
    three = leave_one_out({"ann": {1: 1, 2: 2}, "bob": {1: 1, 2: 2}, "cid": {3: 1}}, "nominal")
    assert three[0].difference.reason == "alpha of the others alone is undefined"
    assert three[0].difference.level == "nominal" and three[2].difference == 0


def test_leaving_one_out_of_people_who_all_say_the_same_is_undefined() -> None:
    rows = leave_one_out([[3, 3, 3]] * 3)
    assert {str(row.alpha.reason) for row in rows} == {"alpha of the others alone is undefined"}


def test_leaving_one_out_reads_words_in_the_order_they_are_given() -> None:
    words, order = [["low", "mid", "high"]] * 2 + [["low", "high", "high"]], ["low", "mid", "high"]
    numbers = [[1, 2, 3]] * 2 + [[1, 3, 3]]
    wanted = [row.difference for row in leave_one_out(numbers)]
    assert [row.difference for row in leave_one_out(words, value_domain=order)] == pytest.approx(wanted)
    with pytest.raises(ValueError, match="needs numbers"):
        leave_one_out(words, "interval")


def test_what_one_person_changes_in_near_continuous_scores_is_computed_anew_without_each_unit() -> None:
    draw = np.random.default_rng(5)
    table = np.round(draw.normal(0, 1, 50) + draw.normal(0, 0.5, (3, 50)), 3)
    difference = leave_one_out(table, "interval")[2].difference
    whole, rest = krippendorff_alpha(table, "interval"), krippendorff_alpha(table[:2], "interval")
    assert difference == pytest.approx(rest - whole)
    gaps = np.array(
        [
            krippendorff_alpha(np.delete(table[:2], k, axis=1), "interval")
            - krippendorff_alpha(np.delete(table, k, axis=1), "interval")
            for k in range(50)
        ]
    )
    assert difference.se == pytest.approx(math.sqrt(49 / 50 * ((gaps - gaps.mean()) ** 2).sum()))
    assert 0 < difference.p_value <= difference.p_bh
