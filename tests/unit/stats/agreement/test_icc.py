"""Intraclass correlations by hand, and what each says where it is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from coeval.stats import icc
from coeval.stats.agreement.icc import FORMS

JUDGES = np.array(
    [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], dtype=float
)
"""Shrout and Fleiss's: mean squares 11.2417 of targets, 32.4861 of judges, 1.0194 of the rest."""


def test_variance_of_words_is_refused() -> None:
    with pytest.raises(ValueError, match="needs numbers, but the ratings hold 'high'"):
        icc([["low", "high"], ["low", "low"]])


def test_the_forms_say_from_how_much_they_come() -> None:
    whole, part = icc(JUDGES), icc([[1, 2, 3, 4], [1, 3, 3, None], [2, 2, None, None]])
    names = ("n", "n_units", "n_annotators", "k", "complete", "confidence")
    assert list(whole) == list(part) == list(FORMS)
    for form in FORMS:
        assert {name: whole[form].details[name] for name in names} == dict(
            zip(names, (6, 6, 4, 4.0, True, 0.95), strict=True)
        )
        assert {name: part[form].details[name] for name in names} == dict(
            zip(names, (3, 3, 3, 8 / 3, False, 0.95), strict=True)
        )


def test_no_unit_with_two_ratings_leaves_every_form_undefined() -> None:
    for form in icc([[1, 2, 3]]).values():
        assert form.reason == "fewer than two units have two ratings" and form.n == 0


def test_the_f_of_one_way_by_hand() -> None:
    """F = 11.2417 / 6.2639 with 5 and 18 degrees of freedom."""
    one = icc(JUDGES)["ICC(1,1)"]
    assert one.f == pytest.approx(1.794678, abs=1e-5) and (one.df1, one.df2) == (5, 18)


def test_a_finer_scale_and_one_far_from_nought_have_the_same_correlations() -> None:
    whole = icc(JUDGES)
    for found in (icc(JUDGES / 100), icc(JUDGES + 1e8)):
        for form in FORMS:
            assert found[form] == pytest.approx(whole[form], abs=1e-6)
            assert found[form].ci == pytest.approx(whole[form].ci, abs=1e-6)
            assert found[form].details["p_value"] == pytest.approx(whole[form].details["p_value"], abs=1e-9)
    assert whole["ICC(1,1)"].p_value == pytest.approx(scipy_stats.f.sf(1.794678, 5, 18), abs=1e-6)
    assert whole["ICC(2,1)"].p_value == pytest.approx(scipy_stats.f.sf(11.027248, 5, 15), abs=1e-6)


def test_people_who_agree_in_all_have_correlations_of_one() -> None:
    found = icc([[1, 2, 2], [1, 2, 2]])
    assert found["ICC(1,1)"] == found["ICC(2,1)"] == 1 and found["ICC(1,1)"].f == math.inf


def test_people_who_always_differ_correlate_by_minus_one_and_have_no_mean() -> None:
    """[[1, 2], [2, 1]]: nothing between the units, half a point squared within each; (0 - 1/2) / (0 + 1/2)."""
    found = icc([[1, 2], [2, 1]])
    assert (found["ICC(1,1)"], found["ICC(1,1)"].f) == pytest.approx((-1, 0))
    assert math.isnan(found["ICC(2,k)"]) and found["ICC(2,k)"].reason == "the units' means do not vary"


def test_ratings_all_the_same_have_no_correlation() -> None:
    found = icc([[2, 2, 2], [2, 2, 2]])
    for form in FORMS:
        assert math.isnan(found[form]) and found[form].reason == "every rating is the same"


def test_people_who_differ_by_the_same_everywhere_did_not_all_rate_the_same() -> None:
    """[[1, 1], [2, 2]]: one way the half a point within each unit is all; two ways it is the people's."""
    found = icc([[1, 1], [2, 2]])
    assert found["ICC(1,1)"] == -1
    assert (found["ICC(2,1)"], found["ICC(2,k)"]) == (0, 0)
