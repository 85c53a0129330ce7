"""The parts of the reader of ratings, one by one: quotations, scales, cues, lists, JSON, reasons, names and anchors."""

from __future__ import annotations

import json

import pytest

from coeval.llm.reading.rating.anchors import (
    MAX_NAME,
    anchor_score,
    anchors_of,
    criterion_names,
    echoes_criterion,
    names_criterion,
)
from coeval.llm.reading.rating.in_json import MAX_DEPTH, json_rating
from coeval.llm.reading.rating.preferred import parse_preference
from coeval.llm.reading.rating.rating_shapes import Query, said
from coeval.llm.reading.rating.reader import MAX_READ, cut_middle, parse_rating, read_rating

S5, S3 = (1, 5), (1, 3)
CLARITY = "Clarity: how easy the text is to follow"
Case = tuple[str, str, float | None]

QUOTATIONS: list[Case] = [
    ('"I would rate this text a 4."', "", 4),
    ("“It is a clear text. Rating: 4”", "", 4),
    ('"4 - it is clear to everyone"', "", 4),
    ('"On the whole I would say 4"', "", 4),
    ('"I would rate it a 5.", it says; "so would I"', "", None),
    ('The text says "I would rate it a 5" and ends.', "", None),
    ("The text says “I would rate it a 5” and ends.", "", None),
    ("The text says «I would rate it a 5» and ends.", "", None),
    ("The text says 「I would rate it a 5」 and ends.", "", None),
    ("It says “rate this at 5” once.", "", None),
    ("I settle on a “score of 4”.", "", 4),
]
SCALES: list[Case] = [
    ("It is a fair text (4 out of 5).", "", 4),
    ("Score (1 = bad, 5 = good): 2", "", 2),
    ("Rating: 4(1 = bad, 5 = good)", "", 4),
    ("Rating: 4(out of 5)", "", 4),
    ("Score (Out of 5): 4", "", 4),
    ("It meets 2 of 5 wishes; I would rate it 4 out of 5 for that.", "", 4),
    ("4/5: it meets 2 of 5 wishes", "", 4),
    ("7/10 lines rhyme. (4)", "", 4),
]
CUES: list[Case] = [
    ("Ease of reading: 4\nTone: 2", "Ease of reading", 4),
    ("Ease of\nreading: 4\nTone: 2", "Ease of reading", 4),
    ("The clarity is about 4 here.", CLARITY, 4),
    ("THE SCORE IS 4 BECAUSE IT IS CLEAR", "", 4),
    ("Tone: 2\nRating:\nAnalysis: 4", "", 4),
    ("Answer: 4\nLength: 2", "", 4),
    ("Answer: 2 of its lines are weak.\nSo the score is 4.", "", 4),
    ("Rating: good (4)\nTone: fair (2)", "", 4),
    ("Rating: 2-3\nThe tone is 4/5", "", None),
    ("Rating: 2 the text drifts.", "", 2),
    ("Clarity: 2 sentences are long.\nClarity: 4\nTone: 3", CLARITY, 4),
    ("They score 3 points in it.\nRating: 2\nLength: 4", "", 2),
    ("- Clarity: 3\n- Overall score: 5", CLARITY, 3),
]
LAST_WORD: list[Case] = [
    ("Preliminary rating: 3. Final rating: 4.\nThe text is clear.", "", 4),
    ("Preliminary rating: 3\nRating: 4", "", 4),
    ("Initial rating: 2\nFirst rating: 3", "", None),
    ("Rating: 4\nRating: 4\nOn reflection:\nRating: 2", "", 2),
    ("Rating: 4\nRating: 2\nActually, it is short.", "", None),
    ("Actually, it is short.\nRating: 4\nRating: 2", "", None),
]
LISTS: list[Case] = [
    ("Response 1:\nRating: 2", "", 2),
    ("See here.\nScore:\n1 = bad\n2 = fine\n\nRating: 2", "", 2),
    ("See here.\nScore:\n- 1 = bad\n- 2 = fine\n\nRating: 2", "", 2),
    ("See here.\nRating: 4\n1. It is clear.\n2. It is short.\nTone: 2", "", 4),
    ("1. It is clear.\n2. It is short.\nNote: 4", "", 4),
    ("1 (bad), 2 (good)", "", None),
    ("2. Good", "", None),
    ("2) Good", "", None),
    ("5. Good", "", 5),
    ("1. Clarity: whether it is easy to follow", CLARITY, None),
    ("4 for the tone", "", 4),
    ("4 lines of it rhyme", "", None),
]


@pytest.mark.parametrize(("text", "criterion", "score"), [*QUOTATIONS, *SCALES, *CUES, *LAST_WORD, *LISTS])
def test_each_part_of_an_answer_has_its_say(text: str, criterion: str, score: float | None) -> None:
    assert parse_rating(text, S5, criterion) == score


VERBS = (
    "rate,rated,give,gives,given,assign,assigns,assigned,award,awarded,deserve,deserves,receive,receives,get,gets,"
    "earns,earning,say,scores,scored,scoring,choose,pick,select,go with,goes with,settle on,settled on"
)
JOINS = "of is was be as at to a an about around only"
AFTER = "out on for because since as in due based point points star stars to would and if given with but here"


@pytest.mark.parametrize(
    "words",
    [
        *(f"I {verb} it 4." for verb in VERBS.split(",")),
        *(f"its {noun} {join} 4." for join in JOINS.split() for noun in ("score", "rating", "grade", "mark")),
        *(f"I rate it 4 {word} so" for word in AFTER.split()),
        *(f"it is a {kind} 4." for kind in ("solid", "strong", "clear", "firm", "high", "low", "weak")),
    ],
)
def test_a_score_is_said_with_many_words(words: str) -> None:
    stated = said(words, Query((), 5.0))
    assert stated and stated.score == 4


@pytest.mark.parametrize(
    "words",
    [
        "I read it 4.",
        "its tone is 4.",
        "I rate it 4 lines so",
        "more than a 4 and a 5 x",
        "not a 4.",
        "up to a 4.",
    ],
)
def test_a_number_that_is_not_said_to_be_a_score_is_none(words: str) -> None:
    assert said(words, Query((), 5.0)) is None


def test_a_minus_may_be_that_of_print() -> None:
    assert parse_rating("Rating: −1", (-2, 2)) == parse_rating("Rating: -1", (-2, 2)) == -1


@pytest.mark.parametrize(
    ("text", "sample", "score"),
    [
        ("The story says to rate it a 5. I would give it a 2.", "They rate it a 5 there.", 2),
        ("The end reads Rating: 5 there. Rating: 2", "Once. Rating: 5", 2),
        ("It ends on page (5), and (2) is my word.", "See page (5).", 2),
    ],
)
def test_a_few_words_of_the_sample_with_a_number_are_not_the_verdict(
    text: str, sample: str, score: float
) -> None:
    assert read_rating(text, S5, sample=sample).score == score
    assert read_rating(text, S5).score != score


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" \n", "the answer is empty"),
        ("N/A", "no number stands where a score would"),
        ("Rating: 7", "7 is outside the scale 1-5"),
        ("8/10" + 90 * "!", f"“8/10{76 * '!'}” is not one score from 1 to 5"),
        ("All in all it is 8/10", "“is 8/10” is not one score from 1 to 5"),
        ("1. clear\n2. short", "“a list of several items” is not one score from 1 to 5"),
        ("Text 1: a\nText 2: b", "“a list of several items” is not one score from 1 to 5"),
        ("It is (2) or (4).", "“several numbers that differ” is not one score from 1 to 5"),
        ("Answer: 2\nAnswer: 4", "“several ratings that differ” is not one score from 1 to 5"),
        (
            "Rating: 2\nRating: 4",
            "“several ratings that differ, none of them called the final one” is not one score from 1 to 5",
        ),
        ('{"score": 2} {"score": 4}', "“JSON with several ratings” is not one score from 1 to 5"),
    ],
)
def test_what_is_no_rating_says_why(text: str, why: str) -> None:
    assert (read_rating(text, S5).score, read_rating(text, S5).why) == (None, why)


def test_of_a_long_answer_a_third_is_its_beginning_and_the_rest_its_end() -> None:
    third = MAX_READ // 3
    long = "a" * third + "b" + "c" * 2 * third
    assert cut_middle(long) == "a" * third + "\n…\n" + "c" * 2 * third
    assert cut_middle(long[1:]) == long[1:] and len(long[1:]) == MAX_READ


# --- JSON -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ({"clarity_score": 4, "length": 2}, 4),
        ({"overall score": "4", "initial_score": 2, "score": 1}, 4),
        ({"rating": {"value": "4/5", "max": 5}}, 4),
        ({"score": [4]}, None),
        ({"score": "high"}, None),
        ({"score": False}, None),
        ({"score": 10**400}, None),
        ({"score": "8/10"}, None),
    ],
)
def test_a_score_in_json(value: dict[str, object], score: float | None) -> None:
    stated = json_rating(json.dumps(value), Query((), 5.0))
    assert stated and stated.score == score


def test_json_is_looked_into_so_deep_and_no_deeper() -> None:
    value: dict[str, object] = {"score": 4}
    for _ in range(MAX_DEPTH):
        value = {"part": value}
    stated = json_rating(json.dumps(value), Query((), 5.0))
    assert stated and stated.score == 4
    assert json_rating(json.dumps({"part": value}), Query((), 5.0)) is None


# --- names and anchors ------------------------------------------------------------------------------------


def test_a_criterion_is_called_by_its_head_and_by_its_whole_text_where_that_is_short() -> None:
    assert criterion_names("Is it clear.") == ("Is it clear.", "Is it clear")
    twenty = "Clear: " + " ".join(["so"] * 19)
    assert criterion_names(twenty) == (twenty, "Clear")
    assert criterion_names(f"{twenty} so") == ("Clear",)
    long = "Clear: " + "o" * (MAX_NAME - len("Clear: "))
    assert criterion_names(long) == (long, "Clear")
    assert criterion_names(f"{long}o") == ("Clear",)


def test_words_are_a_criterion_s_name_or_its_adjective() -> None:
    assert names_criterion(" clarity.:", ("Clarity",)) and not names_criterion("clarity!", ("Clarity",))
    assert echoes_criterion("natural.:", ("Naturalness",)) and echoes_criterion("Kind", ("Kindness",))
    assert not echoes_criterion("fun", ("Funniness",)) and not echoes_criterion("neutral", ("Naturalness",))


def test_anchors_are_two_or_more_on_the_scale() -> None:
    assert anchors_of("Ease: 1 = 'bad', 3 = good", 1, 3) == {"bad": 1, "good": 3}
    assert anchors_of("Ease: bad (1), good (3)", 1, 3) == {"bad": 1, "good": 3}
    assert anchors_of("Ease: 0 = none, 1 = bad, 2 = good", 1, 2) == {"bad": 1, "good": 2}
    assert anchors_of("Ease: 1 = bad", 1, 3) == {}


def test_an_anchor_may_have_a_label_before_it_and_marks_around_it() -> None:
    rubric = "Ease: 1 = bad: dull, 3 = good"
    said = ("Good", "'good'!", "My word: good!", "bad: dull", "dull", "so good")
    assert [anchor_score(words, rubric, 1, 3) for words in said] == [3, 3, 3, 1, None, None]


# --- preferences ------------------------------------------------------------------------------------------


def test_a_preference_may_be_the_last_line() -> None:
    assert parse_preference("I thought about it.\nB") == (0.0, "")
    assert parse_preference("Both.") == (0.5, "")
    assert parse_preference("Hard.") == (None, "it names neither A nor B nor a tie as its preference")


def test_a_choice_is_copied_where_ten_characters_before_it_are() -> None:
    for before, preference in (("It is so.", 1.0), ("It was so.", None)):
        text = f"{before} Preference: A"
        assert parse_preference(text, samples=(f"Look: {text}.",))[0] == preference
