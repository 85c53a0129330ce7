"""Reading ratings, lists, evaluations, plans and fused scores out of a model's words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from coeval.llm.reading.evaluations import parse_evaluation, parse_rationale
from coeval.llm.reading.headings import OVERALL
from coeval.llm.reading.lists import parse_criteria, parse_plan
from coeval.llm.reading.ratings import parse_rating
from coeval.llm.reading.several_criteria import parse_evaluations

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
    read = parse_evaluations(text, NAMES, [S5, S5, S5])
    assert [(one.score, one.conclusion) for one in read] == [(4, "clear"), (2, "long"), (3, "fair")]


def test_a_fused_score_keeps_to_its_own_scale_and_entry() -> None:
    read = parse_evaluations("[1] Score: 4 Explanation: a\n[2] Score: 2 Explanation: b", NAMES, [S3, S5, S5])
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
    read = parse_evaluations(text, NAMES, [(0, 1), S5, (0, 100)])
    assert [(one.score, one.conclusion) for one in read] == [(0.73, "fine"), (4.25, "b"), (87.5, "c")]


def test_a_table_of_the_sample_is_no_verdict() -> None:
    table = "| Criterion | Score |\n|---|---|\n| Clarity and all that goes with it | 5 |"
    answer = f"{table}\n\n[1] Score: 2 Explanation: it rates itself"
    (read,) = parse_evaluations(answer, ["Clarity and all that goes with it"], [S5], given=table)
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
    (read,) = parse_evaluations(f"[1] Score: 4 Explanation: fine {said}", ["Be clear."], [S5])
    assert (read.score, read.conclusion, read.evidence) == (4, "fine", evidence)
    (read,) = parse_evaluations(
        '{"1": {"score": 4, "explanation": "fine", "evidence": [{"quote": "a b c"}]}}', ["Be clear."], [S5]
    )
    assert (read.score, read.evidence) == (4, ('"a b c"',))
