"""What a protocol makes of answers that their models did not end, and of answers that repeat the question."""

from __future__ import annotations

import asyncio
import json

import pytest

from coeval.domain import Criterion, Instance, Scale, Task
from coeval.errors import UnreadableAnswerError
from coeval.llm.client.completions import parse_completion
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.proposals import draft_criteria, draft_steps
from coeval.llm.protocols.protocol import Judgment
from tests.support.models.fake_ask import FakeAsk
from tests.support.models.single_judgment import judge_all

TASK = Task("eli5", "ELI5", "Answer for a child.", "Question", "Answer")
CRITERIA = [
    Criterion("The answer is easy to follow.", name="Clarity", scale=Scale(1, 10)),
    Criterion("It is short."),
]
INSTANCE = Instance("7", "Why is the sky blue?", "Blue light bends most. So it spreads.")

CUT = ("length", "max_tokens", "error", "")
DECLINED = ("content_filter", "refusal", "CONTENT_FILTER")


def judged(text: str, finish: str, protocol: str, criteria: list[Criterion], **options: int) -> Judgment:
    answer = parse_completion(body(text, finish_reason=finish))
    ask = FakeAsk(answer, answer)
    return asyncio.run(
        judge_all(ask, TASK, criteria, INSTANCE, JudgeOptions("m", protocol, samples=1, **options))
    )


def scores(judgment: Judgment) -> list[float | None]:
    return [draft.score for draft in judgment.drafts.values()]


@pytest.mark.parametrize("finish", ["stop", "STOP", "eos", "end_turn"])
def test_an_answer_that_its_model_ended_is_read(finish: str) -> None:
    for protocol in ("coeval", "score-only", "free-text"):
        assert scores(judged("It is fine.\nScore: 4", finish, protocol, CRITERIA[:1])) == [4], protocol


@pytest.mark.parametrize("finish", CUT)
def test_of_any_other_answer_only_complete_statements_are_drafts(finish: str) -> None:
    whole = json.dumps({"conclusion": "Fine.", "score": 1, "evidence": []})
    for text, protocol, score in (
        (whole[: whole.index(": 1") + 3], "coeval", None),
        (whole, "coeval", 1),
        ("Analysis: It deserves a score of 2. However, the remaining", "analyze-rate", None),
        ('{"conclusion": "Fine.", "score": 4, "evid', "coeval", 4),
        ("Score: 1", "score-only", None),
        ("Rating: 4\nRationale: It is", "rate-explain", 4),
    ):
        (draft,) = judged(text, finish, protocol, CRITERIA[:1]).drafts.values()
        assert (draft.score, draft.raw.startswith(text)) == (score, True), (text, draft)
        assert (draft.score is None) == bool(draft.reason)


@pytest.mark.parametrize("finish", DECLINED)
@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        (json.dumps({"conclusion": "Fine.", "score": 4, "evidence": []}), "coeval"),
        ("Rating: 4\nRationale: It is\n", "rate-explain"),
        ("[1] Score: 4\n[2] Score: 3\n", "fusion"),
    ],
)
def test_a_declined_answer_is_no_draft_whatever_it_says(finish: str, text: str, protocol: str) -> None:
    for draft in judged(text, finish, protocol, CRITERIA[:1]).drafts.values():
        assert draft.score is None and "the model declined to answer" in draft.reason and draft.raw == text


@pytest.mark.parametrize("finish", DECLINED)
def test_a_declined_answer_proposes_nothing(finish: str) -> None:
    for name, draft in (
        ("criteria", lambda ask: draft_criteria(ask, TASK, JudgeOptions("m"))),
        ("steps", lambda ask: draft_steps(ask, TASK, CRITERIA[1], "m")),
    ):
        ask = FakeAsk(
            parse_completion(body(json.dumps({name: ["Be kind.", "Be clear."]}), finish_reason=finish))
        )
        with pytest.raises(UnreadableAnswerError, match="the model declined to answer"):
            asyncio.run(draft(ask))


def test_of_several_criteria_those_that_were_complete_are_kept() -> None:
    entries = [{"criterion": n, "conclusion": "So.", "score": 4, "evidence": []} for n in (1, 2)]
    text = json.dumps({"evaluations": entries})[:-20]
    assert scores(judged(text, "length", "coeval", CRITERIA, criteria_per_call=0)) == [4, None]
    form = "[1] Score: 4 Explanation: clear\n[2] Score: 3 Explanation: lo"
    assert scores(judged(form, "length", "fusion", CRITERIA)) == [4, None]
    assert scores(judged(form, "stop", "fusion", CRITERIA)) == [4, 3]


@pytest.mark.parametrize("protocol", ["coeval", "score-only", "free-text", "rate-explain", "analyze-rate"])
def test_a_server_that_repeats_the_prompt_scores_nothing(protocol: str) -> None:
    """Alone it is no answer; before the model's own words it changes nothing about them."""
    ask = FakeAsk("", "")
    options = JudgeOptions("m", protocol, samples=1)
    asyncio.run(judge_all(ask, TASK, CRITERIA[:1], INSTANCE, options))
    prompt = ask.words()
    assert scores(judged(prompt, "stop", protocol, CRITERIA[:1])) == [None]
    assert scores(judged(f"{prompt}\n\nRating: 7", "stop", protocol, CRITERIA[:1])) == [7]


def body(text: str = "Score: 4", **choice: object) -> str:
    return json.dumps({"choices": [{"message": {"content": text}, **choice}]})


def test_a_response_without_a_finish_reason_says_so() -> None:
    assert parse_completion(body()).finish_reason == ""
    assert parse_completion(body(finish_reason=None)).finish_reason == ""
    assert parse_completion(body(finish_reason="stop")).finish_reason == "stop"
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "Score: 4"}, "finish_reason": None}]})
    assert parse_completion(f"data: {chunk}\n\n").finish_reason == ""
