"""Planted errors, the pure part: what is drawn, and what a draft with a planted error looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Draft, EvaluationRow, Quote, RowKind, Scale
from coeval.rules.planted_errors import (
    PlantedError,
    apply_planted_error,
    draw_place,
    is_drawn,
    plant_score,
    restate,
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


def test_the_share_is_met() -> None:
    drawn = sum(is_drawn("seed", p, i, c, 0.2) for p in range(10) for i in range(200) for c in range(5))
    # 10,000 draws: 2,000 expected, standard deviation 40; five of them on either side
    assert 1_800 <= drawn <= 2_200


def with_score(score: float, text: str, **changed: Any) -> Draft:
    rows = (DRAFT.rows[0], EvaluationRow(SCORE, text, id=11), *DRAFT.rows[2:])
    return replace(DRAFT, score=score, rows=rows, **{"samples": ()} | changed)


def scored(common: Mapping[float, int], text: str = "{:g}") -> list[Draft]:
    """As many drafts of each score, the own draft not among them."""
    scores = [score for score, count in common.items() for _ in range(count)]
    return [with_score(score, text.format(score), id=100 + at) for at, score in enumerate(scores)]


EVEN = dict.fromkeys((1.0, 2.0, 3.0, 4.0, 5.0), 9)


@given(st.decimals(1, 5, places=2), st.integers(1, 200))
def test_a_planted_score_is_one_away_on_the_scale_and_has_no_more_digits(score: Decimal, person: int) -> None:
    draft = with_score(float(score), f"I say {score}.")
    lower, higher = (with_score(float(score) + by, f"I say {score + by}.", id=9) for by in (-1, 1))
    planted = plant_score("seed", person, draft, Scale(), [lower, higher])
    if planted is not None:
        assert planted.score is not None and 1 <= planted.score <= 5
        assert abs(Decimal(repr(planted.score)) - score) == 1
        assert len(repr(planted.score)) == len(repr(float(score)))


@pytest.mark.parametrize(("score", "shown"), [(5.0, {4.0}), (1.0, {2.0}), (3.0, {2.0, 4.0})])
def test_scores_go_either_way_but_never_off_the_scale(score: float, shown: set[float]) -> None:
    draft = with_score(score, f"{score:g}")
    drafts = (plant_score("seed", person, draft, Scale(), scored(EVEN)) for person in range(50))
    assert {one.score for one in drafts if one} == shown


def test_as_many_scores_go_up_as_come_down() -> None:
    """Of 200 drafts with 1 to 5 in shares of about 1:2:4:6:3, each step is taken as often in either direction."""
    run = [replace(one, instance=one.id) for one in scored({1: 12, 2: 25, 3: 50, 4: 75, 5: 38})]
    moved: Counter[tuple[float, float]] = Counter()
    for draft in run:
        for person in range(8):
            planted = plant_score("seed", person, draft, Scale(), run)
            if planted and planted.score and draft.score:
                moved[draft.score, planted.score] += 1
    for low in range(1, 5):
        up, down = moved[low, low + 1], moved[low + 1, low]
        # half of the rarer score's 96 to 400 draws go either way: 4 standard deviations of the difference
        assert up > 25 and abs(up - down) < 4 * (up + down) ** 0.5


def test_no_score_is_planted_where_there_is_no_room() -> None:
    run = scored(EVEN)
    assert plant_score("seed", 1, with_score(0.5, "0.5"), Scale(0, 1), scored({0.5: 9})) is None
    assert plant_score("seed", 1, replace(DRAFT, score=None), Scale(), run) is None
    # a wrong score in a line that names none would be all that the line says
    assert plant_score("seed", 1, with_score(4.0, "Rather good."), Scale(), run) is None
    # where every draft has the same score, another one would stand out
    assert plant_score("seed", 1, with_score(4.0, "4"), Scale(), scored({4: 30})) is None


@pytest.mark.parametrize(
    "elsewhere",
    [
        "It deserves a 4.",
        "Good: 4 out of 5.",
        "Four out of five.",
        "It is a 3.",
        "I was torn between three and this.",
        "It gets full marks.",
        "This has the highest possible score.",
    ],
)
def test_no_score_is_planted_that_another_line_contradicts(elsewhere: str) -> None:
    """Also none that another line states already: it would be right there and wrong here."""
    plain, run = with_score(4.0, "Score: 4"), scored({3.0: 30, 4.0: 9, 5.0: 30}, "Score: {:g}")
    assert all(plant_score("seed", person, plain, Scale(), run) for person in range(30))
    for row in (EvaluationRow(CONCLUSION, f"1. {elsewhere}"), EvaluationRow(EVIDENCE, f"- {elsewhere}")):
        draft = replace(plain, rows=(row, *plain.rows[1:]))
        shown = [plant_score("seed", person, draft, Scale(), run) for person in range(30)]
        # a line that names the 3 leaves room for a 5
        assert {one.score for one in shown if one} <= (
            {5.0} if "3" in elsewhere or "three" in elsewhere else set()
        )


def test_what_is_quoted_and_how_old_a_child_is_state_no_score() -> None:
    rows = (
        EvaluationRow(CONCLUSION, "1. A five-year-old of 4-year-old parents can follow it."),
        EvaluationRow(SCORE, "Score: 4"),
        EvaluationRow(EVIDENCE, "- “the 4 cats”", (Quote("the 4 cats"),)),
    )
    run = [
        replace(one, rows=(rows[0], one.rows[1], rows[2])) for one in scored({3.0: 9, 5.0: 9}, "Score: {:g}")
    ]
    assert plant_score("seed", 1, replace(DRAFT, samples=(), rows=rows), Scale(), run) is not None


MEAN = "Score: {:g} (mean of 4 answers, standard deviation {})"


def averaged(samples: tuple[float, ...], spread: str = "0.50", **changed: Any) -> Draft:
    score = sum(samples) / len(samples)
    return with_score(score, MEAN.format(score, spread), samples=samples, **changed)


def test_a_mean_of_several_answers_is_moved_with_all_of_them() -> None:
    draft = averaged((4, 4, 4, 3))
    run = [averaged((3, 3, 3, 2), id=7), averaged((5, 5, 5, 4), id=8)]
    shown = {
        apply_planted_error(draft, plant_score("seed", person, draft, Scale(), run)).rows[1].text
        for person in range(30)
    }
    assert shown == {MEAN.format(2.75, "0.50"), MEAN.format(4.75, "0.50")}
    # four answers stay four where the score is 4 as well
    four = averaged((4, 4, 4, 4), "0.00")
    down = plant_score(
        "seed", 2, four, Scale(), [averaged((3,) * 4, "0.00", id=7), averaged((5,) * 4, "0.00", id=8)]
    )
    assert down and apply_planted_error(four, down).rows[1].text in (
        MEAN.format(3, "0.00"),
        MEAN.format(5, "0.00"),
    )


def test_no_mean_is_planted_that_the_answers_could_not_have() -> None:
    # 5, 4, 4, 4 one higher would need a 6; what has no answers beside it is not computed anew
    high, run = averaged((5, 4, 4, 4)), [averaged((5, 5, 5, 5), "0.50"), averaged((4, 3, 3, 3), id=7)]
    shown = [plant_score("seed", person, high, Scale(), run) for person in range(30)]
    assert {one.score for one in shown if one} == {3.25}
    lost = replace(high, samples=())
    assert not any(plant_score("seed", person, lost, Scale(), run) for person in range(30))
    # a spread that drafts with the other score do not have would tell
    other = [averaged((3, 3, 3, 4), "0.41", id=7)]
    assert not any(plant_score("seed", person, high, Scale(), other) for person in range(30))


def test_scores_are_exchanged_among_drafts_of_one_form() -> None:
    """A 5 whose line says what could be better tells itself where only 4s say so."""
    doubting = "Score: {:g}, but it could be simpler."
    run = [
        *scored({4.0: 9, 3.0: 9}, doubting),
        *scored({5.0: 99, 4.0: 9}, "Score: {:g}, clear and simple all over."),
    ]
    draft = with_score(4.0, doubting.format(4))
    shown = [plant_score("seed", person, draft, Scale(), run) for person in range(30)]
    assert {one.score for one in shown if one} == {3.0}


def test_a_wrong_score_is_the_only_thing_that_differs() -> None:
    shown = apply_planted_error(DRAFT, PlantedError(5, 3.0))
    assert shown.score == 3 and shown.rows[1].text == "2. I give it a score of 3."
    assert [row for row in shown.rows if row.kind is not SCORE] == [
        row for row in DRAFT.rows if row.kind is not SCORE
    ]
    # nothing beside it tells the draft's own score
    assert (shown.reason, shown.raw, shown.samples) == ("", "", ())
    assert [row.id for row in shown.rows] == [10, 11, 12, 13]


def test_another_draft_is_shown_as_it_is() -> None:
    assert apply_planted_error(DRAFT, PlantedError(6, 3.0)) == DRAFT
    assert apply_planted_error(DRAFT, None) == DRAFT


def test_a_seed_draws_tomorrow_what_it_drew_today() -> None:
    """A study under way is not drawn anew by another version: these are the draws of the first."""
    people = range(1, 31)
    drawn = "".join("-s"[is_drawn("seed", n, 3, 2, 0.5)] for n in people)
    assert drawn == "s-ss-s-----s--s-s-sss--s-s-s--"
    assert [draw_place("seed", n, 3, 2, 100) for n in people][:10] == [55, 52, 11, 62, 4, 87, 97, 28, 42, 67]

    def shown(common: dict[float, int]) -> str:
        draft = with_score(4.0, "4")
        drawn = (plant_score("seed", n, draft, Scale(), scored(common)) for n in people)
        return "".join("-" if planted is None else f"{planted.score:g}" for planted in drawn)

    assert shown({3: 20, 4: 8, 5: 20}) == "353333355533555533333535355335"
    # half as common as the draft's own 4: every other 3 is shown, and all the 5s
    assert shown({3: 10, 4: 18, 5: 20}) == "353-3335553-5555-3---5-5-55335"


@pytest.mark.parametrize(
    ("text", "was", "now", "wanted"),
    [
        ("a 5 of 5", 5, 4, "a 4 of 5"),
        ("4 out of 5", 4, 3, "3 out of 5"),
        ("On a scale of 1-5 it is a 5.", 5, 4, "On a scale of 1-5 it is a 4."),
        ("On a scale of 1 to 5 it is a 1.", 1, 2, "On a scale of 1 to 5 it is a 2."),
        ("Of 5 points, 4", 4, 3, "Of 5 points, 3"),
        ("7 lines; score 4", 4, 3, "7 lines; score 3"),
        ("Note: 3,5", 3.5, 4.5, "Note: 4,5"),
        ("Scores 3.6 and 3.7", 11 / 3, 14 / 3, "Scores 3.6 and 4.7"),
        ("3.8", 3.75, 4.75, "4.8"),
        ("4.3", 4.3, 3.3, "3.3"),
        ("I say 4", 4.3, 5.3, None),
        (
            "4 (mean of 4 answers, standard deviation 4.00)",
            4,
            3,
            "3 (mean of 4 answers, standard deviation 4.00)",
        ),
    ],
)
def test_a_score_is_restated_where_a_line_states_it_and_nowhere_else(
    text: str, was: float, now: float, wanted: str | None
) -> None:
    assert restate(text, was, now) == wanted
