"""What is in the form is read, and everything else is not: scores, preferences, lists, thoughts, and copies."""

from __future__ import annotations

import json

import pytest

from coeval.llm.reading.answer_text import (
    MAX_ATTEMPTS,
    find_json,
    find_members,
    read_list,
    strip_bullet,
    strip_markup,
    strip_thoughts,
)
from coeval.llm.reading.evaluations import MAX_EVIDENCE, read_evaluation, read_evaluations
from coeval.llm.reading.scores import DIFFERENT, MAX_READ, read_preference

S5 = (1, 5)
CLARITY = "Clarity: the text is easy to follow"


@pytest.mark.parametrize(
    "text",
    [
        '{"conclusion": "Fine.", "score": 4, "evidence": []}',
        'Here:\n```json\n{"rating": "4/5"}\n```\nI hope this helps.',
        '[{"score": "04"}]',
        '{"Clarity": 4}',
        '{"conclusion": "Fine.", "score": 4, "evidence": [{"quote": "cut he',
        "Score: 4",
        "It is fine.\n\n**Rating:** 4 out of 5\n",
        "- *Score*: `4/5`.",
        "2. Score: 4",
        "Score (1-5): 4",
        "## Clarity: 4",
        "Rating: 4 Rationale: It has 3 parts.",
        "Score: 4\nRating: 4",
        "4",
        "**4 / 5**",
        "الدرجة: ٤",
        "التقييم: ٤ من ٥",
        "Score: ４",
        "\u200fScore:\u200e 4\u200f",
        "Grammar: 2\nScore\u00a0:\u00a04",
        "<think>Score: 2?</think>Score: 4",
        'Number of errors: 2\n{"score": 4}',
    ],
)
def test_a_score_in_the_form_is_read(text: str) -> None:
    read = read_evaluation(text, S5, CLARITY)
    assert (read.score, read.reason) == (4, "") and read.form in ("JSON", "label", "bare number")


@pytest.mark.parametrize(
    "text",
    [
        "I would give it a 4.",
        "Score: 4, but it could be a 2",
        "Score: 3-4",
        "Score: 4 or 5",
        "Score: four",
        "Score: 4/10",
        "Score: 4\nRating: 3",
        "Score: 4\n\nFinal score: 2",
        "Score: 4\nOn second thought, my rating: 3",
        "Score: 4\nNo.\n2",
        "Score: 4\n\n**2/5**",
        "Score: 4\nRevised: 2",
        '{"score": 4}\n**Actually**: 2/5.',
        '{"score": 4}\nRevised: 2\n{"words": 7}',
        "Final score: 4",
        "Please divide the given number by 4",
        '{"score": 4} {"score": 2}',
        '{"score": 4, "score": 2}',
        '{"score": 4, "rating": 2}',
        '{"score": 4, "final_score": 2}',
        '{"score": 4}\nFinal score: 2',
        '{"previous": {"score": 4}}',
        '{"previous": {"score": 4}, "conclusion": "cut',
        '{"conclusion": "It says \\"score\\": 4, twice',
        '{"score": true}',
        '{"score": null}',
        '{"score": NaN}',
        '{"score": [4]}',
        "<think>Score: 4",
        "| Clarity | 4 |",
        "",
        "Score: 4" + " " * MAX_READ,
    ],
)
def test_a_score_that_is_not_in_the_form_is_not_read(text: str) -> None:
    read = read_evaluation(text, S5, CLARITY)
    assert read.score is None and read.reason and not read.form


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Final score: 4", 4),
        ("I say score: 4, more or less.", 4),
        ("Score: 4\nFinal score: 2", None),
        ("Rating: 2\nRationale:\n- 1\n- 2\n- 3", 2),
        ("Score from 1 to 5?", None),
        ("I would give it a 4.", None),
        ("Score: 4 -> 2", None),
        ("Rating (of 5): 4", None),
        ("Final score: ~~4~~ 2", 2),
        ("Rating: 10\nIt is positive: the rating is 10.", 10),
        ('{"score": 9}', 9),
        ("9", 9),
        ('{"score": 9}\nFinal score: 4', None),
        ('{"score": 0}\n{"score": 9}', None),
        ('{"score": null}', None),
        ("Rating: 8/10", None),  # the second answer may state it on the scale
        ('{"score": "8/10"}', None),
        ("8/10", None),
    ],
)
def test_the_only_number_after_a_label_is_kept_to_check_the_second_answer(
    text: str, stated: float | None
) -> None:
    assert read_evaluation(text, S5).stated == stated


@pytest.mark.parametrize("text", ["Score: -1", "-1", "**Rating:** −1/2\nIt has 2 parts.", '{"score": -1}'])
def test_a_score_below_zero_is_read_with_its_sign(text: str) -> None:
    assert read_evaluation(text, (-2, 2)).score == -1
    assert read_evaluation(f"{text}\nFinal score: 1", (-2, 2)).score is None
    assert [one.score for one in read_evaluations("[1] -2\n[2] Score: -1", TEXTS, [(-2, 2)] * 3)] == [
        -2,
        -1,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"score": 9}', "9 is outside the scale 1-5"),
        ("Score: 0", "0 is outside the scale 1-5"),
        ('{"score": null}', "“null” is not a score from 1 to 5"),
        ('{"score": "good"}', "“good” is not a score from 1 to 5"),
        ("Score: 1\nScore: 2", DIFFERENT),
    ],
)
def test_the_reason_names_the_value(text: str, reason: str) -> None:
    assert read_evaluation(text, S5).reason == reason


@pytest.mark.parametrize(
    "text", ["Score: 1", '{"score": 1', '{"score": 1}'[:-1], "1", "Analysis: x\nScore: 1"]
)
def test_a_number_at_the_cut_is_no_score(text: str) -> None:
    assert read_evaluation(text, (1, 10), whole=False).score is None


def test_complete_lines_and_members_before_the_cut_count() -> None:
    for text in ("Rating: 4\nRationale: The te", '{"score": 4, "conclusion": "The te', '{"score": 4}'):
        assert read_evaluation(text, S5, whole=False).score == 4


SAMPLE = 'Once.\nRating: 5\n{"conclusion": "Perfect.", "score": 5}'


def test_what_the_answer_copies_states_nothing() -> None:
    assert (
        read_evaluation(f"The text says:\n{SAMPLE}\n\nIt is not a verdict.", S5, given=SAMPLE).score is None
    )
    assert read_evaluation(f"The text says:\n{SAMPLE}\n\nRating: 2", S5, given=SAMPLE).score == 2
    own = '{"conclusion": "It says \\"Rating: 5\\".", "score": 2}'
    assert read_evaluation(f"{SAMPLE}\n{own}", S5, given=SAMPLE).score == 2
    form = '{"evaluations": [{"criterion": 1, "score": 5}]}'
    (read,) = read_evaluations(f"{form}\n[1] Score: 5", [CLARITY], [S5], given=f"{form}\n[1] Score: 5")
    assert read.score is None


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"quote": "red house", "remark": "vivid"}, ('"red house" - vivid',)),
        ({"text": "red house"}, ('"red house"',)),
        ({"quote": 'says "no" to it'}, ('“says "no" to it”',)),
        ({"quote": '"red house"', "remark": ""}, ('"red house"',)),
        (["- one", " ", "2. two", None, 7], ("one", "two")),
        ("one", ("one",)),
        (None, ()),
        ([f"line {n}" for n in range(40)], tuple(f"line {n}" for n in range(MAX_EVIDENCE))),
    ],
)
def test_evidence_in_json_becomes_a_line_each(value: object, lines: tuple[str, ...]) -> None:
    read = read_evaluation(json.dumps({"analysis": "**Fine**.", "score": 4, "evidence": value}), S5)
    assert (read.conclusion, read.evidence) == ("Fine.", lines)


@pytest.mark.parametrize(
    ("text", "conclusion", "evidence"),
    [
        ("Rating: 4\nRationale: It is clear.", "It is clear.", ()),
        ("Analysis: It is clear.\nIt has 2 parts.\nRating: 4/5", "It is clear.\nIt has 2 parts.", ()),
        ('1. Conclusion: Clear.\n2. Score: 4\n3. Evidence:\n- "a b"\n- “c d”', "Clear.", ('"a b"', "“c d”")),
        ("4", "", ()),
        ("I would give it a 4.", "I would give it a 4.", ()),
    ],
)
def test_the_words_around_a_score_are_the_conclusion(
    text: str, conclusion: str, evidence: tuple[str, ...]
) -> None:
    read = read_evaluation(text, S5)
    assert (read.conclusion, read.evidence) == (conclusion, evidence)


TEXTS, SCALES = [CLARITY, "The text is short.", "overall"], [(1, 5), (1, 3), (1, 5)]
FUSED = (
    '[1] Score: 4 Explanation: clear Evidence: "a b c"\n[2] Score: 2 Explanation: long\n[overall] Score: 3'
)


def entries(*scores: tuple[object, object]) -> str:
    return json.dumps({"evaluations": [{"criterion": by, "score": score} for by, score in scores]})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (FUSED, [4, 2, 3]),
        ("**[1]** Score: 4/5\n- [Clarity] Rating: 4\n[3] Score: 1", [4, None, 1]),
        (entries((1, 4), ("[2]", 2), ("overall", "3")), [4, 2, 3]),
        (entries(("Clarity", 4), ("The text is short.", 2)), [4, 2, None]),
        (json.dumps({"1": 4, "2": 2, "overall": 3}), [4, 2, 3]),
        (entries((1, 4), (1, 2), (2, 9)), [None, None, None]),
        (entries((0, 4), (1, 2), (2, 3)), [None, None, None]),  # counted from 0: no number can be trusted
        (entries((1, 4), (2, 2), (3, 1))[:-8], [4, 2, None]),
        ("[0] Score: 4\n[1] Score: 2\n[2] Score: 3", [None, None, None]),
        ("[1] Score: 4\n[1] Score: 2\n[2] Score: 2 Final score: 3", [None, None, None]),
        ("Score: 4\nScore: 2\nScore: 3", [None, None, None]),
        ("**Clarity**: 4/5\n- The text is short: 2\nOverall: 3", [4, 2, 3]),
        ("Clarity: 3\n[1] Score: 4\n[2] Score: 2\n[3] Score: 3", [None, 2, 3]),
        ("[1] Score: 4\nClarity: it is clear.\n[2] Score: 2", [4, 2, None]),
        (entries((1, 4), (2, 2)) + "\n[1] Score: 3\n[2] Score: 2\n[3] Score: 1", [None, 2, 1]),
        ("[1] Score: 4\n[2] Score: 2\nOverall: 3", [4, 2, 3]),
        ("[1] Score: 4\nTotal: 3\n[2] Score: 2\n[3] Score: 3", [None, 2, 3]),
        ("{" * 5000, [None, None, None]),
    ],
)
def test_scores_by_several_criteria_are_read_by_number_or_name(text: str, wanted: list[float | None]) -> None:
    assert [one.score for one in read_evaluations(text, TEXTS, SCALES)] == wanted


@pytest.mark.parametrize(
    "line",
    [
        "Overall: 3/5",
        "Average score: 3.5",
        "**Total**: 6",
        "Overall: 3 out of 5",
        "Total: 6 of 10",
        "Mean: 3",
        "Overall rating (1-5): 3",
        "Overall average: 3",
        "Total: 6\nAverage = 3",
        "Overall score: 3/5\n\nThanks",
    ],
)
def test_a_last_line_about_all_criteria_restates_none_of_them(line: str) -> None:
    form = "[1] Score: 4\n[2] Score: 2\n"
    for words, score in (
        (form + line, 2),
        (f"{form}Revised: 3\n{line}", None),
        (f"{form}{line}\nRevised: 3", None),
    ):
        assert [one.score for one in read_evaluations(words, TEXTS[:2], SCALES[:2])] == [4, score]
    (single,) = read_evaluations(f"[1] Score: 4\n{line}", TEXTS[:1], SCALES[:1])
    assert single.score is None


def test_a_word_for_a_total_may_begin_a_word_of_a_criterion() -> None:
    texts = ["The summary is short", "The meaning is kept"]
    for line in ("Sum: 8", "Mean: 3.5"):
        read = read_evaluations(f"[1] Score: 4\n[2] Score: 3\n{line}", texts, SCALES[:2])
        assert [evaluation.score for evaluation in read] == [4, 3]


def test_an_answer_with_two_scores_of_a_criterion_states_neither() -> None:
    first, *_ = read_evaluations(entries((1, 4)) + "\nClarity: 5", TEXTS, SCALES)
    assert (first.score, first.reason, first.stated) == (None, DIFFERENT, None)


def test_the_last_entry_of_a_cut_form_counts_only_if_its_line_is_complete() -> None:
    for cut, last in (
        ("[1] Score: 4\n[2] Score: 2 Explanation: lo", None),
        ("[1] Score: 4\n[2] Score: 2\nIt", 2),
    ):
        assert [one.score for one in read_evaluations(cut, TEXTS, SCALES, whole=False)] == [4, last, None]
    first = read_evaluations(FUSED, TEXTS, SCALES)[0]
    assert (first.conclusion, first.evidence) == ("clear", ('"a b c"',))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Analysis: A is longer.\nPreference: B", 0),
        ('{"analysis": "A is longer.", "preference": "A"}', 1),
        ("**Preference:** tie", 0.5),
        ("B", 0),
        ("A is a better alternative to B. B is the better alternative to A.", None),
        ("Preference: A\nPreference: B", None),
        ("Preference: A\nFinal verdict: B", None),
        ("Preference: A or B", None),
        ("<think>Preference: A", None),
        ("", None),
    ],
)
def test_a_preference_in_the_form_is_read(text: str, choice: float | None) -> None:
    assert read_preference(text)[0] == choice


def test_a_preference_at_the_cut_or_in_the_sample_is_none() -> None:
    assert read_preference("Preference: A", whole=False)[0] is None
    assert read_preference("Preference: A\nIt", whole=False)[0] == 1
    assert read_preference("It says:\nPreference: A", given="Preference: A")[0] is None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["Be clear.", "Be short."]', ["Be clear.", "Be short."]),
        (
            'So:\n```json\n{"criteria": ["Be **clear**.", "be clear", "Be short."]}\n```',
            ["Be clear.", "Be short."],
        ),
        (
            "Sure:\n1. **Clarity**: easy\n   to read\n2) _Brevity_\n\nGood luck!",
            ["Clarity: easy to read", "Brevity"],
        ),
        ("* Be clear.\n* Be short.", ["Be clear.", "Be short."]),
        ("Be clear.\nBe short.", []),
        ('{"criteria": ["Be cle', []),
        ("I cannot help with that.", []),
    ],
)
def test_a_list_in_the_form_is_read(text: str, items: list[str]) -> None:
    assert read_list(text) == items


def test_lists_are_bounded_and_keep_no_copies() -> None:
    assert len(read_list("\n".join(f"{n}. item {n}" for n in range(100)))) == 30
    (only,) = read_list("1. " + "word " * 300)
    assert len(only) <= 500 and only.endswith("word")
    given = "Every criterion asks for one thing only. Be short."
    assert read_list("1. asks for one thing only\n2. Be short.", given=given) == ["Be short."]
    assert read_list("1. Be clear.\n2. Be sho", whole=False) == ["Be clear."]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a<think>b</think>c<think>d</think>e", "ace"),
        ("a</think>b", "b"),
        ("a<think>b", ""),
        ("<think>a<think>b</think>c", "c"),
        ("<|channel|>final<|message|>a<|end|><|channel|>final<|message|>b<|return|>c", "b"),
        ("<|channel|>analysis<|message|>a<|end|>", ""),
        ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("[Analysis] a [Score] b", "[Analysis] a [Score] b"),  # headings
        ('{"a": "a <think> b"}', '{"a": "a <think> b"}'),
        ("\ufeffa", "a"),
    ],
)
def test_thoughts_go_and_the_answer_stays(text: str, answer: str) -> None:
    assert strip_thoughts(text) == answer


def test_markup_and_bullets_leave_the_words() -> None:
    assert (
        strip_markup("## **bold** *it* `code` __b__ snake_case\r\n> three\n* one")
        == "bold it code b snake_case\nthree\n- one"
    )
    assert [strip_bullet(f"  {mark} x y ") for mark in ("-", "12.", "(3)", "a)", "- 2.")] == ["x y"] * 5
    assert strip_bullet("2.5 x") == "2.5 x"


def test_json_is_found_in_words_and_within_bounds() -> None:
    assert [found.value for found in find_json('a {"b": [1]} c [{"d": 2}] [3]')] == [{"b": [1]}, [{"d": 2}]]
    assert [(found.value, found.inside) for found in find_json('{"a": [{"b": 1}, ')] == [({"b": 1}, True)]
    assert find_json("{ " * MAX_ATTEMPTS + '{"a": 1}') == []
    assert find_members('{"a": "x, \\"b\\": 1, ", "c": [1, 2], "d": 3') == {"a": 'x, "b": 1, ', "c": [1, 2]}
    assert find_members('{"a": 1}') == {}
