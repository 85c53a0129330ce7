"""Resampled clusters are seeded; what one person and one group of units changes; room in memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from coeval.stats import alpha_difference, icc, krippendorff_alpha, leave_one_out
from coeval.stats.rating_matrix import parse_ratings


def draw_table(annotators: int, units: int, missing: float = 0.2, noise: float = 0.8) -> np.ndarray:
    rng = np.random.default_rng(0)
    table = np.clip(np.round(rng.normal(3, 1, units) + rng.normal(0, noise, (annotators, units))), 1, 5)
    table[rng.random(table.shape) < missing] = np.nan
    return table


def test_a_seed_gives_the_same_shares_and_another_seed_others() -> None:
    table = draw_table(4, 50, noise=0.6)
    first, again, other = (
        krippendorff_alpha(table, replicates=200, seed=seed).p_below_667 for seed in (7, 7, 8)
    )
    assert first == again != other


def test_more_than_500_units_are_drawn_in_groups_with_the_same_spread() -> None:
    table = draw_table(4, 1200, noise=0.58)
    found = krippendorff_alpha(table, replicates=400)
    near = krippendorff_alpha(table, replicates=400, seed=1)
    assert found.details["replicates"] == 400 and abs(found.p_below_667 - near.p_below_667) < 0.1


def test_difference_with_an_undefined_side_says_which() -> None:
    found = alpha_difference([[1, 2], [1, 2]], [[1, 1], [1, 1]])
    assert "second" in str(found.reason)
    with pytest.raises(ValueError, match="must have the same units"):
        alpha_difference([[1, 2], [1, 2]], [[1], [1]])


def test_leaving_out_the_one_who_guesses_helps() -> None:
    table = draw_table(4, 120, missing=0)
    table[3] = np.random.default_rng(9).integers(1, 6, 120)
    rows = leave_one_out(pd.DataFrame(table, index=list("abcd")))
    best = max(rows, key=lambda row: row.difference)
    assert best.annotator == "d" and best.difference.ci_low > 0
    assert rows[0].alpha == pytest.approx(krippendorff_alpha(table[1:]), abs=1e-12)


@pytest.mark.slow
def test_leaving_out_groups_of_units_needs_room_for_one_group_at_a_time() -> None:
    """What each two of 200 raters share is 0.3 MB; of all 50 groups at once it would be 16 MB."""
    draw = np.random.default_rng(8)
    table = np.full((200, 400), np.nan)
    for unit in range(400):
        table[draw.choice(200, 4, replace=False), unit] = draw.integers(1, 6, 4)
    ratings = parse_ratings(table)
    tracemalloc.start()
    forms = icc(ratings, clusters=np.arange(400) % 50)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert forms.icc21.n_annotators == 200 and peak < 8e6
