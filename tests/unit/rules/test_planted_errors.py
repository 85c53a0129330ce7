"""Planted errors, the pure part: what is drawn, and what a draft with a planted error looks like."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Draft, EvaluationRow, Quote, RowKind, Scale
from coeval.rules.planted_errors import (
    ErrorKind,
    PlantedError,
    apply_planted_error,
    draw_kind,
    draw_place,
    plant_evidence,
    plant_score,
)

CONCLUSION, SCORE, EVIDENCE = RowKind.CONCLUSION, RowKind.SCORE, RowKind.EVIDENCE
DRAFT = Draft(
    instance=1,
    criterion=1,
    score=4.0,
    rows=(
        EvaluationRow(CONCLUSION, "Clear.", id=10),
        EvaluationRow(SCORE, "2. I give it a score of 4.", id=11),
        EvaluationRow(EVIDENCE, "“the cat”", (Quote("the cat", 0, 7),), id=12),
        EvaluationRow(EVIDENCE, "“sat”", id=13),
    ),
    reason="The mean of two answers is 4.",
    raw="all the model said: 4",
    samples=(4.0, 4.0),
    id=5,
)
SOURCE = EvaluationRow(
    EVIDENCE, "“the dog” and “sat”", (Quote("the dog", 3, 10), Quote("sat", 90, 93)), id=99
)


def test_the_share_is_met_and_half_have_a_wrong_score() -> None:
    drawn = Counter(draw_kind("seed", p, i, c, 0.2) for p in range(10) for i in range(200) for c in range(5))
    # 10,000 draws: 1,000 of each kind, standard deviation 30; five of them on either side
    assert all(850 <= drawn[kind] <= 1_150 for kind in ErrorKind)


@given(st.floats(1, 5), st.integers(1, 200))
def test_a_sown_score_is_one_away_and_on_the_scale(score: float, person: int) -> None:
    planted = plant_score("seed", person, replace(DRAFT, score=score), Scale())
    assert planted is not None and planted.score is not None
    assert abs(abs(planted.score - score) - 1) < 1e-9 and 1 <= planted.score <= 5


@pytest.mark.parametrize(("score", "shown"), [(5.0, {4.0}), (1.0, {2.0}), (3.0, {2.0, 4.0})])
def test_scores_go_either_way_but_never_off_the_scale(score: float, shown: set[float]) -> None:
    drafts = (plant_score("seed", person, replace(DRAFT, score=score), Scale()) for person in range(50))
    assert {one.score for one in drafts if one} == shown


def test_nothing_is_sown_where_there_is_no_room() -> None:
    assert plant_score("seed", 1, replace(DRAFT, score=0.5), Scale(0, 1)) is None
    assert plant_score("seed", 1, replace(DRAFT, score=None), Scale()) is None
    assert plant_evidence("seed", 1, replace(DRAFT, rows=DRAFT.rows[:2]), SOURCE) is None
    assert plant_evidence("seed", 1, replace(DRAFT, rows=(SOURCE,)), SOURCE) is None


def test_a_wrong_score_is_the_only_thing_that_differs() -> None:
    shown = apply_planted_error(DRAFT, PlantedError(5, ErrorKind.SCORE, score=3.0), "the cat sat")
    assert shown.score == 3 and shown.rows[1].text == "2. I give it a score of 3."
    assert [row for row in shown.rows if row.kind is not SCORE] == [
        row for row in DRAFT.rows if row.kind is not SCORE
    ]
    # nothing beside it tells the draft's own score
    assert (shown.reason, shown.raw, shown.samples) == ("", "", ())
    assert [row.id for row in shown.rows] == [10, 11, 12, 13]


def test_a_swapped_line_keeps_its_place_and_is_looked_for_in_the_text() -> None:
    planted = plant_evidence("seed", 1, DRAFT, SOURCE)
    assert planted is not None and planted.draft_row in (12, 13)
    shown = apply_planted_error(DRAFT, planted, "the cat sat")
    swapped = next(row for row in shown.rows if row.id == planted.draft_row)
    assert swapped.text == SOURCE.text
    # "the dog" is not in "the cat sat"; "sat" stands there from 8 to 11
    assert swapped.quotes == (Quote("the dog"), Quote("sat", 8, 11))
    assert sum(a != b for a, b in zip(shown.rows, DRAFT.rows, strict=True)) == 1
    assert shown.score == DRAFT.score


def test_another_draft_is_shown_as_it_is() -> None:
    assert apply_planted_error(DRAFT, PlantedError(6, ErrorKind.SCORE, score=3.0), "") == DRAFT
    assert apply_planted_error(DRAFT, None, "") == DRAFT


@given(st.integers(1, 1_000), st.integers(1, 50))
def test_the_search_begins_somewhere_in_the_task(size: int, person: int) -> None:
    assert 1 <= draw_place("seed", person, 1, 1, size) <= size
