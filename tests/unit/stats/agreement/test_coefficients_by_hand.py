"""Weights, kappas and their errors worked out by hand, and what no coefficient may depend on."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from coeval.stats import (
    agreement_weights,
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    two_rater_table,
)

COEFFICIENTS: list[Callable[..., Any]] = [
    gwet_ac,
    fleiss_kappa,
    conger_kappa,
    brennan_prediger,
    percent_agreement,
]

# --- weights ----------------------------------------------------------------------------------------------

WEIGHTS = {
    "identity": ([2, 3, 4], [0, 0]),
    "linear": ([2, 3, 6], [3 / 4, 0]),
    "quadratic": ([2, 3, 6], [15 / 16, 0]),
    "radical": ([0, 1, 4], [1 / 2, 0]),
    "ordinal": ([2, 3, 60], [2 / 3, 0]),  # 1 and 3 pairs of neighbours, whatever the values
    "ratio": ([1, 2, 3], [5 / 9, 0]),  # (1/3)^2 over (2/4)^2
    "bipolar": ([2, 3, 4], [2 / 3, 0]),  # 1 / (1 x 3) over 4 / (2 x 2)
    "circular": ([1, 2, 3], [0, 0]),  # on a circle of three each is as far from each
}
"""Three values, and how much the first agrees with the second and the third."""


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_by_hand(name: str) -> None:
    values, wanted = WEIGHTS[name]
    found = agreement_weights(name, np.array(values, dtype=float))[0]
    assert found.tolist() == pytest.approx([1, *wanted])


@pytest.mark.parametrize("name", ["linear", "quadratic", "ordinal", "radical", "bipolar"])
def test_weights_ignore_a_linear_change_of_the_scale(name: str) -> None:
    values = np.array([1.0, 2, 4, 5])
    assert agreement_weights(name, values / 10 - 3) == pytest.approx(agreement_weights(name, values))


@pytest.mark.parametrize("name", ["ratio", "circular", "bipolar", "linear"])
def test_weights_of_a_scale_about_nought_are_numbers(name: str) -> None:
    weights = agreement_weights(name, np.array([-1.0, 0, 1]))
    assert np.isfinite(weights).all() and np.allclose(np.diag(weights), 1)


def test_weights_of_one_category_are_one() -> None:
    assert agreement_weights("quadratic", np.array([3.0])).tolist() == [[1]]


def test_a_matrix_of_weights_must_fit() -> None:
    with pytest.raises(ValueError, match="must be 2 x 2, .* but are 3 x 3; name all categories"):
        gwet_ac([[1, 2], [1, 2]], weights=np.eye(3))
    with pytest.raises(ValueError, match="need 1 on the diagonal"):
        gwet_ac([[1, 2], [1, 2]], weights=[[0, 1], [1, 0]])


def test_a_matrix_of_agreement_is_what_its_name_gives_in_cohens_kappa() -> None:
    """The table [[2, 1, 0], [0, 1, 1], [1, 0, 2]]: linear disagreement 1 + 1 + 2 of 8 x 2, chance 28 of 64.

    Both margins are 3, 2, 3: over all cells 3 x 2 + 2 x 3 + 2 x 3 + 3 x 2 = 24 one apart, 18 two apart, together
    (24 / 2 + 18) / 64 = 30 / 64; observed (2 / 2 + 1) / 8 = 16 / 64; kappa = 1 - 16 / 30.
    """
    table = [[2, 1, 0], [0, 1, 1], [1, 0, 2]]
    agreement = [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    disagreement = [[0, 3, 6], [3, 0, 3], [6, 3, 0]]
    for weights in (agreement, disagreement, "linear"):
        found = cohen_kappa(table=table, weights=weights)
        assert found == pytest.approx(14 / 30)
        assert (found.pa, found.pe) == pytest.approx((48 / 64, 34 / 64))
    assert two_rater_table(table, disagreement).cohen == pytest.approx(14 / 30)


# --- errors -----------------------------------------------------------------------------------------------


def test_the_interval_of_pi_in_a_small_sample_by_hand() -> None:
    """[[2, 1], [0, 3]]: margins 5/12 and 7/12 in the mean, pe = 74/144 = 37/72, pa = 60/72, pi = 23/35.

    Alpha of six units has pa = (11 x 5/6 + 1) / 12 = 61/72: it is 24/35. The cells w - (1 - pi)(p_i + p_j) are 25/35,
    -12/35 and 21/35 with shares 1/3, 1/6 and 1/2: mean square 2717/6 and mean 101/6, in 35ths; variance 6101/36.
    """
    found = two_rater_table([[2, 1], [0, 3]])
    se = math.sqrt(6101 / 36 / 6) / 35 / (35 / 72)
    assert (found.scott, found.krippendorff) == pytest.approx((23 / 35, 24 / 35))
    assert (found.scott.se, found.krippendorff.se) == pytest.approx((se, se))
    half = 2.5705818 * se  # the .975 quantile of Student's t with 5 degrees of freedom
    assert found.scott.ci == pytest.approx((23 / 35 - half, 1))
    assert found.krippendorff.ci == pytest.approx((24 / 35 - half, 1))
    assert (found.krippendorff.pa, found.krippendorff.pe) == pytest.approx((61 / 72, 37 / 72))
    assert (found.krippendorff.n, found.krippendorff.n_units) == (6, 6)


def test_a_table_of_one_category_has_no_coefficient_but_says_why() -> None:
    found = two_rater_table([[5]])
    assert "only one category" in str(found.cohen.reason) == str(found.krippendorff.reason)


@pytest.mark.parametrize("table", [[[1, 2, 3], [4, 5, 6]], [[1, -1], [0, 2]], [[0, 0], [0, 0]], [1, 2]])
def test_a_table_of_two_raters_is_square_and_counts_something(table: Any) -> None:
    with pytest.raises(ValueError, match="must be square, without negative entries, and not empty"):
        cohen_kappa(table=table)


COUNTS = [[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 1, 2]]
"""Four units of three ratings: half of them the first score, a quarter each of the others."""


def test_the_null_error_of_fleiss_kappa_by_hand() -> None:
    """Fleiss, Nee and Landis 1979: with pq = 1/4, 3/16, 3/16 the sum is 5/8, and sum of pq (q - p) is 3/16.

    Variance 2 (25/64 - 12/64) / (4 x 3 x 2 x 25/64) = 13/300. Agreement 1, 1/3, 0, 1/3 is 5/12 in the mean, chance 3/8:
    kappa = (1/24) / (5/8) = 1/15.
    """
    found = fleiss_kappa(counts=COUNTS)
    assert found == pytest.approx(1 / 15)
    assert found.details["se_null"] == pytest.approx(math.sqrt(13 / 300))
    assert found.details["z"] == pytest.approx(1 / 15 / math.sqrt(13 / 300))
    assert (found.n_units, found.n_annotators, found.n_ratings) == (4, 3, 12)


def test_the_null_error_is_of_the_kappa_without_weights() -> None:
    assert fleiss_kappa(counts=COUNTS, weights=np.eye(3)).details["z"] == fleiss_kappa(counts=COUNTS).z
    assert "z" not in fleiss_kappa(counts=COUNTS, weights="quadratic").details


def test_two_raters_have_a_null_error_and_uneven_units_have_none() -> None:
    """Of two scores it is 2 / (n r (r - 1)) whatever their shares: 2 / (4 x 2) here."""
    assert fleiss_kappa([[1, 1, 2, 2], [1, 2, 2, 2]]).details["se_null"] == pytest.approx(0.5)
    for uneven in ([[1, 2, 2], [1, 1, None]], [[1, 1], [1, 1]], [[1, 2]], [[None], [None]]):
        assert "z" not in fleiss_kappa(uneven).details


@pytest.mark.parametrize("counts", [[1, 2, 3], [[2, -1], [1, 2]], [[1.5, 1.5], [2, 1]]])
def test_counts_are_a_table_of_whole_numbers(counts: Any) -> None:
    with pytest.raises(ValueError, match="table of whole numbers, units x categories"):
        fleiss_kappa(counts=counts)


def test_counts_of_uneven_units_are_as_many_people_as_the_largest_has() -> None:
    found = fleiss_kappa(counts=[[2, 1], [0, 2], [2, 0]])
    assert found == pytest.approx(fleiss_kappa([[1, 2, 1], [1, 2, 1], [2, None, None]]))
    assert found.n_annotators == 3


# --- what nothing depends on ------------------------------------------------------------------------------


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("weights", ["identity", "quadratic"])
def test_people_who_rated_nothing_change_nothing(coefficient: Callable[..., Any], weights: str) -> None:
    table: list[list[float | None]] = [[1, 2, 3, 3, 2], [1, 3, 3, None, 2], [2, 2, 3, 1, None]]
    wanted = coefficient(table, weights=weights)
    found = coefficient([*table, [None] * 5], weights=weights)
    assert found == pytest.approx(wanted) and found.se == pytest.approx(wanted.se)
    assert found.n_annotators == 3


def test_one_person_beside_one_who_rated_nothing_is_too_few_for_congers_kappa() -> None:
    found = conger_kappa([[1, 2, 3], [None] * 3])
    assert found.reason == "fewer than two annotators" and found.n_annotators == 1


ORDER = ["low", "mid", "high"]


@pytest.mark.parametrize(
    "coefficient", [*COEFFICIENTS, partial(krippendorff_alpha, level="nominal"), cohen_kappa]
)
def test_every_coefficient_reads_words_in_the_order_they_are_given(coefficient: Callable[..., Any]) -> None:
    words = [["low", "mid", "high", "low"], ["low", "high", "high", "mid"]]
    numbers = [[ORDER.index(word) for word in row] for row in words]
    found = coefficient(words, weights="linear", value_domain=ORDER)
    wanted = coefficient(numbers, weights="linear")
    assert found == pytest.approx(wanted) and found.pa == pytest.approx(wanted.pa)
    assert found.pa != pytest.approx(coefficient(words, weights="linear").pa)


@pytest.mark.parametrize("coefficient", [gwet_ac, brennan_prediger])
def test_a_category_that_nobody_used_counts_where_it_is_named(coefficient: Callable[..., Any]) -> None:
    """Of ratings of 1 and 2, half agreed: chance is 1/2 of two categories, and less of three."""
    table = [[1, 1, 2, 2], [1, 2, 2, 1]]
    assert coefficient(table).pe == pytest.approx(1 / 2)
    of_three = {gwet_ac: 1 / 4, brennan_prediger: 1 / 3}[coefficient]
    assert coefficient(table, value_domain=[1, 2, 3]).pe == pytest.approx(of_three)


def test_percent_agreement_counts_near_agreement_by_the_weights() -> None:
    """Scores 1 to 3, linear: 1 apart counts a half. Of four units two agree, one is 1 apart and one is 2 apart."""
    table = [[1, 2, 3, 1], [1, 2, 2, 3]]
    assert percent_agreement(table) == pytest.approx(1 / 2)
    assert percent_agreement(table, "linear") == pytest.approx(5 / 8)


def test_percent_agreement_of_one_score_alone_is_certain() -> None:
    found = percent_agreement([[3, 3, 3], [3, 3, None]])
    assert (found, found.se, found.n_units, found.n, found.n_ratings) == (1, 0, 2, 3, 5)
    assert math.isnan(percent_agreement([[3, None], [None, 3]]))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_interval_is_of_the_confidence_asked_for(coefficient: Callable[..., Any]) -> None:
    """Student's t with 7 degrees of freedom: 2.3646243 at 95%, 1.4149239 at 80%."""
    table = [[1, 2, 2, 1, 2, 1, 1, 2], [1, 2, 1, 1, 2, 2, 2, 2]]
    for confidence, quantile in ((0.95, 2.3646243), (0.8, 1.4149239)):
        found = coefficient(table, confidence=confidence)
        assert found - found.ci_low == pytest.approx(quantile * found.se)
        assert found.details["confidence"] == confidence
    assert coefficient(table).ci == coefficient(table, confidence=0.95).ci


# --- what is undefined, and what goes with it -------------------------------------------------------------


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_what_is_undefined_says_why_and_from_how_much(coefficient: Callable[..., Any]) -> None:
    found = coefficient([[3, None, 1], [None, 2, None]])
    assert found.reason == "no unit has ratings by two annotators"
    assert (found.n_units, found.n_ratings, found.n_annotators) == (0, 3, 2)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, conger_kappa])
def test_one_score_alone_of_several_that_are_admitted_leaves_no_room_beyond_chance(
    coefficient: Callable[..., Any],
) -> None:
    found = coefficient([[1, 1, 1], [1, 1, None]], value_domain=[1, 2])
    assert "only one category was used" in str(found.reason)
    assert (found.n_units, found.n_ratings) == (2, 5)


def test_weighted_alpha_says_why_it_is_undefined() -> None:
    alpha = partial(krippendorff_alpha, weights="linear")
    assert alpha([[3, None], [None, 2]]).reason == "no unit has ratings by two annotators"
    assert "only one category" in str(alpha([[1, 1], [1, 1]], value_domain=[1, 2]).reason)


def test_a_coefficient_says_how_many_units_and_ratings_it_saw() -> None:
    """Three units were rated, two of them twice; the fourth by nobody."""
    found = gwet_ac([[1, 2, 1, None], [1, 1, None, None]])
    told = {
        name: found.details[name] for name in ("n", "n_units", "n_ratings", "n_annotators", "n_categories")
    }
    assert told == {"n": 3, "n_units": 2, "n_ratings": 5, "n_annotators": 2, "n_categories": 2}


def test_one_unit_has_a_coefficient_without_an_error_and_two_have_one() -> None:
    """Two units, one agreed: percent .5, influences +-.5, error sqrt(.5 / (2 x 1)) = .5."""
    assert math.isnan(percent_agreement([[1], [2]]).se)
    assert percent_agreement([[1, 1], [2, 1]]).se == pytest.approx(0.5)


def test_percent_agreement_beside_alpha_of_more_values_than_fit_a_table() -> None:
    """Of 50 units of three ratings, 10 all alike, 15 with two of three alike: (10 + 15 / 3) / 50 = .3."""
    table = np.arange(150.0).reshape(3, 50)
    table[1:, :10] = table[0, :10]
    table[1, 10:25] = table[0, 10:25]
    assert krippendorff_alpha(table, "nominal").percent_agreement == pytest.approx(0.3)


def test_the_p_value_of_agreement_below_chance_is_two_sided() -> None:
    """The table [[1, 4], [3, 2]]: kappa is negative, so the tail above it is more than half."""
    found = cohen_kappa(table=[[1, 4], [3, 2]])
    above = scipy_stats.t.sf(found / found.se, 9)
    assert found < 0 and above > 0.5
    assert found.details["p_one_sided"] == pytest.approx(above)
    assert found.p_value == pytest.approx(2 * (1 - above))
    assert found.details["interval_kind"] == "linearised over units, t"
    assert cohen_kappa(table=[[4, 1], [2, 3]]).p_value == pytest.approx(
        2 * cohen_kappa(table=[[4, 1], [2, 3]]).details["p_one_sided"]
    )


def test_certain_agreement_has_no_error_and_one_unit_has_no_interval() -> None:
    certain, one = cohen_kappa(table=[[4, 0], [0, 3]]), gwet_ac([[1], [2]])
    assert (certain, certain.se, certain.p_value, certain.ci) == (1, 0, 0, (1, 1))
    assert math.isnan(one.se) and np.isnan(one.ci).all() and math.isnan(one.p_value)
    two = percent_agreement([[1, 1], [2, 1]])
    assert two.ci_low == pytest.approx(0.5 - 12.7062047 * 0.5)  # t with one degree of freedom


CORRECTED: dict[str, Callable[..., float]] = {
    "conger": conger_kappa,
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac,
    "ac2": partial(gwet_ac, weights="quadratic"),
    "brennan_prediger": brennan_prediger,
    "alpha": krippendorff_alpha,
}


@pytest.mark.parametrize("name", CORRECTED)
def test_constant_scores_never_agree_beyond_chance(name: str) -> None:
    """However many people: six shares of a sixth do not sum to 1 exactly, and Conger's kappa of six was 1.00."""
    told = {
        people: str(CORRECTED[name](np.full((people, 10), 3.0), value_domain=[1, 2, 3, 4, 5]))
        for people in range(2, 40)
    }
    assert all("undefined" in text for text in told.values()), told


def test_constant_scores_agree_in_all_of_their_pairs() -> None:
    assert percent_agreement(np.full((6, 10), 3.0), value_domain=[1, 2, 3, 4, 5]) == 1
    table = two_rater_table([[7, 0], [0, 0]])
    assert table.percent == 1
    assert not any(
        table[name].defined for name in ("cohen", "scott", "gwet", "brennan_prediger", "krippendorff")
    )
