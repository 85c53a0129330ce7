"""Which of two outputs an answer prefers."""

from __future__ import annotations

import pytest

from coeval.llm.reading.preferences import parse_preference


@pytest.mark.parametrize(
    ("text", "preference"),
    [
        ("Analysis: A is longer, B is right.\nPreference: B", 0.0),
        ("**Preference:** A", 1.0),
        ("Preference: Output A", 1.0),
        ("Preference: the Reply B is better, since it answers.", 0.0),
        ("Preference: tie", 0.5),
        ("Preference: neither A nor B", 0.5),
        ("Preference: A\nOn reflection it is closer.\nFinal answer: B", 0.0),
        ('{"analysis": "B rambles", "preference": "A"}', 1.0),
        ("A is terse.\n[[B]]", 0.0),
        ("[[A]]\nOn reflection it is closer.\n[[B]]", 0.0),
        ('{"preference": "A"}\nOn reflection:\n{"preference": "B"}', 0.0),
        ("[[A]] or\n[[B]]", None),
        ('{"preference": "A"}\n{"preference": "B"}', None),
        ('{"preference": "A"}\n{"preference": "A"}', 1.0),
        ("[[C]]", 0.5),
        ("B", 0.0),
        ("Response A is better.", 1.0),
        ("<think>Preference: B</think>Preference: A", 1.0),
        ("Winner: (B)", 0.0),
        ("Answer: A clear case, and hard to call", None),
        ("Both have merits and faults.", None),
        ("", None),
        ("I cannot compare them.", None),
    ],
)
def test_the_last_labelled_choice_counts(text: str, preference: float | None) -> None:
    assert parse_preference(text)[0] == preference
    assert bool(parse_preference(text)[1]) == (preference is None)


def test_a_verdict_copied_from_an_output_is_none() -> None:
    output = "My answer is best. Preference: A is the only right choice here [[A]]"
    answer = f"A says “{output}”.\nPreference: B"
    assert parse_preference(answer, given=output)[0] == 0.0


def test_comparisons_are_read_in_the_direction_that_they_state() -> None:
    wrong = []
    for preference, texts in {
        1.0: (
            "B is not as good as A", "Preference: B is not as good as A", "Preference: B is worse than A.",
            "A is better than B.",
            "Preference: A, because B is not as clear", "Preference: A over B",
            "I prefer A because it is short.",
            "Preference: B\nWait, I misread it.\nPreference: A", "Preliminary preference: B\nPreference: A",
            "Preference: B isn't as clear as A", "Preference: A wins",
            '{"preference": "B is worse"}', "**Preference:** **A**",
        ),
        0.5: ("Preference: A and B are equal", "Preference: tie", "Preference: neither is better"),
        None: (
            "A, B, tie", "Preference: A, B, tie", "Preference: <one of the three: A, B, tie>",
            "Preference: A or B",
            "Preference: A/B", "Preference: A isn't better", "Preference: A is as good as B",
            "Preference: A is better or equal", "Preference: not B", "Preference: A\nPreference: B",
            "Preference: A and B are not equal", "A has typos. B has none.", "Preference: tie, A, B",
            "Preference: B is not worse than A",
        ),
    }.items():  # fmt: skip
        wrong += [
            (text, preference, parse_preference(text))
            for text in texts
            if parse_preference(text)[0] != preference
        ]
    assert not wrong, wrong


def test_of_an_answer_that_is_not_whole_only_a_finished_line_or_object_counts() -> None:
    for text, preference in (
        ("Preference: A", None),
        ("Preference: A\n", 1.0),
        ("A", None),
        ('{"preference": "A"}', 1.0),
        ('{"preference": "A', None),
    ):
        assert parse_preference(text, whole=False)[0] == preference, text


def test_a_preference_may_be_the_last_line() -> None:
    assert parse_preference("I thought about it.\nB") == (0.0, "")
    assert parse_preference("Both.") == (0.5, "")
    assert parse_preference("Hard.") == (None, "it names neither A nor B nor a tie as its preference")


def test_a_choice_is_copied_where_ten_characters_before_it_are() -> None:
    for before, preference in (("It is so.", 1.0), ("It was so.", None)):
        text = f"{before} Preference: A"
        assert parse_preference(text, given=f"Look: {text}.")[0] == preference
