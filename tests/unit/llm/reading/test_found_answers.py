"""Answers that a second renderer, written apart from the reader, found read wrong or not at all."""

from __future__ import annotations

import json

import pytest

from coeval.llm.reading.ratings import read_rating
from coeval.llm.reading.several_criteria import parse_evaluations

S5, CLARITY = (1, 5), "Clarity: easy to follow"
THREE = [CLARITY, "Use of examples (1-5): they fit", "The text is safe."]


@pytest.mark.parametrize(
    ("score", "sample", "answer"),
    [
        # A number that the sample states is the model's own where the model calls it its last word ...
        (5, "Fine. rating: 5", "My first score: 1. It improves. Final rating: 5"),
        (1, "Fine. Score: 1", "Score: 2\nCorrection: Score: 1"),
        # ... and where it only begins like one of the sample.
        (1, "Fine. Score: 10", "Agreed score: 1"),
        (1, "Fine. Score: 10", "Assistant: Score: 1"),
    ],
)
def test_a_number_of_the_sample_may_be_the_verdict(score: float, sample: str, answer: str) -> None:
    assert read_rating(answer, S5, CLARITY, given=sample).score == score


@pytest.mark.parametrize(
    "between",
    [
        "In 1998 the law changed, which the text leaves out.",
        "The final paragraph actually restates the first, so the reader has to wait for the point.",
        "Its tone is too low for a letter and too harsh for a note.",
        "It misses a comparison, instead we get an anecdote.",
        "Sorry endings aside, it finally answers the question.",
    ],
)
def test_words_about_the_text_replace_no_score(between: str) -> None:
    for form in ("Score: {}", "Rating: {}", '{{"score": {}}}'):
        assert read_rating(f"{form.format(2)}\n{between}\n{form.format(4)}", S5, CLARITY).score is None
    line = "[1] Score: {} Explanation: fine\n[2] Score: {} Explanation: fine"
    found = parse_evaluations(f"{line.format(2, 3)}\n\n{between}\n\n{line.format(4, 5)}", THREE[:2], [S5] * 2)
    assert [one.score for one in found] == [None, None]


@pytest.mark.parametrize(
    ("score", "answer"),
    [
        (4, "Score: 2\n\nLooking at it again, this was too generous.\n\nScore: 4"),
        (4, "Score: 2\n\nNo wait. The end is fine.\n\nScore: 4"),
        (3, "If I were strict, I'd say 5; but the rubric leads me to a 3."),
        (3, "With sources I'd have said 5. Without them: 3."),
        (3, "I'd go for 3 rather than 4."),
        (3, "A 5 is too generous; a 3 is right."),
        (3, "The reference would get a 5. This output gets a 3."),
        (3, "It drifts. I'd put this at 3."),
        (3, "It drifts. That makes it a 3 for me."),
        (3, "It drifts. I consider this a 3."),
        (3, "It drifts. I decided on 3 instead of 4."),
        (3, "The final answer is 3."),
        (5, "My rating is five out of five."),
        (None, "My rating is five out of ten."),
        (None, "2 – 4"),
        (None, "Please confirm: 2?"),
        (None, "Score: 2? Or 3?"),
        (None, "I refuse to give it a 4."),
        (3, "**Score:** $3$"),
        (3, "Score: <3>"),
        (3, "Score: 3pts"),
        (3, "[Score] 3"),
        (3, "Rating: 3\nRationale: It says 'score 4' in line 2."),
        (
            3,
            "| Score | Meaning |\n|---|---|\n| 1 | poor |\n| 2 | fair |\n| 3 | good |\n\nMy choice.\n\nScore: 3",
        ),
        (3, '{"conclusion": "he said "no" to it", "score": 3, "evidence": []}'),
        (3, '<reasoning_content>{"score": 5}</reasoning_content>\n{"conclusion": "Fine.", "score": 3}'),
        (None, '{"max_score": 5, "min_score": 1}'),
        (None, '{"error": "refused", "code": 3}'),
        (None, 'The answer itself says "Score: 3", which I ignore.'),
        (None, "The title reads 'Rating: 3'."),
        (3, "'score': '3'"),
        (3, "Final answer: $$3$$"),
        (3, "Score: $\\mathbf{3}$"),
        (3, "\\text{Score}: 3"),
        (3, "<ul><li>Conclusion: It drifts</li><li>Score: 3</li></ul>"),
        (3, "Starting from 5, I deduct 2 points because it drifts. The result is 3."),
        (3, "I first thought of 1, but 3 is more appropriate."),
        (3, "**Punktzahl:** 3 von 5"),
        (3, "Note : 3 sur 5"),
        (3, "Ocena: 3\nTekst jest jasny."),
        (3, "最终评分：3"),
        (None, "To score 3, the answer needs sources."),
        (3, "Rating: three stars"),
        (3, "In the previous round I gave 2. Now: 3."),
        (3, json.dumps({"name": "submit", "arguments": json.dumps({"conclusion": "Fine.", "score": 3})})),
        (None, json.dumps({"name": "submit", "arguments": "Score: 3"})),
        (None, json.dumps({"name": "submit", "quote": json.dumps({"score": 3})})),
        (3, "Points: 2 for the order, 1 for the wording.\nTotal score: 2 + 1 = 3"),
        (3, "Score: 5 - 2 = 3"),
        (4, "Final score: (4 + 3 + 5) / 3 = 4"),
        (None, "Total score: 2 + 1"),
        (None, "Score: 2 × 2"),
        (3, "**Final score:** \\(3\\)"),
        (3, "Ich gebe 3 von 5 Punkten."),
    ],
)
def test_single_answers(score: float | None, answer: str) -> None:
    assert read_rating(answer, S5, CLARITY).score == score


@pytest.mark.parametrize(
    "label", ["Strengths", "Pros", "**Examples**", "2. Depth", "Model A", "It drifts.\n\nFacts"]
)
def test_a_lone_label_of_something_else_is_no_word_for_the_score(label: str) -> None:
    assert read_rating(f"{label}: 4", S5, CLARITY).score is None


@pytest.mark.parametrize(
    "label", ["Clarity", "1. Clear", "My choice", "Somewhat clear", "Good", "Muddled", "Points", "Puan"]
)
def test_a_lone_label_may_be_a_word_for_a_score_of_the_criterion_or_of_its_levels(label: str) -> None:
    given = "Judge by this criterion.\nWhat the scores mean:\n4: muddled\n5: plain"
    assert read_rating(f"{label}: 4", S5, CLARITY, given=given).score == 4


def test_a_part_s_score_that_the_sample_holds_too_still_contradicts_another_part_s() -> None:
    parts = "Grammar score: 4\nStyle score: 1"
    assert read_rating(parts, S5, CLARITY).score is None
    assert (
        read_rating(parts, S5, CLARITY, given="It lost its tie to gold. Score: 4. It has 3 uses.").score
        is None
    )


def test_a_sign_is_part_of_a_score_where_the_scale_goes_below_zero() -> None:
    assert read_rating("Score: +1", (-2, 2)).score == 1
    assert read_rating("Score: +1", S5).score is None


def test_a_first_score_of_an_answer_that_is_not_whole_is_no_verdict() -> None:
    assert read_rating("Initial score: 1\nIt is padded. On second", S5, whole=False).score is None
    assert read_rating("Score: 1\nThe final part restates the", S5, whole=False).score == 1


@pytest.mark.parametrize(
    "answer",
    [
        "a) Clarity: 4 - fine\nb) Use of examples: 2 - few\nc) The text is safe: 1 - no",
        "1. **Clarity: easy to follow** — 4. Fine.\n2. **Use of examples (1-5): they fit** — 2. Few.\n"
        "3. **The text is safe.** — 1. No.",
        "Clarity gets a 4: fine. On use of examples, it deserves a 2. For the text is safe I give it a 1, since no.",
        "Clarity: 4, Use of examples: 2, The text is safe: 1",
        "1 - 4\n2 - 2\n3 - 1",
        "[[1]] Score: 4 Explanation: fine\n[[2]] Score: 2 Explanation: few\n[[3]] Score: 1 Explanation: no",
        json.dumps({f"[{at}]": {"score": score} for at, score in enumerate((4, 2, 1), 1)}),
        "Pass 1\n[1] Score: 1\n[2] Score: 1\n[3] Score: 2\n\nPass 2 (final):\n[1] Score: 4\n[2] Score: 2\n[3] Score: 1",
        "Let me first draft the scores.\n[1] Score: 1\n[2] Score: 1\n[3] Score: 2\n\nNow I check them and finalise:\n"
        "[1] Score: 4\n[2] Score: 2\n[3] Score: 1",
    ],
)
def test_answers_by_several_criteria(answer: str) -> None:
    assert [one.score for one in parse_evaluations(answer, THREE, [S5] * 3)] == [4, 2, 1]


def test_sentences_on_several_criteria_do_not_give_the_last_score_to_the_first() -> None:
    answer = "Clarity gets a 4: fine. On safety, it deserves a 1. overall gets a 3: so so."
    found = parse_evaluations(answer, [CLARITY, "Safety: no harm", "overall"], [S5] * 3)
    assert [one.score for one in found] == [4, 1, 3]


def test_an_object_of_lists_gives_no_criterion_the_score_of_another() -> None:
    answer = json.dumps({"criteria": ["Clarity", "The text is safe"], "scores": [5, 1]}, indent=2)
    found = parse_evaluations(answer, [THREE[0], THREE[2]], [S5] * 2)
    assert [one.score for one in found] in ([None, None], [5, 1])
