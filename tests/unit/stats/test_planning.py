"""Planning: the documents that it asks for give what was wanted, and a rule counts what is finished."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coeval.domain.studies import StoppingRule
from coeval.stats.frames import ACTION_COLUMNS, DRAFT_COLUMNS, SCORE_COLUMNS, StudyFrames
from coeval.stats.plan import (
    Finished,
    Wanted,
    betting_interval,
    documents_for_difference,
    documents_for_width,
    follow_rule,
    pilot_of,
    plan_study,
    tell_plan,
    tell_progress,
)
from tests.support.studies.stats_frames import make_frames, simulate_frames


def test_documents_by_hand() -> None:
    # error of one document 0.25, so 0.25 / sqrt(99) x t(98, .975) = 0.0499; with 98 documents it is above .05
    assert documents_for_width(0.05, 25, 0.05).documents == 99
    # (2.093 + 0.861) x 0.4472 / sqrt(20) = 0.295
    assert documents_for_difference(0.1, 20, 0.3).documents == 20
    assert documents_for_width(0.05, 25, 1e-6).documents is None
    assert documents_for_width(0.0, 25, 0.05).documents is None
    with pytest.raises(ValueError, match="above 0"):
        documents_for_width(0.05, 25, 0)


def test_a_study_without_scores_plans_nothing_and_says_so() -> None:
    empty = StudyFrames(
        "t", ["c"], {"c": (1, 5)}, pd.DataFrame({"instance": ["i"], "document": ["d"], "system": ["s"]}),
        pd.DataFrame(columns=list(SCORE_COLUMNS)), pd.DataFrame(columns=list(ACTION_COLUMNS)),
        pd.DataFrame(columns=list(DRAFT_COLUMNS)),
    )  # fmt: skip
    plan = plan_study(pilot_of(empty), Wanted())
    told = " ".join(tell_plan(plan))
    assert plan.alpha.documents is None and "Nobody has scored anything yet" in told
    progress = follow_rule(StoppingRule(0.3, 40, "s", "t"), plan.pilot)
    assert not progress.enough and "no finished document" in progress.reason


@pytest.mark.parametrize(
    ("people", "reason"),
    [("a", "no unit has ratings by two annotators"), ("ab", "every paired rating is the same")],
)
def test_scores_that_cannot_be_compared_are_not_said_to_be_none(people: str, reason: str) -> None:
    rows = [{"annotator": person, "instance": item, "score": 3} for person in people for item in "123"]
    told = " ".join(tell_plan(plan_study(pilot_of(make_frames(rows)), Wanted())))
    assert "Nobody has scored" not in told and told.startswith("So far, 3 instances have scores.")
    assert reason in told and told.endswith("Have two people score the same outputs.")


def test_a_study_is_planned_from_its_scores() -> None:
    pilot = pilot_of(simulate_frames())
    plan = plan_study(pilot, Wanted(width=0.1))
    assert plan.alpha.documents and plan.alpha.low < plan.alpha.documents < plan.alpha.high
    assert pilot.differences
    first = pilot.differences[0]
    rule = StoppingRule(5.0, 20, first.b, first.a)
    progress = follow_rule(rule, pilot)
    assert float(progress.value) == pytest.approx(-float(first.value)) and progress.enough
    assert any("You have enough" in line for line in tell_progress(progress, [rule]))
    unknown = follow_rule(replace(rule, system_a="nobody's"), pilot)
    assert not unknown.enough and "both systems" in unknown.reason


def test_a_plan_from_few_documents_says_first_that_it_is_early() -> None:
    early, *_ = tell_plan(plan_study(pilot_of(simulate_frames(instances=12)), Wanted()))
    assert early.startswith("It is too early to plan: agreement rests on ")
    enough, *_ = tell_plan(plan_study(pilot_of(simulate_frames()), Wanted()))
    assert re.fullmatch(
        r"You need (about \d+|no) more documents: \d+ (in all|reach these goals), and 20 documents have scores.",
        enough,
    )


def test_the_betting_interval_is_where_the_capital_reaches_the_inverse_of_the_error() -> None:
    """Five of ten values are 1: the capital against m is the mean of ((1 - c) + c / m)^5 (1 - c)^5 over the stakes."""
    low, high = betting_interval(np.repeat([0.0, 1.0], 5), 0, 1)
    assert low == pytest.approx(1 - high)
    stakes = (0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
    capital = sum(((1 - c + c / low) * (1 - c)) ** 5 for c in stakes) / 10
    assert capital == pytest.approx(40)
    assert betting_interval(np.empty(0), -4, 4) == (-4, 4)
    # on the scale of -4 to 4 the same values, and turned round
    assert betting_interval(np.repeat([-4.0, 4.0], 5), -4, 4) == pytest.approx((8 * low - 4, 8 * high - 4))


def one_after_another(finished: int) -> StudyFrames:
    """Ten documents by two systems; a and b scored all, c the first of them; c finds system y worse by a point."""
    rows = [
        {
            "annotator": person,
            "instance": f"{document}{system}",
            "score": 3 - (person == "c" and system == "y"),
        }
        for person in "abc"
        for document in range(10)
        for system in "xy"
        if person != "c" or document < finished
    ]
    return make_frames(rows, instances=outputs(10))


def outputs(documents: int) -> pd.DataFrame:
    """The outputs of systems x and y for each document."""
    rows = [
        (f"{document}{system}", f"d{document}", system) for document in range(documents) for system in "xy"
    ]
    return pd.DataFrame(rows, columns=["instance", "document", "system"])


def test_only_documents_that_all_planned_people_finished_count() -> None:
    rule = StoppingRule(0.5, 10, "x", "y")
    for finished, wanted in ((0, 0), (4, 4), (10, 10)):
        study = one_after_another(finished)
        progress = follow_rule(rule, Finished(3)(study), people=3, begun=10)
        assert progress.documents == wanted
        assert progress.value.defined is (wanted > 0)
        if wanted:
            assert float(progress.value) == pytest.approx(1 / 3)
    told = " ".join(
        tell_progress(follow_rule(rule, Finished(3)(one_after_another(4)), people=3, begun=10), [rule])
    )
    assert "Of 10 documents with scores, 4 count: those that all 3 planned people finished." in told
    assert Finished(2)(one_after_another(0)).scored == 10


def test_only_what_people_are_asked_for_has_to_be_finished() -> None:
    """The outputs of system y are not asked for: nobody waits for them."""
    rows = [
        {"annotator": person, "instance": f"{document}x", "score": 3}
        for person in "ab"
        for document in range(4)
    ]
    study = make_frames(rows, instances=outputs(4))
    assert Finished(2)(study).scored == 0
    assert Finished(2, frozenset(f"{d}x" for d in range(4)))(study).scored == 4
