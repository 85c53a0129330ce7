"""Actions, score changes, the comparison with the majority, and time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coeval.stats import (
    action_rates,
    score_changes,
    time_spent,
)
from coeval.stats.actions import MAJORITY, against_majority, count_outliers
from coeval.stats.clusters import Clusters


def test_action_rates_from_counts_and_from_rows() -> None:
    rows = [("score", "approve")] * 3 + [("score", "revise")] + [("evidence", "delete"), ("evidence", "add")]
    counts = pd.DataFrame(rows, columns=["kind", "action"]).value_counts().rename("n").reset_index()
    one = action_rates(pd.DataFrame(rows, columns=["kind", "action"]))
    assert all(rates.n for name, rates in one.items() if name != "conclusion") and one["conclusion"].n == 0
    assert str(one) == str(action_rates(counts))
    assert one["overall"].n == 6
    assert one["overall"].shares == {"approve": 0.5, "revise": 1 / 6, "delete": 1 / 6, "add": 1 / 6}
    assert one["score"].shares["approve"] == 0.75
    assert action_rates(counts[:0])["overall"].shares["add"].reason
    with pytest.raises(ValueError, match="no action 'keep'"):
        action_rates(pd.DataFrame({"action": ["keep"]}))


def test_score_changes_count_the_direction() -> None:
    found = score_changes([5, 2, 3, np.nan], [4, 3, 3, 3])
    assert (found.n, found.raised, found.lowered, found.unchanged, found.n_left_out) == (3, 1, 1, 1, 1)
    assert found.mean_change == 0


def test_people_with_the_draft_are_held_against_the_majority_without_it() -> None:
    """Unit 0: majority 4 of 4, 4, 2. Unit 1: a tie. Unit 2: one score. Unit 3: majority 2."""
    unaided = pd.DataFrame({"unit": [0, 0, 0, 1, 1, 2, 3, 3], "score": [4, 4, 2, 3, 5, 5, 2, 2]})
    rows = [(0, 3, 4), (0, 3, 3), (0, 4, 4), (0, 4, 5), (1, 3, 3), (2, 5, 5), (3, 2, 2), (3, np.nan, 2)]
    assisted = pd.DataFrame(rows, columns=["unit", "draft_score", "score"])
    found = {row["behaviour"]: row["n"] for row in against_majority(assisted, unaided)}
    assert found == dict(zip(MAJORITY.values(), (2, 1, 1, 1), strict=True))
    assert {row["of"] for row in against_majority(assisted, unaided)} == {5}
    assert against_majority(assisted, unaided.iloc[:0]) == []


def test_outliers_are_rarer_with_the_draft() -> None:
    """Unit 0: 4, 4 and 2 without the draft. The 2 is outside the majority of the two others; the others of a 4 have
    none. With the draft, one of 4, 4, 4, 2 is outside: a quarter in place of all. Unit 1 has no majority."""
    unaided = pd.DataFrame({"unit": [0, 0, 0, 1, 1], "score": [4, 4, 2, 3, 5]})
    assisted = pd.DataFrame({"unit": [0, 0, 0, 0, 1], "score": [4, 4, 4, 2, 3]})
    found = count_outliers(assisted, unaided, Clusters(np.arange(2)))
    assert (found.n_assisted, found.assisted, found.n_unaided, found.unaided) == (4, 0.25, 1, 1)
    assert found.reduced.value == 0.75
    # without unit 0, nobody without the draft is outside: the other units give no interval
    rare = pd.DataFrame({"unit": np.repeat([0, 1, 2], 3), "score": [4, 4, 2, *[4] * 6]})
    seen = pd.DataFrame({"unit": [0, 1, 1, 2], "score": [4, 4, 2, 4]})
    reduced = count_outliers(seen, rare, Clusters(np.arange(3))).reduced
    assert reduced.value.defined and np.isnan(reduced.get("ci_low"))
    assert "undefined without some of the units" in reduced.get("no_interval")
    alone = count_outliers(assisted, unaided.iloc[:1], Clusters(np.arange(2)))
    assert alone.reduced.value.reason == "no unit has a majority"


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
    assert [(part.criterion, part.n) for part in found.per_criterion] == [("x", 2), ("y", 1)]
