"""The expected score by hand: where its token is, which tokens count, and when there is none."""

from __future__ import annotations

import math

import pytest

from coeval.domain import Scale, TokenProb
from coeval.llm.protocols.ladder import MAX_PLACES, Expected, expected_score
from coeval.llm.reading.evaluations import read_evaluation

FIVE = Scale(1, 5)
CHANCES = {"4": 0.6, "3": 0.3, "good": 0.1}


def token(text: str, chances: dict[str, float] | None = None) -> TokenProb:
    """A token that is certain, or one with these chances, its own among them."""
    chances = chances or {text: 1.0}
    top = tuple((name, math.log(chance)) for name, chance in chances.items())
    return TokenProb(text, math.log(chances[text]), top)


def expected(*tokens: TokenProb, scale: Scale = FIVE) -> Expected | None:
    steps = (scale.low, scale.high)
    return expected_score(tokens, scale, lambda text: read_evaluation(text, steps).score)


def test_the_expected_score_is_the_mean_over_the_scales_tokens() -> None:
    """.6 on 4 and .3 on 3 of .9 on the scale: (2.4 + .9) / .9 = 11/3."""
    found = expected(token("Score: "), token("4", CHANCES), token("\nIt is good."))
    assert found is not None
    assert (found.score, found.mass) == pytest.approx((11 / 3, 0.9))
    assert found.probabilities == pytest.approx((0, 0, 1 / 3, 2 / 3, 0))


def test_a_step_may_come_as_several_tokens_with_space_about_them() -> None:
    """.5 and .1 on 4, .2 on 2: (2.4 + .4) / .8 = 3.5."""
    found = expected(token("Score:"), token(" 4", {" 4": 0.5, "4": 0.1, " 2": 0.2}))
    assert found is not None and (found.score, found.mass) == pytest.approx((3.5, 0.8))


def test_the_token_itself_counts_where_the_endpoint_leaves_it_out_of_the_likeliest() -> None:
    given = TokenProb("4", math.log(0.2), (("5", math.log(0.6)),))
    found = expected(token("Score: "), given)
    assert found is not None and (found.score, found.mass) == pytest.approx((3.8 / 0.8, 0.8))


@pytest.mark.parametrize(
    "before", ["There are 4 parts, 4 of them clear.\nScore: ", "Scale 1-5, where 4 is good.\nRating: "]
)
def test_the_scores_token_is_the_one_that_the_reading_follows(before: str) -> None:
    """Every 4 of the words before is a token of its own, certain; only that of the verdict has the chances."""
    head, *rest = before.split("4")
    words = [token(head), *(part for after in rest for part in (token("4"), token(after)))]
    found = expected(*words, token("4", CHANCES))
    assert found is not None and found.score == pytest.approx(11 / 3)


def test_the_highest_step_is_exchanged_for_another_one() -> None:
    found = expected(token("Score: "), token("5", {"5": 0.75, "1": 0.25}))
    assert found is not None and found.score == pytest.approx(4)


def test_rounding_takes_no_mass_above_one() -> None:
    found = expected(token("Score: "), token("4", {"4": 0.7, " 4": 0.7}))
    assert found is not None and found.mass == 1.0 and found.score == pytest.approx(4)


@pytest.mark.parametrize(
    "tokens",
    [
        (token("Score: "), token("four")),  # no token of the scale
        (token("Score: "), token("3"), token("."), token("5")),  # the score is no step
        (token("I cannot rate this.")),
        (token("Score: "), token("4"), token(" Score: "), token("4")),  # either alone contradicts the other
        (),
    ],
)
def test_without_a_single_token_of_the_score_there_is_none(tokens: tuple[TokenProb, ...] | TokenProb) -> None:
    given = tokens if isinstance(tokens, tuple) else (tokens,)
    assert expected(*given) is None


def test_a_scale_of_one_step_has_no_expected_score() -> None:
    assert expected(token("Score: "), token("3"), scale=Scale(3, 3)) is None


def test_a_token_that_cannot_be_has_no_expected_score() -> None:
    assert expected(token("Score: "), TokenProb("4", -math.inf)) is None


def test_only_the_last_places_are_tried() -> None:
    many = [token("4") if k % 2 else token(" of ") for k in range(2 * MAX_PLACES)]
    verdict = token("Score: "), token("4", CHANCES), token("\nIt has ")
    assert expected(*verdict, *many[:-2]) is not None
    assert expected(*verdict, *many) is None
