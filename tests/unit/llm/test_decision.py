"""Typed decisions: the shapes on the wire, the guards, and drafts from a real model at both kinds of endpoint."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from coeval import judge_frame
from coeval.domain import Criterion, Guide, Instance, Message, Request, Scale, Task, TypedQuestion
from coeval.errors import InputError, ModelError
from coeval.llm.client.client import Client
from coeval.llm.client.completions import parse_completion
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.decision import build_question, read_decision
from coeval.llm.protocols.protocol import Brief, build_protocol
from coeval.settings import Settings
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.real_model import RealModel
from tests.support.models.single_question import make_client, run

SCALE = Scale(1, 3)
SCORE = TypedQuestion("c1", "score", "How right is it?", (("1", "wrong"), ("2", ""), ("3", "right")))
YES_NO = TypedQuestion("c1", "yes_no", "It is brief.", (("no", ""), ("yes", "")))
CHOICE = TypedQuestion("c1", "choice", "How right is it?", (("1", ""), ("2", ""), ("3", "")))


def systemone(answer: object, name: str = "c1") -> str:
    return json.dumps({"answers": {name: answer}, "usage": {"input_tokens": 120, "output_tokens": 0}})


def openai(*answers: object) -> str:
    details = {"input_tokens_details": {"cached_tokens": 64}}
    return json.dumps({"answers": answers, "usage": {"input_tokens": 9, "output_tokens": 0} | details})


def levels(*chances: object) -> list[dict[str, object]]:
    return [{"value": place, "label": "x", "probability": chance} for place, chance in enumerate(chances)]


def options(*chances: object) -> list[dict[str, object]]:
    return [{"value": str(step), "probability": chance} for step, chance in enumerate(chances, 1)]


READABLE = [
    (SCORE, systemone({"type": "score", "score": 9, "probabilities": {"0": 0.1, "1": 0.1, "2": 0.8}}), 2.7),
    (SCORE, openai({"type": "score", "name": "c1", "probabilities": levels(0.1, 0.1, 0.8)}), 2.7),
    (
        SCORE,
        openai({"type": "score", "name": "c1", "probabilities": levels(0.1, 0.08, 0.8)}),
        2.714,
    ),  # .98 in all
    (CHOICE, systemone({"type": "choice", "probabilities": {"3": 0.5, "2": 0.5, "1": 0}}), 2.5),
    (CHOICE, openai({"type": "choice", "name": "c1", "probabilities": options(0.5, 0.5, 0)}), 1.5),
    (YES_NO, systemone({"type": "noul", "noul": 0.9}), 1.9),
    (YES_NO, openai({"type": "predicate", "name": "c1", "probability": 0.25}), 1.25),
]


@pytest.mark.parametrize(("question", "body", "score"), READABLE)
def test_an_answer_in_the_form_is_a_distribution(question: TypedQuestion, body: str, score: float) -> None:
    scale = Scale(1, 2) if question is YES_NO else SCALE
    decided, why = read_decision(parse_completion(body).text, question, scale)
    assert decided is not None and not why
    assert decided.expected == pytest.approx(score, abs=1e-3) and sum(decided.probabilities) == pytest.approx(
        1
    )


PROBABILITIES = {"0": 0.1, "1": 0.1, "2": 0.8}
UNUSABLE = [
    (SCORE, systemone({"type": "score", "probabilities": PROBABILITIES}, "c2"), "the id c1"),
    (SCORE, openai({"type": "score", "probabilities": levels(0.1, 0.1, 0.8)}), "the id c1"),
    (SCORE, openai(*[{"type": "score", "name": "c1", "probabilities": levels(0.1, 0.1, 0.8)}] * 2), "the id c1"),
    (SCORE, systemone({"type": "noul", "noul": 0.9}), "the type “yes_no”"),
    (CHOICE, systemone({"type": "score", "probabilities": PROBABILITIES}), "the type “score”"),
    (SCORE, systemone({"type": "score", "probabilities": {"0": 0.2, "2": 0.8}}), "for each level"),
    (SCORE, systemone({"type": "score", "probabilities": PROBABILITIES | {"3": 0}}), "for each level"),
    (CHOICE, openai({"type": "choice", "name": "c1", "probabilities": options(0.5, 0.5) + options(0)}), "each level"),
    (SCORE, systemone({"type": "score", "probabilities": dict.fromkeys("012", 0.0)}), "add up to 0.00"),
    (SCORE, systemone({"type": "score", "probabilities": dict.fromkeys("012", 0.5)}), "add up to 1.50"),
    (SCORE, systemone({"type": "score", "probabilities": dict.fromkeys("012", True)}), "other than probabilities"),
    (SCORE, systemone({"type": "score", "probabilities": {"0": -0.1, "1": 0.3, "2": 0.8}}), "other than prob"),
    (YES_NO, systemone({"type": "noul", "noul": "0.9"}), "for each level"),
    (YES_NO, systemone({"type": "noul", "noul": 1.2}), "other than probabilities"),
    (YES_NO, openai({"type": "predicate", "name": "c1"}), "for each level"),
    (SCORE, openai({"type": "refusal", "name": "c1", "message": "Not this text."}), "refused to answer: Not this text"),
    (SCORE, systemone(4), "the id c1"),
    (SCORE, systemone({"type": "score", "probabilities": [1, 2, 3]}), "for each level"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "body", "why"), UNUSABLE)
def test_any_other_answer_is_no_score(question: TypedQuestion, body: str, why: str) -> None:
    decided, reason = read_decision(parse_completion(body).text, question, SCALE)
    assert decided is None and why in reason


def test_tokens_are_counted_at_both_kinds_of_endpoint() -> None:
    answer = parse_completion(systemone({"type": "noul", "noul": 1}))
    assert (answer.prompt_tokens, answer.completion_tokens, answer.finish_reason) == (120, 0, "stop")
    assert parse_completion(openai({"type": "predicate", "name": "c1", "probability": 1})).cached_tokens == 64


def test_the_kind_of_question_follows_the_scale() -> None:
    task, guide = Task("t", "T"), Guide(anchors=((0, "it is long"), (1, "it is short")))
    asked = build_question("c1", Criterion("Be brief.", scale=Scale(0, 1), guide=guide), task)
    assert (asked.kind, asked.levels) == ("yes_no", (("no", "it is long"), ("yes", "it is short")))
    for scale, kind in (
        (Scale(1, 5), "score"),
        (Scale(1, 10), "score"),
        (Scale(0, 10), "choice"),
        (Scale(1, 100), "choice"),
    ):
        asked = build_question("c1", Criterion("Be brief.", scale=scale), task)
        assert asked.kind == kind and [label for label, _ in asked.levels] == [
            str(step) for step in scale.steps
        ]


@pytest.mark.parametrize(
    ("settings", "scale"),
    [({"samples": 3}, SCALE), ({"logprobs": True}, SCALE), ({}, Scale(1, 1000)), ({}, Scale(3, 3))],
)
def test_settings_that_a_decision_cannot_have_are_refused(settings: dict[str, Any], scale: Scale) -> None:
    with pytest.raises(InputError, match="The protocol decision|the protocol decision"):
        build_protocol(
            Brief(Task("t", "T"), {1: Criterion("c", scale=scale)}, JudgeOptions("m", "decision", **settings))
        )


def test_one_request_holds_all_criteria() -> None:
    criteria = {
        1: Criterion("Be right."),
        2: Criterion("Be brief.", scale=Scale(0, 1)),
        3: Criterion("x", scale=Scale(0, 10)),
    }
    protocol = build_protocol(Brief(Task("t", "T", "Answer."), criteria, JudgeOptions("m", "decision")))
    (item,) = protocol.group((7, number) for number in criteria)
    ((request, sample),) = protocol.render_calls(item, Instance("a", "Why?", "So."))
    assert sample == 0 and [(q.id, q.kind) for q in request.questions] == [
        ("c1", "score"),
        ("c2", "yes_no"),
        ("c3", "choice"),
    ]
    assert (
        "<sample_output" in request.messages[-1].content
        and request.hash != Request("m", request.messages).hash
    )


def fail(stub: Stub) -> str:
    """The failure of a request for a decision."""
    request = Request("m", (Message("user", "A text."),), questions=(SCORE,))
    with pytest.raises(ModelError) as caught:
        run(make_client(stub), lambda client: client.ask(request))
    return str(caught.value)


def test_a_refusal_of_a_server_with_one_path_is_shown() -> None:
    """llama.cpp takes at most ten levels at /systemone and does not know /decisions."""
    replies = [
        Reply(status=400, message="questions.c1: too many levels"),
        Reply(status=404, message="no path"),
    ]
    with start_stub(lambda body: replies.pop(0), decides=True) as stub:
        said = fail(stub)
    assert "too many levels" in said and "no path" not in said


@pytest.mark.parametrize("status", [404, 405, 501])
def test_an_endpoint_without_decisions_is_named(status: int) -> None:
    with start_stub(lambda body: Reply(status=status, message="This is no such model"), decides=True) as stub:
        said = fail(stub)
    assert f"{stub.url} gives no typed decisions for the model m" in said and "no such model" in said
    assert [path.removeprefix("/v1") for path in stub.paths] == ["/systemone", "/decisions"]
    assert [set(body) for body in stub.bodies] == [
        {"model", "state", "questions"},
        {"model", "input", "questions"},
    ]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400, code="exceed_context_size_error", message="too long"),
        Reply(status=401, message="no key"),
    ],
)
def test_a_refusal_of_the_text_or_the_key_is_not_tried_in_another_shape(reply: Reply) -> None:
    with start_stub(lambda body: reply, decides=True) as stub:
        assert reply.message in fail(stub)
    assert len(stub.bodies) == 1


# --- a real model

TEXTS = pd.DataFrame(
    {
        "input": ["How many legs has a spider?", "Name a colour."],
        "output": ["A spider has eight legs.", "Seven."],
        "instance": ["spider", "colour"],
    }
)
CRITERIA = [
    Criterion("The answer is correct."),
    Criterion("The answer is brief.", scale=Scale(0, 1)),
    Criterion("The answer is kind.", scale=Scale(0, 10)),
]


def check(table: pd.DataFrame) -> None:
    assert len(table) == 6 and set(table.rung) == {"decision"}
    assert not table.score.isna().any(), table.reason.tolist()
    for criterion, score in zip(table.criterion, table.score, strict=True):
        scale = next(one.scale for one in CRITERIA if one.text == criterion)
        assert scale.low <= score <= scale.high and not math.isclose(score, round(score), abs_tol=1e-9)
    assert table.reason.str.contains("confidence").all()


@pytest.mark.slow
def test_a_real_server_decides_and_the_ledger_keeps_it(real_model: RealModel, tmp_path: Path) -> None:
    asked = {"protocol": "decision", "ledger": tmp_path / "l.db", "progress": False}
    settings = Settings(base_url=real_model.url)
    table = judge_frame(TEXTS, CRITERIA, real_model.name, settings=settings, **asked)
    check(table)
    assert table.usage.calls == 2 and table.usage.completion_tokens == 0 < table.usage.prompt_tokens
    again = judge_frame(TEXTS, CRITERIA, real_model.name, settings=settings, replay=True, **asked)
    assert again.usage.calls == 0 and again.score.tolist() == table.score.tolist()


@pytest.mark.slow
def test_a_real_server_says_that_it_decides(real_model: RealModel) -> None:
    async def ask(url: str) -> bool:
        client = Client(Settings(base_url=url))
        try:
            return await client.lists_decisions(real_model.name)
        finally:
            await client.close()

    assert asyncio.run(ask(real_model.url))
    with start_stub() as stub:
        assert not asyncio.run(ask(stub.url))


@pytest.mark.slow
def test_decisions_are_explained_in_words(real_model: RealModel, tmp_path: Path) -> None:
    table = judge_frame(
        TEXTS, CRITERIA[:1], real_model.name, settings=Settings(base_url=real_model.url), protocol="decision",
        explain="all", max_tokens=300, temperature=0.0, ledger=tmp_path / "l.db", progress=False,
    )  # fmt: skip
    assert not table.score.isna().any() and (table.rung == "decision").all()
    explained = table.conclusion.str.len() > 0
    assert (explained | table.reason.str.contains("No explanation")).all()
    assert table.usage.completion_tokens > 0
