"""Components of variance by hand, and what each says where it is undefined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from coeval.stats import icc
from coeval.stats.agreement.components import PEOPLE, variance_components
from coeval.stats.agreement.icc import FORMS
from coeval.stats.clusters import INSTANCES, Clusters, jackknife_interval

JUDGES = np.array(
    [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], dtype=float
)
"""Shrout and Fleiss's: mean squares 11.2417 of targets, 32.4861 of judges, 1.0194 of the rest."""

# --- components of variance -------------------------------------------------------------------------------


def test_components_by_hand_and_how_dependable_means_of_people_are() -> None:
    """(11.2417 - 1.0194) / 4 of items, (32.4861 - 1.0194) / 6 of people; phi(k) is item / (item + others / k)."""
    found = variance_components(JUDGES)
    item, person, rest = 2.555556, 5.244444, 1.019444
    assert (found.item, found.person, found.residual) == pytest.approx((item, person, rest), abs=1e-6)
    assert (found.n_items, found.n_people) == (6, 4)
    wanted = {k: item / (item + (person + rest) / k) for k in PEOPLE}
    assert found.phi == pytest.approx(wanted, abs=1e-6)


def test_components_of_a_finer_scale_are_in_its_own_squared_points() -> None:
    whole, fine = variance_components(JUDGES, (1, 4)), variance_components(JUDGES / 10, (1, 4))
    assert fine.phi == pytest.approx(whole.phi)
    parts = [(found.item, found.person, found.residual) for found in (whole, fine)]
    assert np.array(parts[1]) * 100 == pytest.approx(np.array(parts[0]))


def test_a_component_is_never_negative() -> None:
    """[[1, 2], [2, 1]]: no mean of an item or a person differs, so all there is, 1 point squared, is the rest."""
    found = variance_components([[1, 2], [2, 1]], people=(1, 3))
    assert (found.item, found.person, found.residual) == pytest.approx((0, 0, 1))
    reasons = {str(phi.reason) for phi in found.phi.values()}
    assert list(found.phi) == [1, 3] and reasons == {"the items' means do not differ by more than chance"}


@pytest.mark.parametrize(
    ("ratings", "items", "people", "reason"),
    [
        ([[1, 2], [2, None]], 1, 2, "fewer than two units have two ratings"),
        ([[1, 2]], 0, 0, "fewer than two units have two ratings"),
        (
            [[1, 2, None, None], [1, 3, None, None], [None, None, 1, 2], [None, None, 2, 2]],
            4,
            4,
            "share no unit",
        ),
        ([[1, 2, 1], [None, 2, None], [1, None, None]], 2, 3, "too few ratings"),
    ],
)
def test_undefined_components_say_why(ratings: Any, items: int, people: int, reason: str) -> None:
    found = variance_components(ratings)
    parts = [found.item, found.person, found.residual, *found.phi.values()]
    assert all(math.isnan(part) and reason in str(part.reason) for part in parts)
    assert (found.n_items, found.n_people, tuple(found.phi)) == (items, people, PEOPLE)


UNEVEN = np.array([[1, 2, 4, 4, 5, 2, 3, 1], [2, 2, 5, 5, 4, 1, 3, 2], [1, 3, 4, 5, 5, 3, 4, 2]], dtype=float)
ALONE = Clusters(np.arange(8), INSTANCES)


def test_the_intervals_of_items_and_the_rest_are_jackknives_on_the_log_scale() -> None:
    found, bare = variance_components(UNEVEN, clusters=ALONE), variance_components(UNEVEN)
    without = [variance_components(np.delete(UNEVEN, place, axis=1)) for place in range(8)]
    for name in ("item", "residual"):
        logs = np.log([float(getattr(part, name)) for part in without])
        spread = jackknife_interval(math.log(getattr(bare, name)), logs, INSTANCES)
        value = getattr(found, name)
        assert value == getattr(bare, name)
        assert value.ci == pytest.approx((math.exp(spread["ci_low"]), math.exp(spread["ci_high"])))
        assert (value.interval_kind, value.clusters) == (
            "jackknife over instances, t, on the log scale",
            8,
        )


def test_the_interval_of_two_people_is_that_of_their_difference() -> None:
    """Half the squared difference of two people's means is what varies between them; t is the difference by its error.

    The limits are the differences with which |t| would be as large, or as small, in 2.5% of studies.
    """
    for apart in (3.0, 300.0):
        pair = UNEVEN[1:] - np.array([[0.0], [apart]])
        gap = pair[0] - pair[1]
        error = gap.std(ddof=1) / math.sqrt(8)
        found = variance_components(pair, clusters=ALONE).person
        low, high = (math.sqrt(2 * end) / error for end in found.ci)
        t = scipy_stats.t(7)
        beyond = [t.sf(gap.mean() / error - d) + t.cdf(-gap.mean() / error - d) for d in (low, high)]
        assert beyond == pytest.approx([0.025, 0.975], abs=1e-4)


def test_people_who_hardly_differ_may_not_differ_at_all() -> None:
    """Their component is 0 by chance: the interval begins at 0, and says how large it may be."""
    found = variance_components(UNEVEN[:2], clusters=ALONE).person
    assert found.ci_low == 0 < found.ci_high and "noncentral chi-squared" in found.interval_kind


def test_a_component_at_its_boundary_has_no_interval_and_says_so() -> None:
    """No mean of an item differs; without the fourth item nothing is left of the rest, and two items tell nothing."""
    flat = variance_components([[1, 2, 1, 2], [2, 1, 2, 1]], clusters=Clusters(np.arange(4), INSTANCES))
    assert flat.item == 0 and math.isnan(flat.item.ci[0])
    assert flat.item.no_interval == "the estimate is 0, the lowest possible value"
    near = variance_components([[1, 2, 3, 4], [1, 2, 3, 5]], clusters=Clusters(np.arange(4), INSTANCES))
    assert near.residual > 0 and math.isnan(near.residual.ci[0])
    assert near.residual.no_interval == "the estimate is 0 without some of the instances"
    nearly = variance_components(
        [[1, 2, 3, 4, 1.02], [1, 2, 3, 5, 1]], clusters=Clusters(np.arange(5), INSTANCES)
    )
    assert nearly.residual.no_interval == "the estimate is nearly 0 without some of the instances"
    same = variance_components([[1, 2, 3, 4], [2, 3, 4, 5]], clusters=Clusters(np.arange(4), INSTANCES))
    assert (
        same.person.no_interval == "the differences between people are the same without any of the instances"
    )
    one = variance_components([[1, 2, 3], [1, 3, 3]], clusters=Clusters(np.zeros(3, dtype=int), INSTANCES))
    assert one.item.no_interval == "there are fewer than two instances to leave out"


def test_variance_of_words_is_refused() -> None:
    for statistic in (variance_components, icc):
        with pytest.raises(ValueError, match="needs numbers, but the ratings hold 'high'"):
            statistic([["low", "high"], ["low", "low"]])


# --- intraclass correlations ------------------------------------------------------------------------------


def test_the_forms_say_from_how_much_they_come() -> None:
    whole, part = icc(JUDGES, confidence=0.9), icc([[1, 2, 3, 4], [1, 3, 3, None], [2, 2, None, None]])
    names = ("n", "n_units", "n_annotators", "k", "complete", "confidence")
    assert list(whole) == list(part) == list(FORMS)
    for form in FORMS:
        assert {name: whole[form].details[name] for name in names} == dict(
            zip(names, (6, 6, 4, 4.0, True, 0.9), strict=True)
        )
        assert {name: part[form].details[name] for name in names} == dict(
            zip(names, (3, 3, 3, 8 / 3, False, 0.95), strict=True)
        )


def test_no_unit_with_two_ratings_leaves_every_form_undefined() -> None:
    for form in icc([[1, 2, 3]]).values():
        assert form.reason == "fewer than two units have two ratings" and form.n == 0


def test_the_limits_of_one_way_by_hand() -> None:
    """F = 11.2417 / 6.2639 with 5 and 18 degrees of freedom; table 4's quantiles: (5, 18) 3.3820, (18, 5) 6.3619."""
    one = icc(JUDGES).icc11
    low, high = 1.794678 / 3.381968, 1.794678 * 6.361867
    assert one.f == pytest.approx(1.794678, abs=1e-5) and (one.df1, one.df2) == (5, 18)
    assert one.ci == pytest.approx(((low - 1) / (low + 3), (high - 1) / (high + 3)), abs=1e-5)


def test_the_interval_of_icc2k_is_that_of_icc21_stepped_up() -> None:
    """Below -1 / (k - 1), which is -1 of two people, there is no lower bound."""
    for table in (JUDGES, np.vstack([JUDGES[0, ::-1], JUDGES[1:]])):
        found = icc(table)
        stepped = [4 * end / (1 + 3 * end) for end in found.icc21.ci]
        assert found.icc2k.ci == pytest.approx(stepped)
    assert found.icc21.ci_low < 0
    against = icc([[1, 2, 3], [3, 1, 2]])
    high = against.icc21.ci_high
    assert against.icc21.ci_low < -1 and against.icc2k.ci == pytest.approx((-math.inf, 2 * high / (1 + high)))


def test_a_finer_scale_and_one_far_from_nought_have_the_same_correlations() -> None:
    whole = icc(JUDGES)
    for found in (icc(JUDGES / 100), icc(JUDGES + 1e8)):
        for form in FORMS:
            assert found[form] == pytest.approx(whole[form], abs=1e-6)
            assert found[form].ci == pytest.approx(whole[form].ci, abs=1e-6)
            assert found[form].details["p_value"] == pytest.approx(whole[form].details["p_value"], abs=1e-9)
    assert whole.icc11.p_value == pytest.approx(scipy_stats.f.sf(1.794678, 5, 18), abs=1e-6)
    assert whole.icc21.p_value == pytest.approx(scipy_stats.f.sf(11.027248, 5, 15), abs=1e-6)


def test_people_who_agree_in_all_have_correlations_of_one_and_such_limits() -> None:
    found = icc([[1, 2, 2], [1, 2, 2]])
    assert found.icc11 == found.icc21 == 1 and found.icc11.ci == (1, 1) and found.icc11.f == math.inf


def test_people_who_always_differ_correlate_by_minus_one_and_have_no_mean() -> None:
    """[[1, 2], [2, 1]]: nothing between the units, half a point squared within each; (0 - 1/2) / (0 + 1/2)."""
    found = icc([[1, 2], [2, 1]])
    assert (found.icc11, found.icc11.f) == pytest.approx((-1, 0))
    assert math.isnan(found.icc2k) and found.icc2k.reason == "the units' means do not vary"


def test_ratings_all_the_same_have_no_correlation() -> None:
    found = icc([[2, 2, 2], [2, 2, 2]])
    for form in FORMS:
        assert math.isnan(found[form]) and found[form].reason == "every rating is the same"


def test_people_who_differ_by_the_same_everywhere_did_not_all_rate_the_same() -> None:
    """[[1, 1], [2, 2]]: one way the half a point within each unit is all; two ways it is the people's."""
    found = icc([[1, 1], [2, 2]])
    assert found.icc11 == -1
    assert (found.icc21, found.icc2k) == (0, 0)


def test_the_rest_of_an_uneven_table_is_that_of_least_squares() -> None:
    """Scores less a term for each item and one for each person, over the ratings less the terms that are free."""
    nan = np.nan  # the third rated nothing and the last one item; two items have one rating each
    table = np.array([[1, 2, 4, 4, 5, 2], [2, 2, 5, nan, 4, nan], [nan] * 6, [3, *[nan] * 5]])
    rated = np.isfinite(table)
    person, item = np.nonzero(rated & (rated.sum(axis=0) > 1))
    terms = np.hstack([np.eye(6)[item], np.eye(4)[person]])
    fitted, _, rank, _ = np.linalg.lstsq(terms, table[person, item], rcond=None)
    rest = ((table[person, item] - terms @ fitted) ** 2).sum() / (len(item) - rank)
    found = variance_components(table)
    assert found.residual == pytest.approx(rest) and found.residual > 0
    assert (found.n_items, found.n_people) == (4, 3)
    assert icc(table).icc21 == pytest.approx(icc(table[[0, 1, 3]]).icc21)
    assert icc(table).icc21.details["n_annotators"] == 3
