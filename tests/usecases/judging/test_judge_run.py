"""A judge from its file at work, against the stub server: ``Judge.score``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from coeval import Judge
from coeval.domain import Instance
from coeval.errors import ModelError
from coeval.extensions.judge.model.file_schema import JudgeFile, describe_questions
from coeval.extensions.judge.model.fitted import Bench, Calibration, Deferral, Fitted, Isotonic, Jury, Member
from coeval.extensions.judge.model.judge_file import write_judge
from coeval.llm.prompting.questions import Example, mark_document
from coeval.settings import Settings, load_settings
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply, output_of
from tests.support.studies.judge_files import CRITERIA, SALT, make_judge, make_protocol

TABLE = pd.DataFrame(
    {
        "instance": ["a", "b"],
        "input": ["Why?", "How?"],
        "output": ["Because of the wind.", "By walking slowly."],
        "document": ["d1", "d2"],
        "system": ["old", "new"],
    }
)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with start_stub() as stub:
        yield stub


def endpoint(stub: Stub) -> Settings:
    return load_settings({"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "key"})


def score(
    judge: JudgeFile, stub: Stub, folder: Path, table: pd.DataFrame = TABLE, **options: Any
) -> pd.DataFrame:
    path = folder / "judge.json"
    write_judge(path, judge)
    values = {"ledger": folder / "calls.db", "settings": endpoint(stub), "progress": False} | options
    return Judge.load(path).score(table, **values)


def prompts(stub: Stub) -> list[str]:
    return ["\n".join(message["content"] for message in body["messages"]) for body in stub.bodies]


def answer(body: dict[str, Any], score: int) -> str:
    """The stub's own answer with another score."""
    return re.sub(r'"score": -?\d+', f'"score": {score}', default_reply(body))


def test_scores_come_raw_and_calibrated_with_what_a_person_should_see(stub: Stub, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str:
        by_wind = "wind" in output_of(body["messages"][-1]["content"])
        right = "Be right." in body["messages"][-1]["content"]
        return answer(body, (5 if by_wind else 2) if right else 1)

    stub.reply = reply
    fitted = Fitted(
        calibration=Calibration(maps={"Be right.": Isotonic(raw=(1.0, 5.0), people=(1.0, 3.0))}),
        deferral=Deferral(
            kind="samples",
            threshold=-0.5,
            within=0.5,
            coverage=0.8,
            agreement=0.85,
            level=0.1,
            computed="a test",
        ),
    )
    judge = make_judge(fitted=fitted, options={"samples": 2, "temperature": 1.0})
    scores = score(judge, stub, tmp_path)
    assert list(scores.columns) == [
        "instance", "document", "system", "criterion", "raw", "score", "spread", "ask_person", "reason",
    ]  # fmt: skip
    lines = [tuple(row) for row in scores.drop(columns=["document", "reason"]).itertuples(index=False)]
    assert lines == [
        ("a", "old", "Be right.", 5.0, 3.0, 0.0, False),  # 1 + (5 - 1) (3 - 1) / (5 - 1)
        ("a", "old", "Be brief.", 1.0, 1.0, 0.0, False),
        ("b", "new", "Be right.", 2.0, 1.5, 0.0, False),
        ("b", "new", "Be brief.", 1.0, 1.0, 0.0, False),
    ]
    paid = stub.paid
    again = score(judge, stub, tmp_path)
    pd.testing.assert_frame_equal(again, scores)
    assert stub.paid == paid == 8, "the same again sends nothing"
    pd.testing.assert_frame_equal(score(judge, stub, tmp_path, replay=True), scores)


def test_a_judge_of_decisions_asks_a_person_where_they_are_spread(tmp_path: Path) -> None:
    """Deferral by the likeliest score's probability; the words of explanations are no part of a judge."""
    rule = Deferral(
        kind="probability",
        threshold=0.6,
        within=0.5,
        coverage=0.8,
        agreement=0.85,
        level=0.1,
        computed="a test",
    )
    judge = make_judge(fitted=Fitted(deferral=rule), options={"protocol": "decision", "explain": "all"})
    assert judge.judges[0].templates.keys() == {"decision"}

    def reply(body: dict[str, Any]) -> Reply:
        sure = "wind" in body["state"]
        chances = {"0": 0.9, "1": 0.1} if sure else {"0": 0.5, "1": 0.5}
        answers = {
            name: {
                "type": "score",
                "probabilities": dict.fromkeys(map(str, range(len(asked["criteria"]))), 0) | chances,
            }
            for name, asked in body["questions"].items()
        }
        return Reply(raw=json.dumps({"answers": answers}))

    with start_stub(reply, decides=True) as stub:
        scores = score(judge, stub, tmp_path)
    assert stub.received == 2 and scores["score"].tolist() == pytest.approx([1.1, 0.1, 1.5, 0.5])
    assert scores["ask_person"].tolist() == [False, False, True, True]


def test_the_question_of_a_decision_is_the_same_whatever_criteria_were_scored() -> None:
    protocol = make_protocol(protocol="decision")
    instance = Instance("i1", "Why?", "Because.", "d1", id=1)
    described = [
        describe_questions("m", protocol, instance, scores, SALT, texts=False)[-1].request
        for scores in ({1: (3.0,), 2: (1.0,)}, {2: (1.0,)})
    ]
    assert described[0] == described[1]


def test_a_jury_asks_every_member_and_what_cannot_be_read_goes_to_a_person(
    stub: Stub, tmp_path: Path
) -> None:
    def reply(body: dict[str, Any]) -> str:
        right = "Be right." in body["messages"][-1]["content"]
        if not right:
            return "I like it."
        return answer(body, 5 if body["model"] == "one" else 3)

    stub.reply = reply
    members = tuple(Member(judge=name, mean=3.0, sd=1.0, weight=1.0) for name in ("one", "two"))
    bench = Bench(members=members, intercept=3.0, slope=1.0, low=1.0, high=5.0)
    deferral = Deferral(
        kind="jury", threshold=-2.0, within=0.5, coverage=0.8, agreement=0.85, level=0.1, computed="a test"
    )
    judge = make_judge(
        "one", "two", fitted=Fitted(jury=Jury(kind="mean", benches={"Be right.": bench}), deferral=deferral)
    )
    scores = score(judge, stub, tmp_path).set_index(["instance", "criterion"])
    assert scores.loc[("a", "Be right."), "score"] == 4.0  # 3 + mean of z-scores 2 and 0
    lost = scores.loc[("a", "Be brief.")]
    assert math.isnan(lost["score"]) and lost["ask_person"] and "asked twice" in lost["reason"]
    assert not scores.loc[("a", "Be right."), "ask_person"]
    assert {body["model"] for body in stub.bodies} == {"one", "two"}


def test_examples_stand_in_the_question_but_for_their_own_document(stub: Stub, tmp_path: Path) -> None:
    def worked(document: str, text: str) -> Example:
        mark = mark_document(document, SALT)
        return Example(
            input="Why not?",
            output=text,
            criterion="Be right.",
            score=2.0,
            reason="It is wrong.",
            document=mark,
        )

    shown = (worked("d1", "The first example."), worked("elsewhere", "The <sample_output> second."))
    score(make_judge(fitted=Fitted(examples=shown)), stub, tmp_path)
    by_case = {
        (name, criterion.text): prompt
        for prompt in prompts(stub)
        for name, text in (("a", "wind"), ("b", "walking"))
        for criterion in CRITERIA
        if text in output_of(prompt) and criterion.text in prompt
    }
    assert "The first example." not in by_case["a", "Be right."]
    assert "The first example." in by_case["b", "Be right."]
    assert all("The ‹sample_output> second." in by_case[name, "Be right."] for name in "ab")
    assert not any("second." in by_case[name, "Be brief."] for name in "ab")


def test_a_refused_key_is_raised_and_what_was_answered_is_kept(stub: Stub, tmp_path: Path) -> None:
    stub.script(Reply(text=default_reply({"messages": [{"content": '{"conclusion" from 1 to 5'}]})))
    stub.reply = lambda body: Reply(status=401, message="Incorrect API key provided")
    with pytest.raises(ModelError, match="key.*are saved"):
        score(make_judge(), stub, tmp_path, concurrency=1)
    stub.reply = default_reply
    paid = stub.paid
    assert paid == 1 and score(make_judge(), stub, tmp_path).score.notna().all() and stub.paid == paid + 3
