"""Weights and kappas worked out by hand, and what no coefficient may depend on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from coeval.stats import fleiss_kappa, gwet_ac, krippendorff_alpha, percent_agreement
from coeval.stats.agreement.coefficients import agreement_weights
from coeval.stats.agreement.two_raters import pair_tables
from coeval.stats.rating_matrix import parse_ratings
from tests.support.studies.rated import rate_on

COEFFICIENTS: list[Callable[..., Any]] = [gwet_ac, fleiss_kappa, percent_agreement]

WEIGHTS = {
    "identity": ([2, 3, 4], [0, 0]),
    "linear": ([2, 3, 6], [3 / 4, 0]),
    "quadratic": ([2, 3, 6], [15 / 16, 0]),
    "ordinal": ([2, 3, 60], [2 / 3, 0]),  # 1 and 3 pairs of neighbours, whatever the values
}
"""Three values, and how much the first agrees with the second and the third."""


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_by_hand(name: str) -> None:
    values, wanted = WEIGHTS[name]
    weights = agreement_weights(name, np.array(values, dtype=float))
    assert weights[0].tolist() == pytest.approx([1, *wanted])
    assert np.allclose(weights, weights.T) and np.allclose(np.diag(weights), 1)
    shifted = agreement_weights(name, np.array(values) / 10 - 3)
    assert shifted == pytest.approx(weights)
    assert agreement_weights(name, np.array([3.0])).tolist() == [[1]]


def test_weighted_kappa_by_hand() -> None:
    """The table [[2, 1, 0], [0, 1, 1], [1, 0, 2]]: linear disagreement 1 + 1 + 2 of 8 x 2, chance 28 of 64.

    Both margins are 3, 2, 3: over all cells 3 x 2 + 2 x 3 + 2 x 3 + 3 x 2 = 24 one apart, 18 two apart, together
    (24 / 2 + 18) / 64 = 30 / 64; observed (2 / 2 + 1) / 8 = 16 / 64; kappa = 1 - 16 / 30.
    """
    first, second = [1, 1, 1, 2, 2, 3, 3, 3], [1, 1, 2, 2, 3, 1, 3, 3]
    (block,) = pair_tables(parse_ratings([first, second]))
    assert block.kappas("linear") == pytest.approx(14 / 30)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_people_who_rated_nothing_change_nothing(coefficient: Callable[..., Any]) -> None:
    table: list[list[float | None]] = [[1, 2, 3, 3, 2], [1, 3, 3, None, 2], [2, 2, 3, 1, None]]
    wanted, found = coefficient(table), coefficient([*table, [None] * 5])
    assert found == pytest.approx(wanted) and found.se == pytest.approx(wanted.se)
    assert found.n_annotators == 3


def test_a_category_that_nobody_used_counts_where_it_is_named() -> None:
    """Of ratings of 1 and 2, half agreed: chance is 1/2 of two categories, and less of three."""
    table = [[1, 1, 2, 2], [1, 2, 2, 1]]
    assert gwet_ac(table).pe == pytest.approx(1 / 2)
    assert gwet_ac(rate_on(table, [1, 2, 3])).pe == pytest.approx(1 / 4)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_what_is_undefined_says_why_and_from_how_much(coefficient: Callable[..., Any]) -> None:
    found = coefficient([[3, None, 1], [None, 2, None]])
    assert found.reason == "no unit has ratings by two annotators"
    assert (found.n_units, found.n_ratings, found.n_units_left_out) == (0, 0, 3)


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, krippendorff_alpha])
def test_a_coefficient_says_how_many_units_and_ratings_it_saw(coefficient: Callable[..., Any]) -> None:
    """Three units were rated, two of them twice; the fourth by nobody. All coefficients count alike."""
    found = coefficient([[1, 2, 1, None], [1, 1, None, None]])
    told = {name: found.details[name] for name in ("n", "n_units", "n_ratings", "n_annotators")}
    assert told == {"n": 2, "n_units": 2, "n_ratings": 4, "n_annotators": 2}


def test_percent_agreement_of_more_values_than_fit_a_table() -> None:
    """Of 50 units of three ratings, 10 all alike, 15 with two of three alike: (10 + 15 / 3) / 50 = .3."""
    table = np.arange(150.0).reshape(3, 50)
    table[1:, :10] = table[0, :10]
    table[1, 10:25] = table[0, 10:25]
    assert krippendorff_alpha(table, "nominal").percent_agreement == pytest.approx(0.3)
    assert percent_agreement(table) == pytest.approx(0.3)


CORRECTED: dict[str, Callable[..., float]] = {
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac,
    "ac2": partial(gwet_ac, weights="quadratic"),
    "alpha": krippendorff_alpha,
}


@pytest.mark.parametrize("name", CORRECTED)
def test_constant_scores_never_agree_beyond_chance(name: str) -> None:
    """However many people: six shares of a sixth do not sum to 1 exactly."""
    told = {
        people: str(CORRECTED[name](rate_on(np.full((people, 10), 3.0), [1, 2, 3, 4, 5])))
        for people in range(2, 40)
    }
    assert all("undefined" in text for text in told.values()), told


def test_constant_scores_agree_in_all_of_their_pairs() -> None:
    assert percent_agreement(rate_on(np.full((6, 10), 3.0), [1, 2, 3, 4, 5])) == 1
    (block,) = pair_tables(rate_on([[1] * 7, [1] * 7], [1, 2]))
    assert np.isnan(block.kappas("identity")).all()
