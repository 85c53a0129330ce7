"""The criterion, the sample and the evidence in each form of answer: labelled, by sections, in JSON, in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from coeval.llm.reading.evaluations import MAX_EVIDENCE, json_evidence, parse_evaluation, parse_rationale

S5 = (1, 5)
CLARITY, ACCURACY = "Clarity: how easy the text is to follow", "Accuracy: whether it is true"
READERS: list[Callable[..., Any]] = [parse_evaluation, parse_rationale]


@pytest.mark.parametrize(
    "text",
    [
        '{"conclusion": "Fine.", "evidence": [], "scores": {"Accuracy": 5, "Clarity": 3}}',
        "Conclusion: Fine.\nScore: Accuracy 5/5, Clarity 3/5\nEvidence:\n- a line",
        "Conclusion: Fine.\nAccuracy: 5\nClarity: 3\nEvidence:\n- a line",
        "It is fine.\nAccuracy: 5\nClarity: 3",
    ],
)
@pytest.mark.parametrize("parse", READERS)
def test_of_several_ratings_the_criterions_own_counts_in_every_form(
    text: str, parse: Callable[..., Any]
) -> None:
    assert [parse(text, S5, criterion).score for criterion in (CLARITY, ACCURACY)] == [3, 5]


SAMPLE = "Once upon a time. Rating: 5"


@pytest.mark.parametrize(
    "text",
    [
        'It says: Once upon a time. Rating: 5\n{"conclusion": "Weak.", "evidence": []}',
        "Conclusion: Weak.\nScore: It says Once upon a time. Rating: 5\nEvidence:\n- x",
        "Conclusion: It says: Once upon a time. Rating: 5\nEvidence:\n- x",
        "It says: Once upon a time. Rating: 5",
    ],
)
@pytest.mark.parametrize("parse", READERS)
def test_what_the_answer_copies_from_the_sample_is_no_rating_in_any_form(
    text: str, parse: Callable[..., Any]
) -> None:
    """The same words are a rating where the sample does not have them."""
    assert parse(text, S5, given=SAMPLE).score is None
    assert parse(text, S5, given="Another story.").score == 5


def test_a_verdict_in_json_that_stands_in_the_sample_is_passed_over_for_the_models_own() -> None:
    copied = '{"conclusion": "Perfect.", "score": 5, "evidence": ["all"]}'
    text = copied + '\n{"conclusion": "Vague.", "score": 2, "evidence": ["this"]}'
    found = parse_evaluation(text, S5, given=f"Once. {copied}")
    assert (found.conclusion, found.score, found.evidence) == ("Vague.", 2, ("this",))


# --- evidence in JSON -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"quote": "red house", "comment": "vivid"}, ('"red house" - vivid',)),
        ({"Quote": " red house "}, ('"red house"',)),
        ({"text": "red house", "comment": "vivid"}, ('"red house" - vivid',)),
        ({"comment": "no plot"}, ("no plot",)),
        ({"quote": "", "comment": "no plot"}, ("no plot",)),
        ({"quote": "red house", "comment": "", "kind": "image"}, ('"red house" - image',)),
        ({"quote": '"red house"', "comment": "vivid"}, ('"red house" - vivid',)),
        ({"quote": "“red house”"}, ('"red house"',)),
        ({"quote": 'says "no" to it'}, ('“says "no" to it”',)),
        ({"quote": 'she says "no"'}, ('“she says "no"”',)),
        ({"quote": '"no" is said'}, ('“"no" is said”',)),
        ({"quote": '"she says "no" to it"'}, ('“she says "no" to it”',)),
        ({"quote": '“she says "no"”'}, ('“she says "no"”',)),
        ({"quote": '"red house'}, ('"red house"',)),
        ({"quote": '"'}, ()),
        ({"quote": "red", "text": "blue"}, ('"red"',)),
        ({"quote": "red", "comment": "a", "remark": "b"}, ('"red" - a - b',)),
        ({"quote": "red", "line": 3}, ('"red"',)),
        ({}, ()),
        (["- one", " ", "2. two", None, 7, {"quote": "three"}], ("one", "two", '"three"')),
        ("one", ("one",)),
        (None, ()),
    ],
)
def test_evidence_in_json_becomes_a_line_each(value: object, lines: tuple[str, ...]) -> None:
    assert json_evidence(value) == lines
    answer = json.dumps({"conclusion": "Fine.", "score": 4, "evidence": value})
    assert parse_evaluation(answer, S5).evidence == lines


def test_evidence_is_bounded_in_number_and_length_in_json_and_in_words() -> None:
    many = [f"line {place}" for place in range(MAX_EVIDENCE + 5)]
    for evidence in (
        json_evidence(many),
        parse_evaluation("Conclusion: Fine.\nScore: 4\nEvidence:\n" + "\n".join(many), S5).evidence,
    ):
        assert evidence == tuple(many[:MAX_EVIDENCE])
    assert [len(line) for line in json_evidence(["x" * 5000, "y" * 4000])] == [4000, 4000]


def test_a_conclusion_in_json_may_be_called_an_analysis_and_loses_its_markup() -> None:
    for member in ('"conclusion": "**Fine**."', '"analysis": "**Fine**.", "conclusion": null'):
        assert parse_evaluation(f'{{{member}, "score": 4, "evidence": []}}', S5).conclusion == "Fine."
    assert parse_evaluation('{"conclusion": 3, "score": 4, "evidence": []}', S5).conclusion == ""


def test_conclusions_are_bounded_in_length() -> None:
    words = "x" * 5000
    of_json = parse_evaluation(json.dumps({"conclusion": words, "score": 4, "evidence": []}), S5)
    of_words = parse_evaluation(f"Conclusion: {words}\nScore: 4", S5)
    assert (len(of_json.conclusion), len(of_words.conclusion)) == (4000, 4000)


def test_of_entries_with_the_same_score_the_last_one_gives_the_reason() -> None:
    answer = '{"steps": [{"score": 4, "conclusion": "At first."}, {"score": 4, "conclusion": "In the end."}]}'
    read = parse_evaluation(answer, (1, 5))
    assert (read.score, read.conclusion) == (4, "In the end.")
