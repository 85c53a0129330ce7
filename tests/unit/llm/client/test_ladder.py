"""The output ladder: each rung met by a stub that supports only that rung; parameters given up one by one."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Answer, Request
from coeval.llm.client.abilities import (
    BREAKS,
    JSON_INSTRUCTION,
    TRY_AGAIN,
    Abilities,
    Lessons,
    Rung,
    build_body,
    step_down,
)
from coeval.llm.client.client import Client
from tests.support.models.openai_stub import start_stub
from tests.support.models.single_question import GOOD, QUESTION, SCHEMA, ask, make_client, run


def test_schema_rung_sends_the_schema_and_nothing_more() -> None:
    with start_stub(lambda body: GOOD) as stub:
        assert ask(stub).text == GOOD
    form = stub.bodies[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == SCHEMA and form["json_schema"]["strict"] is True
    assert stub.bodies[0]["messages"][1]["content"] == "A text."


def test_an_endpoint_that_refuses_bounds_gets_the_schema_without_them() -> None:
    bounded = {"type": "object", "properties": {"why": {"type": "string", "maxLength": 9}}}
    request = Request("m", QUESTION.messages, schema=bounded)
    body = build_body(request, Abilities())
    less = step_down(body, Abilities(), "Invalid schema for response_format: 'maxLength' is not permitted.")
    assert less == Abilities(bounds=False)
    sent = build_body(request, less)["response_format"]["json_schema"]["schema"]
    assert sent == {"type": "object", "properties": {"why": {"type": "string"}}}
    assert step_down(body, less, "response_format is not supported") == Abilities(Rung.JSON, bounds=False)


def test_a_question_in_lines_gets_no_other_instruction_where_there_is_no_json() -> None:
    request = Request("m", QUESTION.messages, schema=SCHEMA, lined=True)
    assert build_body(request, Abilities(Rung.TEXT))["messages"][-1]["content"] == "A text."
    assert "response_format" in build_body(request, Abilities())


def test_endpoint_with_json_mode_only() -> None:
    with start_stub(lambda body: GOOD, supports=("json_object",)) as stub:
        assert ask(stub).text == GOOD
    assert stub.bodies[-1]["response_format"] == {"type": "json_object"}
    last = stub.bodies[-1]["messages"][1]["content"]
    assert last.startswith("A text.\n\n" + JSON_INSTRUCTION) and last.endswith(json.dumps(SCHEMA))
    assert stub.bodies[-1]["messages"][0]["content"] == "Judge."


def test_endpoint_with_text_only() -> None:
    fenced = f"Sure!\n```json\n{GOOD}\n```"
    with start_stub(lambda body: fenced, supports=()) as stub:
        assert ask(stub).text == fenced
    assert "response_format" not in stub.bodies[-1]
    assert JSON_INSTRUCTION in stub.bodies[-1]["messages"][1]["content"]
    assert len(stub.bodies) == 3 and stub.paid == 1


def test_the_rung_is_remembered_for_endpoint_and_model() -> None:
    lessons = Lessons()
    with start_stub(lambda body: GOOD, supports=()) as stub:
        ask(stub, lessons=lessons)
        ask(stub, lessons=lessons)
        other = Request("other", QUESTION.messages, schema=SCHEMA)
        ask(stub, other, lessons=lessons)
    # 3 requests to find the rung, 1 that knows it, 3 for a model that is not known yet.
    assert len(stub.bodies) == 7
    assert lessons.abilities((stub.url, "m")).rung is Rung.TEXT


def test_many_refusals_at_once_step_down_once_each_rung() -> None:
    lessons = Lessons()

    async def many(client: Client) -> list[Answer]:
        return await asyncio.gather(*(client.ask(QUESTION) for _ in range(10)))

    with start_stub(lambda body: GOOD, supports=("json_object",), latency=0.05) as stub:
        answers = run(make_client(stub, lessons=lessons), many)
    assert [answer.text for answer in answers] == [GOOD] * 10
    assert lessons.abilities((stub.url, "m")).rung is Rung.JSON


def test_an_endpoint_that_keeps_ignoring_the_schema_is_asked_in_words_and_later_held_to_it_again() -> None:
    lessons = Lessons()

    async def many(client: Client) -> None:
        for _ in range(2 * BREAKS + TRY_AGAIN + 1):
            await client.ask(QUESTION)

    with start_stub(lambda body: "I think it is a 4.") as stub:
        run(make_client(stub, lessons=lessons), many)
    forms = [body.get("response_format", {}).get("type", "text") for body in stub.bodies]
    # Three answers break each form, two hundred more come in plain text, then the schema is tried once more.
    assert forms == ["json_schema"] * 3 + ["json_object"] * 3 + ["text"] * 200 + ["json_schema"]
    assert JSON_INSTRUCTION in stub.bodies[3]["messages"][1]["content"]


def test_one_fenced_or_refused_answer_gives_no_form_up() -> None:
    lessons, answers = Lessons(), [f"```json\n{GOOD}\n```", "I cannot.", GOOD, "I cannot.", "Sorry.", GOOD]

    async def many(client: Client) -> None:
        for _ in range(6):
            await client.ask(QUESTION)

    with start_stub(lambda body: answers.pop(0)) as stub:
        run(make_client(stub, lessons=lessons), many)
    assert {body["response_format"]["type"] for body in stub.bodies} == {"json_schema"}


@pytest.mark.parametrize(
    ("refuses", "sent", "dropped"),
    [
        (("temperature",), {}, {"temperature"}),
        (("max_tokens",), {"max_completion_tokens": 50}, {"max_tokens"}),
        (("max_tokens", "max_completion_tokens"), {}, {"max_tokens", "max_completion_tokens"}),
        (("logprobs",), {}, {"logprobs", "top_logprobs"}),
    ],
)
def test_parameters_that_the_endpoint_does_not_have(
    refuses: tuple[str, ...], sent: dict[str, int], dropped: set[str]
) -> None:
    question = Request("m", QUESTION.messages, temperature=0.5, max_tokens=50, logprobs=True)
    with start_stub(lambda body: "4", refuses=refuses) as stub:
        answer = ask(stub, question)
    assert answer.text == "4" and answer.logprobs == ()
    assert sent.items() <= stub.bodies[-1].items() and not dropped & set(stub.bodies[-1])


# What servers really say in refusing, and what is then given up.
REFUSALS = [
    ("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is "
     "supported.", {"refused": frozenset({"temperature"})}),
    ("You are not allowed to request logprobs from this model", {"top_logprobs": 5}),
    ("This response_format type is unavailable now", {"rung": Rung.JSON}),
    ("Failed to initialize samplers: failed to parse grammar", {"rung": Rung.JSON}),
    ("Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema'",
     {"rung": Rung.JSON}),
    ("response_schema.properties[score].enum: only allowed for STRING type", {"rung": Rung.JSON}),
    ("Developer instruction is not enabled for this model", {"system": False}),
    ("System role not supported", {"system": False}),
    ("Conversation roles must alternate user/assistant/user/assistant/...", {"system": False}),
    ("This model only supports stream mode, please set stream=true", {"stream": True}),
    ("Unsupported parameter: 'reasoning_effort' is not supported with this model.",
     {"refused": frozenset({"reasoning_effort"})}),
    ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
     {"refused": frozenset({"top_p"})}),
    ("You may set either temperature or top_p, but not both.", {"refused": frozenset({"top_p"})}),
    ("Extra inputs are not permitted: max_tokens", {"limit": "max_completion_tokens"}),
    ("This model's maximum context length is 8192 tokens, and your messages took 9000", {}),
    ("max_tokens is too large: 9000. This model takes at most 4096 completion tokens", {}),
    ("Invalid value for temperature: it must be from 0 to 2", {}),
]  # fmt: skip


@pytest.mark.parametrize(("complaint", "change"), REFUSALS)
def test_what_a_refusal_teaches(complaint: str, change: dict[str, Any]) -> None:
    question = Request("m", QUESTION.messages, schema=SCHEMA, temperature=0.2, max_tokens=9000, logprobs=True,
                       top_p=0.9, reasoning_effort="low")  # fmt: skip
    body = build_body(question, Abilities())
    if "rung" not in change:
        del body["response_format"]
    learnt = step_down(body, Abilities(), complaint)
    assert learnt == (Abilities(**change) if change else None)


@given(st.text(max_size=200))
def test_stepping_down_always_ends(words: str) -> None:
    question = Request("m", QUESTION.messages, schema=SCHEMA, temperature=1.0, max_tokens=9, logprobs=True)
    complaint = words + " unsupported response_format temperature logprobs max_tokens max_completion_tokens"
    abilities: Abilities | None = Abilities()
    steps = 0
    while abilities is not None:
        abilities = step_down(build_body(question, abilities), abilities, complaint)
        steps += 1
        assert steps <= 8
    # 2 rungs, 2 steps of top_logprobs, 1 temperature, 2 names of the limit, and the last that finds nothing
    assert steps == 8
