"""Actions, score changes, the four behaviours, time, and the effect of assistance."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.stats import (
    action_rates,
    arm_alphas,
    catch_rates,
    draft_effects,
    four_behaviours,
    score_changes,
    time_curve,
    time_spent,
)
from coeval.stats.actions import others_median
from coeval.stats.draft_effects import NO_BLIND, NO_PLANTED
from tests.support.studies.stats_frames import simulate_frames


def test_action_rates_from_counts_and_from_rows() -> None:
    rows = [("score", "approve")] * 3 + [("score", "revise")] + [("evidence", "delete"), ("evidence", "add")]
    counts = pd.DataFrame(rows, columns=["kind", "action"]).value_counts().rename("n").reset_index()
    one, other = action_rates(rows), action_rates(counts)
    assert one.overall == other.overall and one.score == other.score and one.evidence == other.evidence
    assert vars(one.overall) == {"n": 6, "approve": 0.5, "revise": 1 / 6, "delete": 1 / 6, "add": 1 / 6}
    assert one.score.approve == 0.75 and one.conclusion.n == 0
    assert action_rates(["Approve ", "delete"]).overall.approve == 0.5
    assert action_rates([]).overall.add.reason
    with pytest.raises(ValueError, match="no action 'keep'"):
        action_rates(["keep"])


def test_score_changes_count_the_direction() -> None:
    found = score_changes([5, 2, 3, np.nan], [4, 3, 3, 3])
    assert (found.n, found.raised, found.lowered, found.unchanged, found.n_left_out) == (3, 1, 1, 1, 1)
    assert found.mean_change == 0


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=25))
def test_median_of_the_others(entries: list[tuple[int, int]]) -> None:
    unit = np.array([entry[0] for entry in entries], dtype=np.int64)
    score = np.array([entry[1] for entry in entries], dtype=float)
    found, sizes = others_median(unit, score)
    for k in range(len(entries)):
        others = [score[j] for j in range(len(entries)) if j != k and unit[j] == unit[k]]
        assert sizes[k] == len(others)
        assert np.isclose(found[k], np.median(others) if others else np.nan, equal_nan=True)


def test_four_behaviours_by_hand() -> None:
    """The draft says 2. Median of the others of each: 4, 4, 4, 4 and, for the two at 4, 4 and 4.

    a 4 (from 2 to the median: correction), b 4 and c 4 alike, d 2 (two from the median: outlier, though kept),
    e 3 (one off, nearer than the draft: correction), f 5 (one off, draft two off: correction).
    """
    people = pd.DataFrame(
        {
            "annotator": list("abcdef"),
            "instance": 1,
            "criterion": "x",
            "arm": "assisted",
            "score": [4, 4, 4, 2, 3, 5],
            "draft_score": 2,
        }
    )
    found = four_behaviours(people).assisted
    assert {name: found.of(name).n for name in ("correction", "scrutiny", "subjectivity", "outlier")} == {
        "correction": 5,
        "scrutiny": 0,
        "subjectivity": 0,
        "outlier": 1,
    }


def test_behaviours_leave_no_submission_over_and_say_what_they_left_out() -> None:
    study = simulate_frames()
    found = four_behaviours(study.scores)
    for arm in ("assisted", "blind"):
        names = ("correction", "scrutiny", "subjectivity", "outlier")
        assert sum(found.of(arm).of(name).n for name in names) == found.of(arm).n
        assert sum(found.of(arm).of(name).rate for name in names) == pytest.approx(1)
    assert found.assisted.n_left_out == study.scores["planted_score"].sum()
    alone = four_behaviours(study.scores[study.scores["annotator"].isin(["p0", "p1"])])
    assert alone.assisted.n == 0 and alone.assisted.outlier.rate.reason


def test_time_leaves_out_only_the_untimed() -> None:
    """Spans 10, 20 and 700 s, one untimed: mean 243.33, median 20; up to 600 s: 15. Samples: 0.5 and 11.67 min."""
    spans = pd.DataFrame(
        {
            "annotator": "a",
            "instance": [1, 1, 2, 2],
            "criterion": ["x", "y", "x", "y"],
            "wall_seconds": [10.0, 20, 700, np.nan],
            "active_seconds": [9.0, np.nan, 60, np.nan],
        }
    )
    found = time_spent(spans)
    assert (found.n_timed, found.n_untimed, found.seconds.n_over_idle) == (3, 1, 1)
    assert found.seconds.mean_seconds == pytest.approx(730 / 3) and found.seconds.median_seconds == 20
    assert found.seconds.mean_seconds_idle_cut == 15 and found.seconds.mean_active_seconds == 34.5
    assert found.minutes_per_sample.mean == pytest.approx((0.5 + 700 / 60) / 2)
    assert (found.minutes_per_sample.n_fully_timed, found.minutes_per_sample.mean_fully_timed) == (1, 0.5)
    assert [(part.criterion, part.n) for part in found.per_criterion] == [("x", 2), ("y", 1)]


def test_time_curve_ends_at_one() -> None:
    curve = time_curve(np.arange(1, 1001), points=50)
    assert len(curve) == 50 and curve["share"].iloc[-1] == 1 and curve["share"].is_monotonic_increasing
    assert time_curve([]).empty


@pytest.mark.slow
@pytest.mark.parametrize("pull", [0.0, 0.3, 0.6])
def test_the_shift_recovers_the_pull_that_was_put_in(pull: float) -> None:
    study = simulate_frames(instances=1500, criteria=("clear",), pull=pull, seed=3)
    found, alphas = draft_effects(study.scores), arm_alphas(study.scores)
    assert found.pull.ci_low - 0.02 <= pull <= found.pull.ci_high + 0.02  # whole scores blur it a little
    if pull:
        # people who would have given the draft's score anyway dilute adoption
        assert 0 < found.adoption < pull and found.adoption.ci_low > 0
        assert found.distance.ci_high < 0 and alphas.alpha_difference.ci_low > 0
    else:
        assert found.adoption.ci_low < 0 < found.adoption.ci_high
        assert found.distance.ci_low < 0 < found.distance.ci_high


def test_adoption_and_distance_by_hand() -> None:
    """Assisted: 2 of 2 at the draft's 3; blind: 1 of 2, the other 2 away: 1 - .5 and 0 - 1."""
    rows = [
        {"instance": 1, "arm": "assisted", "score": 3, "draft": 3},
        {"instance": 2, "arm": "assisted", "score": 3, "draft": 3},
        {"instance": 1, "arm": "blind", "score": 3, "draft": 3},
        {"instance": 2, "arm": "blind", "score": 5, "draft": 3},
        {"instance": 3, "arm": "assisted", "score": 4, "draft": 3, "shown": 4},  # sown: not counted here
    ]
    found = draft_effects(rows)
    assert (found.adoption, found.distance) == (0.5, -1.0)
    assert (found.adoption.n_assisted, found.adoption.n_blind) == (2, 2)


def test_effects_without_their_arms_say_why() -> None:
    rows = [{"instance": i, "arm": "assisted", "score": 3, "draft_score": 3} for i in range(4)]
    found = draft_effects(rows)
    assert found.adoption.reason == NO_BLIND and found.pull.reason == NO_PLANTED
    assert "no two people" in arm_alphas(rows).alpha_difference.reason
    seen = [row | {"annotator": name, "score": row["instance"] + 1} for row in rows for name in "ab"]
    assert arm_alphas(seen).alpha_difference.reason == "no blind scores yet"
    with pytest.raises(ValueError, match="lack the column 'arm'"):
        draft_effects([{"instance": 1, "score": 1, "draft_score": 1}])


def test_catch_rates_by_annotator() -> None:
    rows = [
        {
            "instance": i,
            "annotator": name,
            "arm": "assisted",
            "draft_score": 3,
            "shown_score": 4,
            "planted_score": True,
        }
        | {"score": 4 if name == "nodder" else 3}
        for i in range(10)
        for name in ("nodder", "reader")
    ]
    planted = catch_rates(pd.DataFrame(rows))
    assert planted.scores.n == 20 and planted.scores.caught.value == 0.5 and planted.scores.restored == 0.5
    rates = {row.annotator: float(row.scores.caught.value) for row in planted.per_annotator}
    assert rates == {"nodder": 0.0, "reader": 1.0}
    # one of two people in each of ten documents: only the two added quarters of a document have a spread,
    # sqrt(1 / 16 * 2 / 4) / 10.5 = .016836, and 2.262157 * .016836 / .25 is .15234 on the logit scale
    assert planted.scores.caught.value.ci_low == pytest.approx(1 / (1 + math.exp(0.15234)), abs=1e-5)
    # ten documents without a catch happen with a probability of .025 at .3085
    assert planted.per_annotator[0].scores.caught.value.ci == pytest.approx((0.0, 1 - 0.025**0.1))
