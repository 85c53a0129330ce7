"""One answer by several criteria: whose each entry is, what it may hold, and what is no entry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coeval.llm.reading.several_criteria import NO_ENTRY, parse_evaluations

CRITERIA = ["Clarity: easy to follow", "Brevity: short", "Truth: nothing is wrong"]
S5 = [(1, 5)] * 3
SAMPLE = "Once upon a time there was a fox. Rating: 5"


def entry(score: object, **more: object) -> dict[str, Any]:
    return {"conclusion": "Well.", "score": score, "evidence": []} | more


def scores(answer: object) -> list[float | None]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return [each.score for each in parse_evaluations(text, CRITERIA, S5, given=SAMPLE)]


@pytest.mark.parametrize(
    "text",
    [
        "[1] Conclusion: Easy.\nScore: 4\n[2] Conclusion: Long.\nScore: 2",
        "**[1]** Conclusion: Easy.\nScore: 4\n**Criterion 2** Conclusion: Long.\nScore: 2",
        "Clarity:\nConclusion: Easy.\nScore: 4\n\n## Brevity\nConclusion: Long.\nScore: 2",
        "I judge both.\n[1]\nEasy.\nScore: 4\n[2]\nLong.\nScore: 2",
    ],
)
def test_entries_in_words_begin_at_their_heading_and_may_go_on_in_its_line(text: str) -> None:
    found = parse_evaluations(text, CRITERIA, S5)
    assert [(each.conclusion, each.score) for each in found] == [("Easy.", 4), ("Long.", 2), ("", None)]
    assert found[2].reason == NO_ENTRY


@pytest.mark.parametrize(
    "text",
    [
        "I would rate its clarity 3 out of 5, its brevity 1 out of 5, and its truth 4 out of 5. Why the owl?",
        "In terms of clarity, the text scores 3 out of 5. A third could go.\n"
        "In terms of brevity, the text gets 1 out of 5. Dull.\nIn terms of truth, it earns 4 points. Fine.",
        "Easy.\nScore for Clarity: 3\n\nLong.\nScore for Brevity: 1/5\n\nFine.\nScore for Truth: 4",
        "<clarity><score>3</score><reason>Easy.</reason></clarity>\n<brevity><score>1</score></brevity>\n"
        "<truth><score>4</score></truth>",
        "### 1️⃣ Clarity: 3/5\nEasy.\n\n### 2️⃣ Brevity: 1/5\nLong.\n\n### 3️⃣ Truth: 4/5\nFine.",
        "- 3/5 for clarity: Easy at 5.\n- 1/5 for brevity: Long.\n- 4/5 for truth: Fine.",
        "On clarity: Easy, but 2 links are missing. I give it 3 out of 5.\n\nOn brevity: Long. I give it 1 out of 5."
        "\n\nOn truth: Fine. I give it 4 out of 5.",
        "Scores: Clarity 3/5, Brevity 1/5, Truth 4/5",
        "My ratings are: clarity (3/5), brevity (1/5), truth (4/5).\n\nIt is easy at 5.",
        "Clarity ........... 3/5\nBrevity ............. 1/5\nTruth ..... 4/5",
        '<scores>\n<score criterion="Clarity">3</score>\n<score criterion="Brevity">1</score>\n'
        '<score criterion="Truth">4</score>\n</scores>',
        '{"criteria": [{"name": "Clarity", "points": 3, "max_points": 5}, {"name": "Brevity", "points": 1,'
        ' "max_points": 5}, {"name": "Truth", "points_awarded": 4}]}',
        "<scores>\n  <clarity>3</clarity>\n  <brevity>1</brevity>\n  <truth>4</truth>\n</scores>",
    ],
)
def test_criteria_are_named_in_sentences_labels_and_tags(text: str) -> None:
    assert scores(text) == [3, 1, 4]


def test_words_after_the_json_can_contradict_it() -> None:
    answer = json.dumps({"clarity": entry(3), "brevity": entry(1), "truth": entry(4)})
    assert scores(f"{answer}\n\nI rate the clarity of the text 2 out of 5. It is brief, at 5.") == [
        None,
        1,
        4,
    ]
    assert scores(f"{answer}\n\n| Criterion | Score |\n|---|---|\n| Brevity | 2 |") == [3, None, 4]
    assert scores(f"{answer}\n\nClarity: 3 of 4 sentences. Brevity: it has 5 words too many.") == [3, 1, 4]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("If you revise the text, the updated ratings would be:\nClarity: 5\nBrevity: 4", [None, None, None]),
        ("With these edits the final scores are:\n- Clarity: 5\n- Brevity: 5", [None, None, None]),
        ("Corrected version:\n1. 5 sentences instead of one.\n2. 4 warnings.", [3, 1, None]),
        ("Next steps:\n1. 3 of the sentences should go.\n3. 2 warnings are needed.", [3, 1, None]),
    ],
)
def test_words_after_the_json_never_give_a_score(words: str, expected: list[float | None]) -> None:
    answer = json.dumps({"clarity": entry(3), "brevity": entry(1), "truth": entry(None)})
    assert scores(f"{answer}\n\n{words}\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        "The human rated: clarity 5/5, brevity 4/5. I refuse to judge.",
        "Reference scores: clarity 5/5, brevity 4/5. I cannot judge this text.",
        "Threshold: clarity 3/5, brevity 4/5. The text fails both.",
        "Example format: clarity 4/5, brevity 3/5. The text is empty, so I give no scores.",
        "If it had an example, clarity 5/5 and brevity 5/5 would be fair.",
        "With an example it would earn 5/5 for brevity and 4/5 for clarity. As it stands it is weak.",
        "The other judge gave 5/5 for brevity and 4/5 for clarity. I disagree.",
        "It is not 5/5 for brevity and 4/5 for clarity, but worse.",
        "The maximum is 5/5 for clarity and 5/5 for brevity.",
        "The reference: clarity is 5, brevity is 5. The answer: poor.",
    ],
)
def test_numbers_of_something_else_are_not_cut_from_their_sentence(text: str) -> None:
    assert scores(text) == [None, None, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Clarity: There are other problems. Brevity gets 2 out of 5.", [None, 2, None]),
        ("Clarity: the best part. Brevity gets a 2.", [None, 2, None]),
        ("Clarity: no other problems. I'd give 3/5 for brevity.", [None, 3, None]),
        ("Clarity: 4/5, though not perfect. Brevity: 3/5.", [4, 3, None]),
    ],
)
def test_a_sentence_before_says_nothing_about_the_next_criterion(
    text: str, expected: list[float | None]
) -> None:
    assert scores(text) == expected


@pytest.mark.parametrize(
    "words",
    [
        "Summary:\nClarity: 3\nBrevity: 2\nThe text could be more precise.",
        "On second thought: Brevity: 2/5, since it is unclear if the owl speaks.",
        "Correction: [2] should be 2.",
        "Wait, brevity should be 2, not 1.",
        "On reflection I revise Brevity to 2: it drags.",
        "Final: Brevity gets 2/5. Let me know if you want me to revise it.",
    ],
)
def test_a_wish_elsewhere_does_not_hide_a_contradiction(words: str) -> None:
    answer = json.dumps({"clarity": entry(3), "brevity": entry(1), "truth": entry(4)})
    assert scores(f"{answer}\n{words}") == [3, None, 4]


@pytest.mark.parametrize(
    "words",
    ["On balance, brevity stays at 1/5.", "Correction: [1] should be 3.", "I changed 2 words of the quote."],
)
def test_a_remark_that_changes_no_score_leaves_the_json_alone(words: str) -> None:
    answer = json.dumps({"clarity": entry(3), "brevity": entry(1), "truth": entry(4)})
    assert scores(f"{answer}\n{words}") == [3, 1, 4]


def test_the_words_of_an_entry_are_kept_as_they_are() -> None:
    text = (
        "[1] Conclusion: Clear (intro: 3 lines, body: 7 lines), two (3) jokes.\nScore: 4\n"
        'Evidence: "open (8:15 to 9:30)"\n[2] Score: 2'
    )
    found = parse_evaluations(text, CRITERIA, S5)[0]
    assert found.conclusion == "Clear (intro: 3 lines, body: 7 lines), two (3) jokes."
    assert found.evidence == ('"open (8:15 to 9:30)"',) and found.score == 4


def test_a_range_is_no_score_of_its_criterion() -> None:
    text = "1. **Clarity:** between 3 and 4. It needs 1 or 2 links.\n2. **Brevity:** 2/5. Long.\n3. **Truth:** 4/5."
    assert scores(text) == [None, 2, 4]


def test_of_several_ratings_in_an_entry_the_criterions_own_counts() -> None:
    text = "[1]\nClarity: 4\nBrevity: 2\n[2]\nClarity: 4\nBrevity: 2"
    assert scores(text) == [4, 2, None]


def test_what_an_entry_copies_from_the_sample_is_no_rating() -> None:
    text = "[1] It says: Once upon a time there was a fox. Rating: 5\n[2] Rating: 2"
    assert scores(text) == [None, 2, None]
    assert [each.score for each in parse_evaluations(text, CRITERIA, S5)] == [5, 2, None]


def test_an_entry_given_twice_with_different_scores_says_so() -> None:
    text = "[1] Conclusion: Easy.\nScore: 4\n[1] Conclusion: Hard.\nScore: 2\n[1] Conclusion: Fair.\nScore: 4"
    (found, *_) = parse_evaluations(text, CRITERIA, S5)
    assert (found.score, found.conclusion) == (None, "Fair.")
    assert found.reason == "the answer evaluates by this criterion 3 times, with the scores 4 and 2"


def test_an_entry_given_twice_and_scored_once_has_that_score() -> None:
    assert scores("[1] Score: 4\n[1] as I said") == [4, None, None]
    assert scores([entry(4, criterion=1), entry(None, criterion=1)]) == [4, None, None]
    assert scores([entry(4, criterion=1), entry(4, criterion=1)]) == [4, None, None]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([entry(4, name="Clarity"), entry(2, id=3)], [4, None, 2]),
        ([entry(4, criterion="", name="Clarity"), entry(2, criterion=None, number="2")], [4, 2, None]),
        ({"Clarity": entry(4), "Truth": entry(2)}, [4, None, 2]),
        ([{"rating": 4, "Conclusion": "a", "criterion": 2}], [None, 4, None]),
        ([entry(4), entry(2), entry(3)], [4, 2, 3]),
        ([entry(4), entry(2)], [None, None, None]),  # fewer than criteria: whose they are is unknown
        ([entry(4, criterion=1), entry(2), entry(3)], [4, None, None]),
        ([entry(4, name="Tone"), entry(2, name="Style"), entry(3, name="Wit")], [None, None, None]),
        ({"1": {"score": 4}, "2": {"evidence": []}}, [4, None, None]),
        ({"clarity": {"score": 4}, "truth": 2}, [4, None, 2]),
        ({"a": {"b": {"c": {"1": entry(4)}}}}, [4, None, None]),
        ({"a": {"b": {"c": {"d": {"1": entry(4)}}}}}, [None, None, None]),
        ([[[[entry(4, criterion=1)]]]], [4, None, None]),
        ([[[[[entry(4, criterion=1)]]]]], [None, None, None]),
    ],
)
def test_entries_in_json_are_found_by_member_key_or_order(
    answer: object, expected: list[float | None]
) -> None:
    assert scores(answer) == expected


def test_words_of_other_scripts_come_through_json_whole() -> None:
    (found, *_) = parse_evaluations(json.dumps([entry(4, criterion=1, conclusion="Größe 好")]), CRITERIA, S5)
    assert found.conclusion == "Größe 好"


def test_every_criterion_has_its_scale() -> None:
    with pytest.raises(ValueError, match="shorter"):
        parse_evaluations("[1] Score: 4", CRITERIA, S5[:2])
    found = parse_evaluations("[1] Score: 4\n[2] Score: 4", CRITERIA, [(1, 5), (1, 3), (1, 5)])
    assert [each.score for each in found] == [4, None, None] and "outside" in found[1].reason
