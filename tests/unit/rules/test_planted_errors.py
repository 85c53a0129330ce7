"""Planted errors, the pure part: what is drawn, and what a draft with a planted error looks like."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Draft, EvaluationRow, Quote, RowKind, Scale
from coeval.rules.planted_errors import (
    ErrorKind,
    PlantedError,
    apply_planted_error,
    draw_kind,
    draw_line,
    draw_place,
    plant_evidence,
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
SOURCE = EvaluationRow(
    EVIDENCE, "“the dog” and “sat”", (Quote("the dog", 3, 10), Quote("sat", 90, 93)), id=99
)

OTHER = replace(
    DRAFT,
    rows=(
        EvaluationRow(EVIDENCE, "It is rude: “the dog”.", (Quote("the dog", 3, 10),), id=99),
        EvaluationRow(EVIDENCE, "“a” and “b”", (Quote("a", 0, 1), Quote("b", 1, 2)), id=100),
    ),
)


def test_the_share_is_met_and_half_have_a_wrong_score() -> None:
    drawn = Counter(draw_kind("seed", p, i, c, 0.2) for p in range(10) for i in range(200) for c in range(5))
    # 10,000 draws: 1,000 of each kind, standard deviation 30; five of them on either side
    assert all(850 <= drawn[kind] <= 1_150 for kind in ErrorKind)


EVEN = dict.fromkeys(range(1, 6), 100)


def with_score(score: float, text: str) -> Draft:
    return replace(
        DRAFT, score=score, rows=(DRAFT.rows[0], EvaluationRow(SCORE, text, id=11), *DRAFT.rows[2:])
    )


@given(st.decimals(1, 5, places=2), st.integers(1, 200))
def test_a_planted_score_is_one_away_on_the_scale_and_has_no_more_digits(score: Decimal, person: int) -> None:
    planted = plant_score("seed", person, with_score(float(score), f"I say {score}."), Scale(), EVEN)
    if planted is not None:
        assert planted.score is not None and 1 <= planted.score <= 5
        assert abs(Decimal(repr(planted.score)) - score) == 1
        assert len(repr(planted.score)) == len(repr(float(score)))


@pytest.mark.parametrize(("score", "shown"), [(5.0, {4.0}), (1.0, {2.0}), (3.0, {2.0, 4.0})])
def test_scores_go_either_way_but_never_off_the_scale(score: float, shown: set[float]) -> None:
    draft = with_score(score, f"{score:g}")
    drafts = (plant_score("seed", person, draft, Scale(), EVEN) for person in range(50))
    assert {one.score for one in drafts if one} == shown


def test_as_many_scores_go_up_as_come_down() -> None:
    """Of 10,000 drafts with 1 to 5 in shares of 1:2:4:6:3, each step is taken as often in either direction."""
    common = {1: 625, 2: 1250, 3: 2500, 4: 3750, 5: 1875}
    moved: Counter[tuple[float, float]] = Counter()
    scores = [score for score, count in common.items() for _ in range(count)]
    for number, score in enumerate(scores, 1):
        draft = replace(with_score(float(score), f"{score}"), instance=number)
        planted = plant_score("seed", 1, draft, Scale(), common)
        if planted and planted.score:
            moved[score, planted.score] += 1
    for low in range(1, 5):
        up, down = moved[low, low + 1], moved[low + 1, low]
        # half of the rarer score's drafts, 312 to 1,250, go either way: 5 standard deviations of the difference
        assert up > 200 and abs(up - down) < 5 * (up + down) ** 0.5


def test_nothing_is_planted_where_there_is_no_room() -> None:
    assert plant_score("seed", 1, with_score(0.5, "0.5"), Scale(0, 1), {0: 9, 1: 9}) is None
    assert plant_score("seed", 1, replace(DRAFT, score=None), Scale(), EVEN) is None
    # a wrong score in a line that names none would be all that the line says
    assert plant_score("seed", 1, with_score(4.0, "Rather good."), Scale(), EVEN) is None
    # where every draft has the same score, another one would stand out
    assert plant_score("seed", 1, DRAFT, Scale(), {4: 100}) is None
    assert plant_evidence(replace(DRAFT, rows=DRAFT.rows[:2]), 0, OTHER) is None
    assert plant_evidence(DRAFT, 0, DRAFT) is None
    # another number of quotes, and no second line
    assert plant_evidence(DRAFT, 1, OTHER) is None


def test_a_wrong_score_is_the_only_thing_that_differs() -> None:
    shown = apply_planted_error(DRAFT, PlantedError(5, ErrorKind.SCORE, score=3.0), "the cat sat")
    assert shown.score == 3 and shown.rows[1].text == "2. I give it a score of 3."
    assert [row for row in shown.rows if row.kind is not SCORE] == [
        row for row in DRAFT.rows if row.kind is not SCORE
    ]
    # nothing beside it tells the draft's own score
    assert (shown.reason, shown.raw, shown.samples) == ("", "", ())
    assert [row.id for row in shown.rows] == [10, 11, 12, 13]


def test_a_foreign_line_keeps_its_place_and_quotes_what_the_own_line_quoted() -> None:
    planted = plant_evidence(DRAFT, 0, OTHER)
    assert planted is not None and planted.draft_row == 12 and planted.source == OTHER.rows[0]
    shown = apply_planted_error(DRAFT, planted, "the cat sat")
    swapped = next(row for row in shown.rows if row.id == 12)
    assert swapped.text == "It is rude: “the cat”." and swapped.quotes == (Quote("the cat", 0, 7),)
    assert sum(a != b for a, b in zip(shown.rows, DRAFT.rows, strict=True)) == 1
    assert shown.score == DRAFT.score


def test_what_was_planted_before_is_shown_as_it_was() -> None:
    planted = PlantedError(5, ErrorKind.EVIDENCE, draft_row=12, source=SOURCE)
    swapped = apply_planted_error(DRAFT, planted, "the cat sat").rows[2]
    # "the dog" is not in "the cat sat"; "sat" stands there from 8 to 11
    assert (swapped.text, swapped.quotes) == (SOURCE.text, (Quote("the dog"), Quote("sat", 8, 11)))


def test_another_draft_is_shown_as_it_is() -> None:
    assert apply_planted_error(DRAFT, PlantedError(6, ErrorKind.SCORE, score=3.0), "") == DRAFT
    assert apply_planted_error(DRAFT, None, "") == DRAFT


@given(st.integers(1, 1_000), st.integers(1, 50))
def test_the_search_begins_somewhere_in_the_task(size: int, person: int) -> None:
    assert 1 <= draw_place("seed", person, 1, 1, size) <= size


def test_a_seed_draws_tomorrow_what_it_drew_today() -> None:
    """A study under way is not drawn anew by another version: these are the draws of the first."""
    people = range(1, 31)
    kinds = {None: "-", ErrorKind.SCORE: "s", ErrorKind.EVIDENCE: "e"}
    assert "".join(kinds[draw_kind("seed", n, 3, 2, 0.5)] for n in people) == "s-ss-e-----e--e-s-see--s-s-e--"
    assert [draw_place("seed", n, 3, 2, 100) for n in people][:10] == [55, 52, 11, 62, 4, 87, 97, 28, 42, 67]
    assert "".join(str(draw_line("seed", n, DRAFT)) for n in people) == "010100000001111110001100110000"

    def shown(common: dict[int, int]) -> str:
        drawn = (plant_score("seed", n, DRAFT, Scale(), common) for n in people)
        return "".join("-" if planted is None else f"{planted.score:g}" for planted in drawn)

    assert shown(EVEN) == "353333355533555533333535355335"
    # half as common as the draft's own 4: every other 3 is shown, and all the 5s
    assert shown({3: 50, 4: 100, 5: 100}) == "353-3335553-5555-3---5-5-55335"


def test_a_planted_score_names_its_draft_and_its_kind() -> None:
    for common in ({3: 1, 5: 1}, EVEN):  # also where nobody has counted the draft's own score
        shown = [plant_score("seed", person, DRAFT, Scale(), common) for person in range(30)]
        assert {one.score for one in shown if one} == {3.0, 5.0}
        assert all(one == PlantedError(5, ErrorKind.SCORE, score=one.score) for one in shown if one)
        assert all(shown)
    assert not any(plant_score("seed", person, DRAFT, Scale(), {4: 1}) for person in range(30))


def test_a_line_is_drawn_among_those_of_evidence_alone() -> None:
    more = replace(DRAFT, rows=(*DRAFT.rows, EvaluationRow(EVIDENCE, "“on”", id=14)))
    assert {draw_line("seed", person, more) for person in range(40)} == {0, 1, 2}
    assert draw_line("seed", 1, replace(DRAFT, rows=DRAFT.rows[:2])) is None


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
    ],
)
def test_a_score_is_restated_where_a_line_states_it_and_nowhere_else(
    text: str, was: float, now: float, wanted: str | None
) -> None:
    assert restate(text, was, now) == wanted


def quoting(text: str, *quotes: str) -> EvaluationRow:
    return EvaluationRow(EVIDENCE, text, tuple(Quote(one) for one in quotes), id=1)


@pytest.mark.parametrize(
    ("foreign", "wanted"),
    [
        (quoting("“x” is not “x y”.", "x", "x y"), "“p” is not “q”."),
        (quoting("“x” and “x”, again “x”.", "x", "x"), "“p” and “q”, again “x”."),
        (quoting("x then y", "x", "y"), "p then q"),
        (quoting("“x” alone", "x"), None),
        (quoting("“x” and something", "x", "not there"), None),
        (quoting("“x” and “”", "x", ""), None),
    ],
)
def test_a_foreign_line_quotes_what_the_own_line_quoted(foreign: EvaluationRow, wanted: str | None) -> None:
    own = replace(DRAFT, rows=(quoting("“p”, “q”", "p", "q"),))
    planted = plant_evidence(own, 0, replace(DRAFT, rows=(foreign,)))
    assert (planted and planted.text) == wanted


def test_what_was_planted_before_lines_kept_their_quotes_finds_them_in_the_output() -> None:
    planted = PlantedError(5, ErrorKind.EVIDENCE, draft_row=12, source=quoting("“a”, “b”", "a", "b"))
    shown = apply_planted_error(DRAFT, planted, "a and b and a").rows[2]
    assert shown.quotes == (Quote("a", 0, 1), Quote("b", 6, 7))
