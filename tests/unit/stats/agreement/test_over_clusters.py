"""Intervals over clusters are the jackknife's: everything computed anew without each cluster, by other means."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats as scipy_stats

from coeval.stats import fleiss_kappa, gwet_ac, icc, krippendorff_alpha, percent_agreement
from coeval.stats.agreement import unit_kinds
from coeval.stats.agreement.alpha import alpha_levels, mean_alpha, mean_alpha_difference, paired_units
from coeval.stats.agreement.coefficients import NOT_PAIRED
from coeval.stats.agreement.unit_kinds import UnitKinds
from coeval.stats.clusters import Clusters, jackknife_interval, mean_interval
from coeval.stats.rating_matrix import Ratings, parse_ratings
from tests.support.studies.rated import rate_on

LEVELS = ("nominal", "ordinal", "interval")
DOCUMENTS = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 5, 5])
POINTS = [1, 2, 3, 4, 5]


def even_table(seed: int = 1) -> np.ndarray:
    """Three people on twelve units of six documents: no score is the commonest by far; the last unit has one rating."""
    rng = np.random.default_rng(seed)
    table = np.clip(np.tile(np.arange(12) % 5 + 1, (3, 1)) + rng.integers(-1, 2, (3, 12)), 1, 5).astype(float)
    table[0, 3] = table[2, 7] = np.nan
    table[1:, 11] = np.nan
    return table


def wanted_interval(value: float, without: Sequence[float]) -> dict[str, float]:
    """Tukey's interval by its formula: sd over what is left without each, t, and three quarters of the bias."""
    kept = np.array([one for one in without if not math.isnan(one)])
    n = len(kept)
    se = math.sqrt((n - 1) / n * ((kept - kept.mean()) ** 2).sum())
    moved = value - 0.75 * (n - 1) * (kept.mean() - value)
    half = scipy_stats.t.ppf(0.975, n - 1) * se
    return {"se": se, "ci_low": min(value, moved) - half, "ci_high": min(1.0, max(value, moved) + half)}


def test_an_interval_by_hand() -> None:
    """.5, and .4, .5 and .9 without each of three: their mean is .6, their squares about it .04 + .01 + .09.

    se is the root of 2/3 x .14, the bias 2 x (.6 - .5), of which three quarters move the lower limit to .35 - 4.303 se;
    t of 2 degrees of freedom at .975 is 4.302653.
    """
    found = jackknife_interval(0.5, np.array([0.4, 0.5, 0.9]), "documents")
    assert found["se"] == pytest.approx(0.3055050)
    assert found["bias"] == pytest.approx(0.2)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((-0.9644822, 1.8144822))
    # the other way round the bias is negative, and moves the upper limit
    turned = jackknife_interval(-0.5, -np.array([0.4, 0.5, 0.9]), "documents")
    assert (turned["ci_low"], turned["ci_high"]) == pytest.approx((-1.8144822, 0.9644822))


def test_a_mean_over_unequal_clusters_by_hand() -> None:
    """Clusters of 1, 1 and 4 ratings: 1; 2; 3, 3, 4, 4. Their information is 36 / 18 = 2 clusters' worth, t has 1 df.

    The mean is 17 / 6; without each it is 16 / 5, 15 / 5 and 3 / 2.
    """
    found = mean_interval(np.array([1.0, 2, 3, 3, 4, 4]), Clusters(np.array([0, 1, 2, 2, 2, 2]), "documents"))
    assert found["interval_kind"].endswith(", t, with 1.0 effective degrees of freedom")  # 36/18 - 1
    without = np.array([16 / 5, 3, 3 / 2])
    se = math.sqrt(2 / 3 * ((without - without.mean()) ** 2).sum())
    bias = 2 * (without.mean() - 17 / 6)
    assert bias < 0
    assert found["ci_low"] == pytest.approx(17 / 6 - 12.7062047 * se)
    assert found["ci_high"] == pytest.approx(17 / 6 - 0.75 * bias + 12.7062047 * se)


def without_each(table: np.ndarray, statistic: Callable[[np.ndarray], float]) -> list[float]:
    return [float(statistic(table[:, document != DOCUMENTS])) for document in range(6)]


def told(estimate: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: estimate.details[name] for name in names}


def package_alpha(table: np.ndarray, level: str) -> float:
    return float(krippendorff.alpha(table, level_of_measurement=level, value_domain=POINTS))


@pytest.mark.parametrize("level", LEVELS)
def test_alphas_interval_is_that_of_alpha_without_each_document(level: Any) -> None:
    table = even_table()
    alpha = partial(package_alpha, level=level)
    wanted = wanted_interval(alpha(table), without_each(table, alpha))
    data = rate_on(table, POINTS)
    found = alpha_levels(data, Clusters(DOCUMENTS, "documents"), (level,))[level]
    assert found == pytest.approx(alpha(table))
    assert told(found, tuple(wanted)) == pytest.approx(wanted)
    names = ("level", "clusters", "resampled", "interval_kind", "n", "n_units_left_out", "replicates")
    assert told(found, names) == {
        "level": level,
        "clusters": 6,
        "resampled": "documents",
        "interval_kind": "jackknife over documents, t",
        "n": 11,
        "n_units_left_out": 1,
        "replicates": 6,
    }
    assert krippendorff_alpha(table, level, clusters=DOCUMENTS).ci == pytest.approx(found.ci)


COEFFICIENTS: dict[str, Callable[..., float]] = {
    "ac1": gwet_ac,
    "ac2": partial(gwet_ac, weights="quadratic"),
    "percent": percent_agreement,
    "fleiss": fleiss_kappa,
}


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_the_interval_beside_alpha_is_that_of_the_coefficient_without_each_document(name: str) -> None:
    table = even_table()

    def coefficient(table: np.ndarray, **options: Any) -> Any:
        return COEFFICIENTS[name](rate_on(table, POINTS), **options)

    estimate = coefficient(table)
    wanted = wanted_interval(estimate, without_each(table, coefficient))
    found = coefficient(table, clusters=DOCUMENTS)
    assert found == estimate
    assert told(found, tuple(wanted)) == pytest.approx(wanted)
    assert (found.details["clusters"], found.details["n_units"]) == (6, 11)


def test_the_interval_of_percent_agreement_over_two_clusters_stays_a_share() -> None:
    assert percent_agreement([[5, 2, 5, 1], [4, 2, 4, 3]], clusters=[0, 0, 1, 1]).ci == (0.0, 1.0)


def test_what_is_undefined_stays_so_over_clusters() -> None:
    alike = parse_ratings([[3, 3, 3], [3, 3, 3]])
    clusters = Clusters(np.arange(3))
    found = gwet_ac(alike, clusters=clusters)
    assert not found.defined and "ci_low" not in found.details
    alpha = alpha_levels(alike, clusters, ("nominal",))["nominal"]
    assert "every paired rating is the same" in str(alpha.reason) and alpha.details["level"] == "nominal"


# --- scores nearly all alike ------------------------------------------------------------------------------


def held(table: Any, domain: Sequence[int]) -> UnitKinds:
    data = rate_on(table, domain)
    return paired_units(data, Clusters(np.arange(data.n_units)))


@pytest.mark.parametrize(
    ("rows", "skewed"),
    [
        ([[1, 1, 1, 2], [1, 1, 1, 2]], True),
        ([[1, 1, 2, 2], [1, 1, 2, 2]], False),  # half of the units are not more than half
        ([[1, 1, 1, 2], [1, 2, 2, 2]], False),  # each score four times, one unit of score 1 only
        ([[1, 1, 1, 3, 2], [1, 1, 1, 2, 3]], True),
    ],
)
def test_scores_are_skewed_where_most_units_have_the_commonest_from_everybody(
    rows: list[list[int]], skewed: bool
) -> None:
    assert held(rows, [1, 2, 3]).is_skewed is skewed


def test_the_units_added_are_of_the_rarest_score_and_between_it_and_the_commonest() -> None:
    """Of 3 people: 1 eight times, 3 once, 4 never. Rarest of those that occur is 3; a split of 3 is 1 to 2."""
    units = held([[1, 1, 1], [1, 1, 3], [1, 1, 1]], [1, 2, 3, 4])
    assert units.two_units().tolist() == [[0, 0, 3, 0], [2, 0, 1, 0]]


@pytest.mark.parametrize(("score", "other"), [(1, 2), (2, 1), (3, 2)])
def test_where_one_score_was_given_its_neighbour_is_taken_for_the_rarest(score: int, other: int) -> None:
    added = held([[score] * 4, [score] * 4], [1, 2, 3]).two_units()
    wanted = np.zeros((2, 3))
    wanted[0, other - 1], wanted[1, other - 1], wanted[1, score - 1] = 2, 1, 1
    assert added.tolist() == wanted.tolist()


def nominal_alpha(units: Sequence[tuple[float, Sequence[float]]]) -> float:
    """Alpha of units that each count ``weight`` times: 1 - (n - 1) sum of o_ck / sum of n_c n_k over c != k."""
    n = np.zeros(len(units[0][1]))
    apart = 0.0
    for weight, row in units:
        counts, m = np.array(row, dtype=float), sum(row)
        n += weight * counts
        apart += weight * (m * m - (counts**2).sum()) / (m - 1)
    expected = n.sum() ** 2 - (n**2).sum()
    return 1 - (n.sum() - 1) * apart / expected if expected > 0 else math.nan


SKEWED = [[2, 0]] * 8 + [[1, 1]] + [[0, 2]]
"""Eight of ten units with the first score from both, one split, one with the second from both."""


def test_of_skewed_scores_the_interval_has_two_units_more_each_worth_six_tenths() -> None:
    """The jackknife over ten units and the two added: one all of the rarest, one split; about their joint value."""
    first = [1] * 8 + [1, 2]
    table = np.array([first, [1] * 8 + [2, 2]])
    found = krippendorff_alpha(table, "nominal", clusters=range(10))
    units = [(1.0, row) for row in SKEWED]
    more = [*units, (0.6, [0, 2]), (0.6, [1, 1])]
    wanted = wanted_interval(
        nominal_alpha(more), [nominal_alpha(more[:k] + more[k + 1 :]) for k in range(12)]
    )
    assert found == pytest.approx(nominal_alpha(units))
    assert told(found, tuple(wanted)) == pytest.approx(wanted)
    assert (found.details["clusters"], found.details["replicates"]) == (10, 12)
    assert found.details["interval_kind"] == "jackknife over units, t, with two units added"
    mean = mean_alpha([parse_ratings(table)], [Clusters(np.arange(10))], "nominal")
    assert mean.ci == pytest.approx(found.ci)


def test_an_interval_with_units_added_holds_the_point_and_ends_at_one() -> None:
    """Nine of ten units alike and one of the other score, all agreed: the point is 1, and so is the end."""
    alike = np.array([[1] * 9 + [2]] * 2)
    found = krippendorff_alpha(alike, "nominal", clusters=range(10))
    assert found == 1 and found.ci_high == 1 and found.ci_low < 1
    percent = percent_agreement(alike)
    assert percent.ci_high == 1 and percent.ci_low < 1


def test_even_scores_that_all_agree_get_the_two_units_too() -> None:
    """Without them every cluster says the same, and the interval would be a point."""
    agreed = np.array([[1, 1, 2, 2, 3, 3]] * 2)
    found = krippendorff_alpha(agreed, "nominal", clusters=range(6))
    assert found == 1 and found.ci_low < 1 and str(found.details["interval_kind"]).endswith("two units added")


# --- values beyond a table of categories ------------------------------------------------------------------


def fine_table() -> np.ndarray:
    rng = np.random.default_rng(2)
    return np.round(rng.normal(0, 1, 24) + rng.normal(0, 0.6, (3, 24)), 3)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_near_continuous_scores_have_the_jackknife_over_clusters_too(level: Any) -> None:
    table, clusters = fine_table(), np.arange(24) // 3
    table[1:, 23] = table[1, 20] = np.nan
    table[1, :6] = table[0, :6]
    alpha = partial(krippendorff.alpha, level_of_measurement=level)
    without = [float(alpha(table[:, clusters != place])) for place in range(8)]
    wanted = wanted_interval(float(alpha(table)), without)
    levels = alpha_levels(parse_ratings(table), Clusters(clusters, "documents"), (level,))
    found = levels[level]
    assert found == pytest.approx(alpha(table))
    assert told(found, tuple(wanted)) == pytest.approx(wanted)
    assert told(found, ("clusters", "level", "n")) == {"clusters": 8, "level": level, "n": 23}
    assert found.details["interval_kind"] == "jackknife over documents, t"


@pytest.mark.parametrize("level", LEVELS)
def test_many_clusters_of_many_values_are_left_out_in_groups(
    level: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(3)
    table = np.round(draw.normal(0, 1, 120) + draw.normal(0, 0.6, (2, 120)), 2)
    whole = krippendorff_alpha(table, level)
    monkeypatch.setattr(unit_kinds, "LARGE", 1000)
    monkeypatch.setattr(unit_kinds, "CELLS", 500)
    found = krippendorff_alpha(table, level)
    assert (found.details["clusters"], found.details["replicates"]) == (120, 50)
    assert found == whole and found.se == pytest.approx(whole.se, rel=0.6)


# --- the mean over criteria -------------------------------------------------------------------------------


def mean_of(tables: Sequence[np.ndarray]) -> float:
    return float(np.mean([package_alpha(table, "ordinal") for table in tables]))


def parsed(tables: Sequence[np.ndarray]) -> list[Ratings]:
    return [rate_on(table, POINTS) for table in tables]


def test_the_mean_over_criteria_leaves_out_a_document_in_all_of_them_at_once() -> None:
    tables = [even_table(1), even_table(2), even_table(3)]
    without = [mean_of([table[:, place != DOCUMENTS] for table in tables]) for place in range(6)]
    wanted = wanted_interval(mean_of(tables), without)
    found = mean_alpha(parsed(tables), [Clusters(DOCUMENTS, "documents")] * 3)
    assert found == pytest.approx(mean_of(tables))
    assert told(found, tuple(wanted)) == pytest.approx(wanted)
    names = ("level", "n_criteria", "n_criteria_left_out", "clusters", "resampled")
    assert told(found, names) == {
        "level": "ordinal",
        "n_criteria": 3,
        "n_criteria_left_out": 0,
        "clusters": 6,
        "resampled": "documents",
    }


def test_a_criterion_may_lack_the_last_document() -> None:
    """Clusters are numbered alike in all criteria: the second one has no unit of the last document."""
    first, second = even_table(1), even_table(2)[:, :10]
    tables = [(first, DOCUMENTS), (second, DOCUMENTS[:10])]
    without = [mean_of([table[:, codes != place] for table, codes in tables]) for place in range(6)]
    wanted = wanted_interval(mean_of([first, second]), without)
    found = mean_alpha(parsed([first, second]), [Clusters(codes) for _, codes in tables])
    assert told(found, tuple(wanted)) == pytest.approx(wanted)


def test_a_criterion_without_alpha_is_left_out_of_the_mean_and_counted() -> None:
    alike, clusters = parse_ratings(np.full((3, 12), 3.0)), Clusters(DOCUMENTS)
    alone, both = (
        mean_alpha(parts, [clusters] * len(parts))
        for parts in (
            parsed([even_table()]),
            [alike, *parsed([even_table()])],
        )
    )
    assert both == alone and both.ci == alone.ci
    assert (both.details["n_criteria"], both.details["n_criteria_left_out"]) == (1, 1)
    none = mean_alpha([alike], [clusters], "nominal")
    assert "every paired rating is the same" in str(none.reason)
    assert told(none, ("level", "n_criteria", "n_criteria_left_out")) == {
        "level": "nominal",
        "n_criteria": 0,
        "n_criteria_left_out": 1,
    }
    assert mean_alpha([], []).reason == "there is no criterion"
    lone = parse_ratings(np.where(np.arange(len(DOCUMENTS)) < 2, 3.0, np.nan)[None, :])
    assert mean_alpha([lone], [clusters]).reason == NOT_PAIRED
    assert "every paired rating is the same" in str(mean_alpha([lone, alike], [clusters] * 2).reason)
    with pytest.raises(ValueError, match="shorter"):
        mean_alpha([alike, alike], [clusters])


# --- the difference of two --------------------------------------------------------------------------------


def difference(table: np.ndarray, other: np.ndarray, level: Any, **options: Any) -> Any:
    sides = parse_ratings(table), parse_ratings(other)
    return mean_alpha_difference([sides], [Clusters(DOCUMENTS)], level, **options)


@pytest.mark.parametrize("level", LEVELS)
def test_a_difference_over_documents_takes_each_unit_that_either_pairs(level: str) -> None:
    """The third document has a single rating on either side, so it is none; the other side knows no 5."""
    table, other = even_table(), np.minimum(even_table(2), 4)
    table[1:, 5] = table[1:, 0] = other[:2, 5] = other[0, 0] = other[1:, 3] = np.nan

    def gap(kept: np.ndarray) -> float:
        return package_alpha(table[:, kept], level) - package_alpha(other[:, kept], level)

    gaps = [gap(place != DOCUMENTS) for place in (0, 1, 3, 4, 5)]
    found = difference(table, other, level)
    wanted = wanted_interval(gap(DOCUMENTS >= 0), gaps)
    assert told(found, ("se", "ci_low", "ci_high")) == pytest.approx(wanted)
    assert (found.details["clusters"], found.details["resampled"]) == (5, "units")


# --- intraclass correlations ------------------------------------------------------------------------------


def two_way(table: np.ndarray, weights: np.ndarray) -> float:
    """ICC(2,1) of a complete table, units x people, whose units count by their weights: the textbook's mean squares."""
    n, k = weights.sum(), table.shape[1]
    middle = (weights @ table).sum() / (n * k)
    between = k * weights @ (table.mean(axis=1) - middle) ** 2
    raters = n * ((weights @ table / n - middle) ** 2).sum()
    error = weights @ ((table - middle) ** 2).sum(axis=1) - between - raters
    bms, jms, ems = between / (n - 1), raters / (k - 1), error / ((n - 1) * (k - 1))
    return float((bms - ems) / (bms + (k - 1) * ems + k * (jms - ems) / n))


@pytest.mark.parametrize(
    ("table", "added", "worth"),
    [
        # 1 to 4 once to thrice each: 4 is the rarest, 1 the commonest
        ([[1, 1], [2, 2], [1, 2], [3, 3], [1, 4]], [[4, 4], [1, 4]], 0.3),
        # 1 from both in four units of six: skewed
        ([[1, 1], [1, 1], [1, 1], [1, 1], [1, 2], [2, 2]], [[2, 2], [1, 2]], 0.6),
    ],
)
def test_intraclass_intervals_have_two_units_more(
    table: list[list[float]], added: list[list[float]], worth: float
) -> None:
    """One that all give the rarest score and one split between it and the commonest: without each of all units."""
    units = np.array(table + added, dtype=float)
    weights = np.array([1.0] * len(table) + [worth, worth])
    without = [two_way(units, np.where(np.arange(len(units)) == k, 0, weights)) for k in range(len(units))]
    wanted = wanted_interval(two_way(units, weights), without)
    found = icc(np.array(table, dtype=float).T, clusters=range(len(table)))["ICC(2,1)"]
    point = two_way(np.array(table, dtype=float), np.ones(len(table)))
    assert found == pytest.approx(point)
    assert found.se == pytest.approx(wanted["se"])
    assert found.ci_low == pytest.approx(min(wanted["ci_low"], point))
    assert found.ci_high == pytest.approx(max(wanted["ci_high"], point))
    assert found.details["interval_kind"] == "jackknife over units, t, with two units added"
    assert found.details["clusters"] == len(table)


def test_intraclass_intervals_leave_out_documents_with_all_their_units() -> None:
    table = even_table()
    whole, found = icc(table), icc(table, clusters=DOCUMENTS)
    for form, value in whole.items():
        assert found[form] == pytest.approx(value)
        names = ("clusters", "resampled", "confidence", "n_units", "replicates")
        assert tuple(told(found[form], names).values()) == (6, "units", 0.95, 11, 8)
        assert found[form].p_value == value.p_value and "bias" not in found[form].details
        assert found[form].ci_low < value < found[form].ci_high
