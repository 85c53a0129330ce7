"""Actions, score changes, the four behaviours, and time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.stats import (
    action_rates,
    four_behaviours,
    score_changes,
    time_curve,
    time_spent,
)
from coeval.stats.actions import MAJORITY, against_majority, others_median
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

    a 4 (from 2 to the median: nearer), b 4 and c 4 alike, d 2 (two from the median: far, though kept),
    e 3 (one off, nearer than the draft: nearer), f 5 (one off, draft two off: nearer).
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
    assert {name: found.of(name).n for name in ("nearer", "kept", "elsewhere", "far")} == {
        "nearer": 5,
        "kept": 0,
        "elsewhere": 0,
        "far": 1,
    }


def test_behaviours_leave_no_submission_over_and_say_what_they_left_out() -> None:
    study = simulate_frames()
    found = four_behaviours(study.scores)
    for arm in ("assisted", "blind"):
        names = ("nearer", "kept", "elsewhere", "far")
        assert sum(found.of(arm).of(name).n for name in names) == found.of(arm).n
        assert sum(found.of(arm).of(name).rate for name in names) == pytest.approx(1)
    # 48 planted ones, and one whose unit has no two others without a planted draft
    assert found.assisted.n_left_out == study.scores["planted_score"].sum() + 1
    alone = four_behaviours(study.scores[study.scores["annotator"].isin(["p0", "p1"])])
    assert alone.assisted.n == 0 and alone.assisted.far.rate.reason


def test_the_median_of_the_others_has_no_score_of_a_planted_draft() -> None:
    """Without the planted 1s the others' median is 4 for everybody, and 4 is not far from it."""
    people = pd.DataFrame({"annotator": list("abcde"), "instance": 1, "criterion": "x", "arm": "assisted"})
    people = people.assign(score=[4, 4, 4, 1, 1], draft_score=4, planted_score=[False] * 3 + [True] * 2)
    found = four_behaviours(people.assign(planted_error=""))
    assert (found.assisted.n, found.assisted.kept.n, found.assisted.n_left_out) == (3, 3, 2)


def test_people_with_the_draft_are_held_against_the_majority_without_it() -> None:
    """Unit 0: majority 4 of 4, 4, 2. Unit 1: a tie. Unit 2: one score. Unit 3: majority 2."""
    unaided = pd.DataFrame({"unit": [0, 0, 0, 1, 1, 2, 3, 3], "score": [4, 4, 2, 3, 5, 5, 2, 2]})
    rows = [(0, 3, 4), (0, 3, 3), (0, 4, 4), (0, 4, 5), (1, 3, 3), (2, 5, 5), (3, 2, 2), (3, np.nan, 2)]
    assisted = pd.DataFrame(rows, columns=["unit", "draft_score", "score"])
    found = {row["behaviour"]: row["n"] for row in against_majority(assisted, unaided)}
    assert found == dict(zip(MAJORITY.values(), (2, 1, 1, 1), strict=True))
    assert {row["of"] for row in against_majority(assisted, unaided)} == {5}
    assert against_majority(assisted, unaided.iloc[:0]) == []


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
