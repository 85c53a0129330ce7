"""Model against people: correlations, tests of two judges, the alt-test, prediction-powered means."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from coeval.extensions.judge.runtime.system_differences import powered_mean
from coeval.stats import (
    correlation_difference,
    correlations,
    williams_test,
)
from coeval.stats.clusters import Clusters, fisher_interval
from coeval.stats.judges.alternative_annotator import _p_value as p_value_of
from tests.support.studies.alt_labels import alt_test

# --- correlations -----------------------------------------------------------------------------------------


def test_a_correlations_interval_is_that_of_fishers_scale_by_hand() -> None:
    """atanh of .5 is .549306, of .4, .5 and .9 without each of three .423649, .549306 and 1.472219.

    Their mean is .815058, the squares about it .153201, .070624 and .431851, the bias 2 x .265752; t of 2 degrees of
    freedom is 4.302653.
    """
    z, without = 0.5493061, np.array([0.4236489, 0.5493061, 1.4722195])
    se = math.sqrt(2 / 3 * (0.1532011 + 0.0706238 + 0.4318512))
    lower = z - 0.75 * 2 * (without.mean() - z) - 4.3026527 * se
    found = fisher_interval(0.5, np.array([0.4, 0.5, 0.9]), "documents")
    assert found["ci_low"] == pytest.approx(math.tanh(lower), abs=1e-5)
    assert found["ci_high"] == pytest.approx(math.tanh(z + 4.3026527 * se), abs=1e-5)
    assert found["se"] == pytest.approx(0.3055050)  # on the scale of the correlation, as by hand elsewhere
    assert found["interval_kind"] == "jackknife over documents, t, on Fisher's scale"
    whole = fisher_interval(1.0, np.array([1.0, 1.0, 0.9]), "documents")
    assert -1 < whole["ci_low"] < 1 and whole["ci_high"] == 1


def test_system_level_speaks_of_as_many_documents() -> None:
    """The spread of tau over documents drawn anew, each draw put together document by document."""
    rng = np.random.default_rng(4)
    human, model = (rng.integers(1, 6, (6, 5)).astype(float) for _ in range(2))
    document, system = (place.ravel() for place in np.indices((6, 5)))
    found = correlations(human.ravel(), model.ravel(), document, system, document).system.kendall
    times = np.random.default_rng(6).multinomial(6, np.full(6, 1 / 6), 300)
    taus = [
        scipy_stats.kendalltau(
            *(np.round(np.repeat(side, draw, axis=0).mean(axis=0), 9) for side in (human, model))
        )[0]
        for draw in times
    ]
    half = scipy_stats.t.ppf(0.975, 5) * np.nanstd(taus, ddof=1)
    assert found.ci_low == pytest.approx(max(-1, float(found) - half))
    assert found.ci_high == pytest.approx(min(1, float(found) + half))
    assert found.details["interval_kind"] == "bootstrap over units, t, of as many units"


def test_missing_scores_are_left_out_pairwise() -> None:
    found = correlations([1, 2, 3, 4, None], [1, 3, None, 4, 5], system=["a", "b", "c", "d", "e"])
    assert found.dataset.n == 3 and found.system.n_groups == 3


def test_undefined_levels_say_why() -> None:
    found = correlations([3, 3, 3], [1, 2, 3], ["a", "a", "a"], ["x", "y", "y"])
    assert found.dataset.pearson.reason == "the people gave every item the same score"
    assert found.document.groups_skipped == 1 and "one score only" in found.document.kendall.reason
    assert "2 systems are too few" in found.system.spearman.reason
    with pytest.raises(ValueError, match="human has 2 scores and model 3"):
        correlations([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="document names 1"):
        correlations([1, 2], [1, 2], ["a"])


# --- tests of two judges ----------------------------------------------------------------------------------


def test_williams_is_antisymmetric_and_undefined_for_equal_judges() -> None:
    one, other = williams_test(0.6, 0.4, 0.5, 50), williams_test(0.4, 0.6, 0.5, 50)
    assert one.t == -other.t and one.p_two_sided == other.p_two_sided
    assert "agree perfectly" in williams_test(0.5, 0.5, 1.0, 50).reason
    assert "opposites" in williams_test(0.5, -0.5, -1.0, 50).reason
    assert "too few" in williams_test(0.5, 0.4, 0.3, 3).reason
    with pytest.raises(ValueError, match="r13 is 2"):
        williams_test(0.5, 2, 0.3, 30)


def test_the_difference_of_two_correlations_sees_a_clear_difference_and_no_difference() -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(size=150)
    good, bad = human + rng.normal(size=150) * 0.3, human + rng.normal(size=150) * 2
    found = correlation_difference(human, good, bad, Clusters(np.arange(150)))
    assert found.ci_low > 0 and found.p_value < 0.01
    assert found == pytest.approx(np.corrcoef(human, good)[0, 1] - np.corrcoef(human, bad)[0, 1])
    assert correlation_difference(human, bad, bad, Clusters(np.arange(150))) == 0


# --- the alternative annotator test -----------------------------------------------------------------------


def alt_test_by_definition(model: dict, people: dict, epsilon: float) -> tuple[list[float], float]:
    """Straight from the paper, one person and item at a time."""

    def closeness(label: float, others: list[float]) -> float:
        return -math.sqrt(np.mean([(label - other) ** 2 for other in others]))

    p_values, advantages = [], []
    for person, labels in people.items():
        wins = []
        for item, label in labels.items():
            others = [people[o][item] for o in people if o != person and item in people[o]]
            if others and item in model:
                of_model, of_person = closeness(model[item], others), closeness(label, others)
                wins.append((of_model >= of_person - 1e-12, of_person >= of_model - 1e-12))
        d = np.array([float(h) - float(m) for m, h in wins])
        p_values.append(float(scipy_stats.ttest_1samp(d, epsilon, alternative="less").pvalue))
        advantages.append(np.mean([m for m, _ in wins]))
    return p_values, float(np.mean(advantages))


def people_of(rng: np.random.Generator, n_people: int = 4, items: int = 60, kept: float = 0.8) -> Any:
    truth = rng.normal(3, 1, items)
    table = np.clip(np.round(truth + rng.normal(0, 0.7, (n_people, items))), 1, 5)
    people = {
        f"p{k}": {i: float(table[k, i]) for i in range(items) if rng.random() < kept} for k in range(n_people)
    }
    return {i: float(np.clip(np.round(truth[i] + rng.normal(0, 0.5)), 1, 5)) for i in range(items)}, people


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000))
def test_alt_test_by_definition_with_people_on_different_items(seed: int) -> None:
    model, people = people_of(np.random.default_rng(seed))
    wanted, advantage = alt_test_by_definition(model, people, 0.15)
    found = alt_test(model, people, 0.15)
    assert found.p_values == pytest.approx(wanted) and found.advantage_probability == pytest.approx(advantage)
    assert found.winning_rate == np.mean(found.rejected)


def test_alt_test_ties_survive_rounding_errors() -> None:
    """Model and person equally far (0.1 + 0.2 against 0.3): a tie counts for both."""
    people = {p: {i: 0.3 for i in range(50)} for p in "ab"} | {"c": {i: 0.1 + 0.2 for i in range(50)}}
    found = alt_test({i: 0.3 for i in range(50)}, people, 0.1)
    assert found.advantages == [1.0, 1.0, 1.0] and found.passed


def test_alt_test_needs_people_and_items() -> None:
    model, people = people_of(np.random.default_rng(0), items=60, kept=1)
    two = {name: people[name] for name in list(people)[:2]}
    assert "2 people are too few" in alt_test(model, two, 0.1).reason
    assert "nobody shares 30 items" in alt_test({i: model[i] for i in range(20)}, people, 0.1).reason
    some = people | {"late": {i: 3.0 for i in range(10)}}
    assert alt_test(model, some, 0.1).people_left_out == ["late"]


@pytest.mark.slow
def test_systems_with_equal_means_are_tied_whatever_their_floats_say() -> None:
    """Exact fractions of the people's whole scores against means of floats, in 500 small studies."""
    ties = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        scores, system = rng.integers(1, 4, (3, 12)), np.arange(12) % 4
        model = rng.integers(1, 4, 12)
        exact = [sum(Fraction(int(s), 3) for s in scores[:, system == k].ravel()) / 3 for k in range(4)]
        judged = [sum(Fraction(int(s)) for s in model[system == k]) / 3 for k in range(4)]
        ranks = [[sorted(set(side)).index(value) for value in side] for side in (exact, judged)]
        found = correlations(scores.mean(axis=0), model, system=[f"s{k}" for k in system]).system.kendall
        wanted = scipy_stats.kendalltau(*ranks).statistic
        ties += len(set(exact)) < 4
        assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True), seed
    assert ties > 50


# --- corrected means, and documents of unequal size ---------------------------------------------------------


def test_a_corrected_mean_is_the_plain_one_where_the_judge_is_of_no_use() -> None:
    """The variance of 1 to 5 is 2.5, and that of their mean a fifth."""
    labels, judge = np.arange(1.0, 6.0), np.array([3.0, 1.0, 3.0, 1.0, 3.0])
    for rest in ([1.0, 3.0, 3.0, 1.0, 1.0], [3.0]):
        assert powered_mean(labels, judge, np.array(rest)) == pytest.approx((3, math.sqrt(2.5 / 5)))


def test_the_error_of_a_corrected_mean_is_that_of_its_values_and_never_above_the_plain_one() -> None:
    """The judge's 40 other scores add two thirds of the variance of 20 labels, over 300 studies."""
    rng, values, errors = np.random.default_rng(5), [], []
    for _ in range(300):
        labels = rng.normal(3, 1, 60)
        judge = 0.9 * labels + rng.normal(0, 0.2, 60)
        value, se = powered_mean(labels[:20], judge[:20], judge[20:])
        assert se <= scipy_stats.sem(labels[:20])
        values.append(value)
        errors.append(se)
    assert np.mean(values) == pytest.approx(3, abs=0.03)
    assert np.mean(np.square(errors)) == pytest.approx(np.var(values), rel=0.25)


def test_the_alt_test_counts_unequal_documents_for_what_they_tell() -> None:
    """Documents of 1, 2, 3 and 6 items: 144 / 50 = 2.88 documents of equal size carry as much; by hand from there."""
    place = np.repeat(np.arange(4), [1, 2, 3, 6])
    d = np.array([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], dtype=float)
    # means 1, 0, 1/3 and 0 about 1/6
    between = ((5 / 6) ** 2 + 2 / 36 + 3 / 36 + 6 / 36) / 3
    within = 2 / 3 / 8
    size = (12 - 50 / 12) / 3
    likeness = (between - within) / (between + (size - 1) * within)
    error = (1 - likeness) * (1 + (size - 1) * likeness) * math.sqrt(2 / (size * (size - 1) * 3))
    likeness = min(likeness + 0.75 * error, 1.0)
    effect = 1 + likeness * (50 / 12 - 1)
    # Tango: with no d of -1 the likeliest share of them is 0, or what the root leaves
    b = 2 * 0.8 + 0.4 * (2 - 12)
    share = (b + abs(b)) / 48
    expected = (2 * share + 0.2 - 0.04) / 12
    t = (2 / 12 - 0.2) / math.sqrt(effect * expected)
    assert p_value_of(d, place, 0.2) == pytest.approx(scipy_stats.t.cdf(t, 144 / 50 - 1))
