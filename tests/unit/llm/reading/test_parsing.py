"""Reading ratings, lists, evaluations, plans and fused scores out of a model's words."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.llm.reading.evaluations import parse_evaluation, parse_rationale
from coeval.llm.reading.fused_scores import OVERALL, parse_scores
from coeval.llm.reading.lists import parse_criteria, parse_plan, parse_steps
from coeval.llm.reading.rating.reader import parse_rating, read_rating

S5, S3, S1 = (1, 5), (1, 3), (0, 1)


def test_real_answers_are_read_as_people_read_them(shared_data: Path) -> None:
    lines = (shared_data / "rating_outputs.jsonl").read_text(encoding="utf-8").splitlines()
    wrong = []
    for line in lines:
        case = json.loads(line)
        read = parse_rating(case["text"], case["scale"], case["attribute"])
        if read not in case.get("acceptable", [case["rating"]]):
            wrong.append((case["id"], case["rating"], read))
    assert len(lines) == 150
    assert not wrong


Case = tuple[str, tuple[int, int], str, float]

LABELLED: list[Case] = [
    ("Rating: 4/5", S5, "", 4),
    ("Rating = 4", S5, "", 4),
    ("Rating - 4", S5, "", 4),
    ("Rating -> 4", S5, "", 4),
    ("Rating\n4", S5, "", 4),
    ("Score：4", S5, "", 4),
    ("Score (1-5): 4", S5, "", 4),
    ("Score (out of 5): 4", S5, "", 4),
    ("Rating: 3.0 out of 5.0", S5, "", 3),
    ("Rating: three", S5, "", 3),
    ("Rating: Somewhat (2)", S3, "", 2),
    ("Rating: 2 The response drifts.", S3, "", 2),
    ("Rating: 2Rationale: none", S3, "", 2),
    ("Overall Score: 4", S5, "", 4),
    ("| Coherence | 3 |", S5, "coherence", 3),
    ("Coherence: 2\nFluency: 3\nRelevance: 4", S5, "fluency", 3),
    ("1. Coherence: 3\n2. Fluency: 2", S5, "fluency", 2),
    ("Naturalness (1 = bad, 2 = OK, 3 = good): 2", S3, "naturalness", 2),
    ("Scores:\n- Naturalness: 3\n- Coherence: 2", S3, "coherence", 2),
    ("Rating: 2\nRationale: fine\n- Use of Fact:\nRating: 3", S3, "naturalness", 2),
    ("Analysis: In 1995 they won 2 games.\nRating: 2", S3, "", 2),
    ("Groundedness: Yes (1)", S1, "groundedness", 1),
    ("<rating>4</rating>", S5, "", 4),
    (r"so \boxed{4}", S5, "", 4),
    ("<think>Rating: 2, maybe</think>Rating: 4", S5, "", 4),
    ("Rating: 2, perhaps\n</think>\nRating: 4", S5, "", 4),
]
SAID: list[Case] = [
    ("I would rate this summary a 4 out of 5.", S5, "coherence", 4),
    ("I would give the coherence of this summary a score of 3.", S5, "coherence", 3),
    ("On a scale of 1 to 5, with 1 being the lowest, I would rate it a 4.", S5, "", 4),
    ("On a scale from 1 to 5, the fluency is a 3.5.", S5, "fluency", 3.5),
    ("The response does not use the fact, so the score is 0.", S1, "groundedness", 0),
    ("It deserves a 2 for engagingness.", S3, "engagingness", 2),
    ("so it's a 2.", S3, "", 2),
    ("The groundedness is rated as 1.", S1, "groundedness", 1),
]
BARE: list[Case] = [
    ("4", S5, "", 4),
    ("4.5/5", S5, "", 4.5),
    ("Three", S5, "", 3),
    ("[3]", S5, "", 3),
    ("2, because it shifts.", S3, "", 2),
    ("2\n\nThe response shifts.", S3, "", 2),
    ("- 2 (somewhat)", S3, "", 2),
    ("Yes, 2.", S3, "", 2),
    ("The summary is good. 4", S5, "", 4),
    ("No. (0)", S1, "", 0),
    ("1. 2", S3, "", 2),
    ("1. Coherence: 3", S3, "", 3),
    ("Slightly Related：0.5", S1, "", 0.5),
    ("1. Grounded", S1, "groundedness", 1),
]
IN_JSON: list[Case] = [
    ('{"score": 4, "evidence": ["Rating: 1"]}', S5, "", 4),
    ('```json\n{"rating": "3/5", "reason": "x"}\n```', S5, "", 3),
    ('{"coherence": {"score": 2, "reason": "a"}}', S5, "coherence", 2),
    ('{"conclusion": "good", "score": 4, "evid', S5, "", 4),
    ("{'score': 4}", S5, "", 4),
]
NO_RATING = [
    ("", S5, ""),
    ("N/A", S5, ""),
    ("Rating: N/A", S5, ""),
    ("Rating:", S5, ""),
    ("Rating: 7", S5, ""),
    ("Rating: 0", S5, ""),
    ("Rating: -1", S5, ""),
    ("Rating: 8/10", S5, ""),
    ("Rating: 80%", S5, ""),
    ("Rating: 2-3", S5, ""),
    ("Rating: 2 or 3", S5, ""),
    ("I would rate it between a 2 and a 3.", S5, ""),
    ("Rating: 1-5", S5, ""),
    ("Rating: 2nd", S5, ""),
    ("It was 222-0 in 1916.", S1, ""),
    ("1. 1\n2. 3", S3, ""),
    ("1 = no\n2 = somewhat\n3 = yes", S3, ""),
    ("Naturalness:\n1. bad\n2. ok\n3. good", S3, "naturalness"),
    ("Response 1:\nRating: 2\nResponse 2:\nRating: 3", S3, ""),
    ("Groundedness: 0\n\nFact: x\nGroundedness: 1", S1, "groundedness"),
    ("1. Does it follow?", S3, ""),
    ("1. Groundedness", S1, "groundedness"),
    ("2. Natural", S3, "naturalness"),
    ('{"score": null}', S5, ""),
    ('[{"score": 1}, {"score": 2}]', S5, ""),
    ('{"score": 1} {"score": 2}', S5, ""),
    ('{"score": true}', S5, ""),
    ('{"score": 1e999}', S5, ""),
    ("<think>Rating: 2", S5, ""),
    ("Yes", S3, "coherence"),
]


@pytest.mark.parametrize(("text", "scale", "criterion", "score"), LABELLED + SAID + BARE + IN_JSON)
def test_the_rating_an_answer_states(text: str, scale: tuple[int, int], criterion: str, score: float) -> None:
    assert parse_rating(text, scale, criterion or None) == score


@pytest.mark.parametrize(("text", "scale", "criterion"), NO_RATING)
def test_no_rating_is_made_up(text: str, scale: tuple[int, int], criterion: str) -> None:
    reading = read_rating(text, scale, criterion or None)
    assert reading.score is None
    assert reading.why


def test_anchor_words_count_only_where_the_rubric_defines_them() -> None:
    rubric = "Naturalness: 1 = bad, 2 = OK, 3 = good"
    assert [parse_rating(word, S3, rubric) for word in ("bad", "OK", "Good.", "Rating: ok", "fine")] == [
        1,
        2,
        3,
        2,
        None,
    ]
    assert parse_rating("good", S3, "Naturalness: the response is naturally written") is None


words = st.text(alphabet=st.characters(codec="utf-8"), max_size=80)
fragments = st.sampled_from(
    [
        "Rating:",
        "Score",
        " 3",
        "7",
        "4.5/5",
        "\n",
        "- ",
        '"',
        "{",
        "}",
        '{"score": 4}',
        "1. ",
        "**",
        "out of 5",
        "“",
    ]
)
answers = st.lists(st.one_of(fragments, words), max_size=8).map("".join)
scales = st.tuples(st.integers(-2, 1), st.integers(2, 10))


@settings(deadline=None)
@given(answers, scales, st.one_of(st.none(), words))
def test_a_rating_is_never_off_the_scale_and_nothing_raises(
    text: str, scale: tuple[int, int], criterion: str | None
) -> None:
    score = parse_rating(text, scale, criterion)
    assert score is None or scale[0] <= score <= scale[1]


@settings(deadline=None)
@given(answers, scales)
def test_trailing_space_and_emphasis_change_nothing(text: str, scale: tuple[int, int]) -> None:
    plain = parse_rating(text, scale)
    assert parse_rating(f"{text} \n\t ", scale) == plain
    if not re.match(r"\s*(?:#|>|[-+*•]|```|~~~|<|\d)", text):
        assert parse_rating(f"**{text}**", scale) == plain


MARKUP = [
    "{}",
    "**{}**",
    "## {}",
    "> {}",
    "- {}",
    "* {}",
    "`{}`",
    "<b>{}</b>",
    "```\n{}\n```",
    "  {}  ",
    "***{}***",
]


@settings(deadline=None)
@given(st.sampled_from(MARKUP), st.sampled_from(LABELLED + SAID))
def test_markup_around_an_answer_changes_nothing(markup: str, case: Case) -> None:
    text, scale, criterion, score = case
    if "\n" not in text and "<" not in text:
        assert parse_rating(markup.format(text), scale, criterion or None) == score


@settings(deadline=None)
@given(answers, words)
def test_no_parser_ever_raises(text: str, sample: str) -> None:
    assert all(len(item) <= 500 for item in parse_criteria(text))
    assert len(parse_steps(text)) <= 30
    assert isinstance(parse_plan(text), str)
    score = parse_evaluation(text, S5, "clear", sample=sample).score
    assert score is None or 1 <= score <= 5
    assert len(parse_scores(text, ["Be clear.", OVERALL], [S5, S5], sample=sample)) == 2


HOSTILE = [
    "{",
    "[",
    "(",
    '"',
    "“",
    "1 ",
    '{"a":',
    "score ",
    "score\n",
    "<think>",
    "rating of ",
    '{"\\"',
    "1. a\n",
    "-",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_hostile_answer_is_read_in_linear_time(piece: str) -> None:
    text = piece * (50_000 // len(piece))
    started = time.perf_counter()
    parse_rating(text, S5, "coherence")
    parse_criteria(text)
    parse_evaluation(text, S5, "coherence", sample=text[:1000])
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["Be clear.", "Be short."]', ["Be clear.", "Be short."]),
        ('```json\n{"criteria": ["Be clear.", "Be short."]}\n```', ["Be clear.", "Be short."]),
        ('{"criteria": [{"name": "Clarity", "text": "Easy to read."}]}', ["Clarity: Easy to read."]),
        ('{"Clarity": "Easy to read.", "Brevity": "Short."}', ["Clarity: Easy to read.", "Brevity: Short."]),
        (
            "Sure:\n1. **Clarity**: easy\n   to read\n2) _Brevity_\n\nGood luck!",
            ["Clarity: easy to read", "Brevity"],
        ),
        ("1. Clarity\n   - easy words\n2. Brevity", ["Clarity easy words", "Brevity"]),
        ("* Be clear.\n* Be short.\n* be clear", ["Be clear.", "Be short."]),
        ("Criterion 1: Be clear.\nCriterion 2: Be short.", ["Be clear.", "Be short."]),
        ("Be clear.\nBe short.", ["Be clear.", "Be short."]),
        ("I cannot help with that.", []),
        ("", []),
    ],
)
def test_criteria_are_read_from_every_form_of_list(text: str, items: list[str]) -> None:
    assert parse_criteria(text) == items


def test_criteria_are_bounded_in_number_and_length() -> None:
    long = "word " * 300
    assert len(parse_criteria("\n".join(f"{n}. item {n}" for n in range(100)))) == 30
    (only,) = parse_criteria(f"1. {long}")
    assert len(only) <= 500 and only.endswith("word")


def test_a_plan_is_plain_text_whatever_it_comes_in() -> None:
    assert parse_plan("```\n1. **Trust** ROUGE.\n```") == "1. Trust ROUGE."
    assert parse_plan('{"plan": ["Trust ROUGE.", "Read."]}') == "1. Trust ROUGE.\n2. Read."
    assert parse_plan("<think>hm</think>Read it.") == "Read it."


PROSE = '1. Conclusion: Clear and kind.\n2. Score: 4 out of 5\n3. Evidence:\n- "It is short."\n- "2 Hours"'
NUMBERED = (
    'Evaluation:\n1. It is clear.\n\n2. I would assign a score of 4.\n\n3. Evidence for it: "It is short."'
)
HEADED = '## Conclusion\nClear.\n## Score\n**4**\n## Evidence\n* "It is short."'


@pytest.mark.parametrize(
    ("text", "conclusion", "evidence"),
    [
        (PROSE, "Clear and kind.", ('"It is short."', '"2 Hours"')),
        (NUMBERED, "It is clear.", ('Evidence for it: "It is short."',)),
        (HEADED, "Clear.", ('"It is short."',)),
        ('{"conclusion": "Clear.", "score": 4, "evidence": ["It is short."]}', "Clear.", ("It is short.",)),
        (
            '```json\n{"conclusion": "Clear.", "score": "4/5", '
            '"evidence": [{"quote": "short", "remark": "good"}]}\n```',
            "Clear.",
            ('"short" - good',),
        ),
        (
            '{"conclusion": "Clear.", "score": 4, "evidence": ["It is short.", "An',
            "Clear.",
            ("It is short.", "An"),
        ),
        ('{"conclusion": "Clear.", "score": 4, "evidence": "one"}', "Clear.", ("one",)),
    ],
)
def test_an_evaluation_is_read_from_json_and_prose(
    text: str, conclusion: str, evidence: tuple[str, ...]
) -> None:
    parsed = parse_evaluation(text, S5, "Be clear.")
    assert (parsed.conclusion, parsed.score, parsed.evidence, parsed.reason) == (conclusion, 4, evidence, "")


def test_an_evaluation_without_a_score_says_why() -> None:
    parsed = parse_evaluation('{"conclusion": "Clear.", "score": 9, "evidence": []}', S5)
    assert (parsed.score, parsed.reason) == (None, "9 is outside the scale 1-5")
    assert parse_evaluation(" \n", S5).reason == "the answer is empty"


def test_the_release_is_read_like_its_reference(shared_data: Path) -> None:
    # reference: the first number of the first line that starts with "2." or "Score", after taking away "2.",
    # "out of 5" and "/5"; else the number of "score of N" (release-data notes). All 1,000 texts have one.
    data = json.loads(
        (shared_data / "coeval_release_eli5" / "combine_data.json").read_text(encoding="utf-8")
    )["eli5"]
    compared = 0
    for criterion, texts in data["criteria_kv"].items():
        for text in texts:
            parsed = parse_evaluation(text, S5, criterion)
            assert parsed.score == _reference_score(text), text
            assert parsed.conclusion and parsed.evidence, text
            compared += 1
    assert compared == 1000


def _reference_score(text: str) -> float | None:
    for line in map(str.strip, text.split("\n")):
        if line.startswith("2.") or line.lower().startswith("score"):
            found = re.search(r"\d+(?:\.\d+)?", re.sub(r"^2\.|out of 5|/5", "", line))
            if found:
                return float(found[0])
    found = re.search(r"score of (\d+(?:\.\d+)?)", text)
    return float(found[1]) if found else None


@pytest.mark.parametrize(
    ("text", "score", "conclusion"),
    [
        ("Rating: 4\nRationale: It is clear.", 4, "It is clear."),
        ("Analysis: It is clear.\nRating: 4/5", 4, "It is clear."),
        ("**Rating:** 4. Clear, if long.\n", 4, "Rating: 4. Clear, if long."),
        ("Score: 4", 4, ""),
        ("4", 4, ""),
        ("It is clear. I would give it a 4.", 4, "It is clear. I would give it a 4."),
    ],
)
def test_a_rationale_is_the_conclusion(text: str, score: float, conclusion: str) -> None:
    parsed = parse_rationale(text, S5)
    assert (parsed.score, parsed.conclusion) == (score, conclusion)


NAMES = ["Clarity: easy to read", "Brevity: short", OVERALL]


@pytest.mark.parametrize(
    "text",
    [
        "[1] Score: 4 Explanation: clear\n[2] Score: 2 Explanation: long\n[overall] Score: 3 Explanation: fair",
        "1. Score: 4\nExplanation: clear\n2. Score: 2\nExplanation: long\nOverall: Score: 3\nExplanation: fair",
        "**Clarity**\nScore: 4\nExplanation: clear\n**Brevity**\nScore: 2/5\nExplanation: long\n"
        "**Overall**\nScore: 3\nExplanation: fair",
        "Score: 4 Explanation: clear\nScore: 2 Explanation: long\nScore: 3 Explanation: fair",
        '{"1": {"score": 4, "explanation": "clear"}, "2": {"score": 2, "explanation": "long"}, '
        '"overall": {"score": 3, "explanation": "fair"}}',
        '{"scores": [{"criterion": "Clarity", "score": 4, "explanation": "clear"}, {"criterion": "Brevity", '
        '"score": 2, "explanation": "long"}], "overall": {"score": 3, "explanation": "fair"}}',
    ],
)
def test_fused_scores_are_found_by_number_name_or_order(text: str) -> None:
    read = parse_scores(text, NAMES, [S5, S5, S5])
    assert [(one.score, one.explanation) for one in read] == [(4, "clear"), (2, "long"), (3, "fair")]


def test_a_fused_score_keeps_to_its_own_scale_and_entry() -> None:
    read = parse_scores("[1] Score: 4 Explanation: a\n[2] Score: 2 Explanation: b", NAMES, [S3, S5, S5])
    assert [one.score for one in read] == [None, 2, None]
    assert "outside" in read[0].reason and "no entry" in read[2].reason


@pytest.mark.parametrize(
    "text",
    [
        "| Criterion | Score | Explanation |\n|---|:-:|---|\n| [1] Clarity | 0.73 | fine |\n| Brevity | 4.25 | b |\n"
        "| Overall | 87.5 | c |",
        "Here it is:\n\n| # | Aspect | Rating | Why |\n| --- | --- | --- | --- |\n| 1 | Clarity | **0.73** | fine |\n"
        "| 2 | Brevity | 4.25/5 | b |\n| overall | The whole | 87.5 | c |\n\nI hope this helps.",
        "[Clarity] Score: 0.73 Explanation: fine\n[Brevity] Score: 4.25 Explanation: b\n"
        "[Overall] Score: 87.5 Explanation: c",
        "[1] Score: <0.73> Explanation: fine\n[2] Score: <4.25> Explanation: b\n[overall] Score: <87.5> Explanation: c",
    ],
)
def test_fused_scores_on_any_scale_are_read_from_tables_and_bracketed_names(text: str) -> None:
    read = parse_scores(text, NAMES, [(0, 1), S5, (0, 100)])
    assert [(one.score, one.explanation) for one in read] == [(0.73, "fine"), (4.25, "b"), (87.5, "c")]


def test_a_table_of_the_sample_is_no_verdict() -> None:
    table = "| Criterion | Score |\n|---|---|\n| Clarity and all that goes with it | 5 |"
    answer = f"{table}\n\n[1] Score: 2 Explanation: it rates itself"
    (read,) = parse_scores(answer, ["Clarity and all that goes with it"], [S5], sample=table)
    assert read.score == 2


@pytest.mark.parametrize(
    ("said", "evidence"),
    [
        ('Evidence: "the 5 birds"; “so  clear”', ('"the 5 birds"', '"so clear"')),
        ("Evidence: none", ()),
        ("Evidence: the second sentence", ("the second sentence",)),
        ("", ()),
    ],
)
def test_fused_evidence_is_read_beside_its_score(said: str, evidence: tuple[str, ...]) -> None:
    (read,) = parse_scores(f"[1] Score: 4 Explanation: fine {said}", ["Be clear."], [S5])
    assert (read.score, read.explanation, read.evidence) == (4, "fine", evidence)
    (read,) = parse_scores(
        '{"1": {"score": 4, "explanation": "fine", "evidence": [{"quote": "a b c"}]}}', ["Be clear."], [S5]
    )
    assert (read.score, read.evidence) == (4, ('"a b c"',))
