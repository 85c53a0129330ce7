"""Several criteria in one question: how it is put, how its answer is read, and what is asked again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from coeval.domain import Answer, Criterion, Instance, Scale, Task, TokenProb
from coeval.errors import InputError
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.protocol import Brief, Judgment, build_protocol
from coeval.llm.reading.evaluations import NO_ENTRY
from tests.support.models.fake_ask import FakeAsk
from tests.support.models.single_judgment import judge_all

TASK = Task("eli5", "ELI5", "Answer for a child.", "Question", "Answer")
CRITERIA = [
    Criterion("The answer is easy to follow.", name="Clarity"),
    Criterion("The answer is short.", scale=Scale(1, 3)),
    Criterion("The answer is true."),
]
INSTANCE = Instance("7", "Why is the sky blue?", "Blue light bends most. So it spreads.")


def entry(criterion: int | str, score: int | None, conclusion: str = "Well.") -> dict[str, Any]:
    return {"criterion": criterion, "conclusion": conclusion, "score": score, "evidence": []}


def answer(*entries: dict[str, Any]) -> str:
    return json.dumps({"evaluations": entries})


def judged(ask: FakeAsk, **options: Any) -> Judgment:
    options = {"criteria_per_call": 0} | options
    return asyncio.run(judge_all(ask, TASK, CRITERIA, INSTANCE, JudgeOptions("m", **options)))


def scores(judgment: Judgment) -> list[float | None]:
    return [judgment.drafts[number].score for number in (1, 2, 3)]


def test_one_question_and_a_draft_by_each_criterion() -> None:
    first = entry(1, 4, "It is easy.") | {"evidence": [{"quote": "Blue light", "remark": "plain"}]}
    ask = FakeAsk(answer(first, entry(2, 3), entry(3, 5)))
    judgment = judged(ask)
    assert scores(judgment) == [4, 3, 5]
    lines = [(row.kind.value, row.text) for row in judgment.drafts[1].rows]
    assert lines == [
        ("conclusion", "It is easy."),
        ("score", "Score: 4"),
        ("evidence", '"Blue light" - plain'),
    ]
    assert judgment.drafts[1].rows[2].quotes[0].start == 0
    assert judgment.drafts[3].criterion == "The answer is true."
    ((request, _),) = ask.history
    words = ask.words()
    assert (
        words.index("<sample_output") < words.index("[1] Clarity") < words.index("[2] The answer is short.")
    )
    assert (
        "Scale: whole numbers from 1 (lowest) to 3 (highest)." in words and words.count("<sample_output") == 1
    )
    each = request.schema["properties"]["evaluations"]["items"]["properties"]  # type: ignore[index]
    assert (each["criterion"]["enum"], each["score"]["enum"]) == ([1, 2, 3], [1, 2, 3, 4, 5])


def test_only_what_could_not_be_read_is_asked_for_again() -> None:
    ask = FakeAsk(answer(entry(1, 4), entry(2, None)), answer(entry(2, 1), entry(3, 2), entry(1, 1)))
    judgment = judged(ask)
    # null is no score by criterion 2, and 3 is missing; what the second answer says of 1 was not asked for
    assert scores(judgment) == [4, 1, 2]
    again = ask.words(1)
    assert "[2] “null” is not a score from 1 to 3; [3] it has no entry" in again and "[1]" not in again
    wanted = ask.history[1][0].schema
    assert wanted is not None and list(wanted["properties"]) == ["2", "3"]  # type: ignore[call-overload]
    assert [judgment.drafts[number].rung for number in (1, 2, 3)] == ["json", "asked again", "asked again"]
    assert len(ask.history[1][0].messages) == 3


def test_a_number_off_the_scale_is_not_asked_for_again() -> None:
    for first in ("[1] Score: 4\n[2] Score: 9", answer(entry(1, 4), entry(2, 9))):
        ask = FakeAsk(first, "[2] Score: 1\n[3] Score: 2")
        judgment = judged(ask)
        assert scores(judgment) == [4, None, 2] and "[2]" not in ask.words(1)
        assert "9 is outside the scale 1-3" in judgment.drafts[2].reason


def test_what_stays_unread_is_unscored_and_the_others_are_drafts() -> None:
    judgment = judged(FakeAsk(answer(entry(1, 4)), answer(entry(3, 3))))
    assert scores(judgment) == [4, None, 3]
    assert NO_ENTRY in judgment.drafts[2].reason and judgment.drafts[2].raw.count("asked again") == 1


def test_samples_are_averaged_by_criterion() -> None:
    ask = FakeAsk(
        answer(entry(1, 4), entry(2, 1), entry(3, 1)), answer(entry(1, 2), entry(2, 2), entry(3, 1))
    )
    judgment = judged(ask, samples=2)
    assert scores(judgment) == [3, 1.5, 1] and judgment.drafts[1].samples == (4, 2)


def test_the_expected_score_of_each_criterion_is_taken_at_its_own_token() -> None:
    texts = answer(entry(1, 4), entry(2, 2), entry(3, 4)).replace(": ", ":")
    parts = texts.replace('"score":', '"score":|').replace(',"evidence"', '|,"evidence"')
    parts = parts.replace(', "evidence"', '|, "evidence"')
    tokens = tuple(
        TokenProb(part, 0.0 if not part.isdecimal() else -0.6931471805599453, ())
        if not part.isdecimal()
        else TokenProb(part, -0.6931471805599453, ((str(int(part) - 1), -0.6931471805599453),))
        for part in parts.split("|")
    )
    judgment = judged(FakeAsk(Answer(texts, "stop", logprobs=tokens)), logprobs=True)
    # half on the token and half on the step below it
    assert scores(judgment) == pytest.approx([3.5, 1.5, 3.5])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"protocol": "score-only", "criteria_per_call": 0},
            "score-only asks about one criterion at a time: set the criteria",
        ),
        (
            {"protocol": "fusion", "criteria_per_call": 2},
            "fusion asks about one criterion at a time: set the criteria",
        ),
        ({"criteria_per_call": -1}, "The number of criteria in one question"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build_protocol(Brief(TASK, {1: CRITERIA[0]}, JudgeOptions("m", **options)))
