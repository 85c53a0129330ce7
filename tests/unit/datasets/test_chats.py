"""Conversations: one text with a heading for every turn, from JSON and back, without losing a letter."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from coeval.datasets import load_study
from coeval.domain import tasks
from coeval.domain.tasks import Turn
from coeval.errors import InputError

TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Why is snow white?"},
    {"role": "assistant", "content": "It scatters light.\n\nAll of it."},
]


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return path


def test_turns_survive_whatever_they_say() -> None:
    draw = random.Random(3)
    pieces = ["── user ──", "\\── user ──", "\n", "\n\n", "a", "\\", "── x ──\n", "──", "🦊", " "]
    for _ in range(500):
        turns = tuple(
            Turn(
                draw.choice(["user", "assistant", "tool"]),
                "".join(draw.choices(pieces, k=draw.randint(0, 6))),
            )
            for _ in range(draw.randint(1, 4))
        )
        assert tasks.read_chat(tasks.render_chat(turns)) == turns


@pytest.mark.parametrize(
    ("messages", "roles", "words"),
    [
        ([{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}], ["user", "assistant"], "b"),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}], ["user"], "a\n\nb"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}], ["tool call"], '{"id": 1}'),
        ([{"role": "assistant", "content": None}], ["assistant"], ""),
        ([{"role": "tool", "name": "sow", "content": {"cm": 5}}], ["tool result: sow"], '{"cm": 5}'),
    ],
)  # fmt: skip
def test_chat_formats(messages: object, roles: list[str], words: str) -> None:
    turns = tasks.parse_messages(messages)
    assert [turn.role for turn in turns] == roles and turns[-1].content == words


CALLS = {
    "OpenAI": [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"of": "beans"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "May"},
        {"role": "assistant", "content": "In May."},
    ],
    "Anthropic": [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "find", "input": {"of": "beans"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "May"}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": "In May."}]},
    ],
    "LangChain": [
        {"role": "human", "content": "When?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"name": "find", "args": {"of": "beans"}, "id": "c1", "type": "tool_call"}]},
        {"role": "tool", "name": "find", "content": "May", "tool_call_id": "c1"},
        {"role": "assistant", "content": "In May."},
    ],
    "OpenTelemetry": [
        {"role": "user", "parts": [{"type": "text", "content": "When?"}]},
        {"role": "assistant", "finish_reason": "tool_call", "parts": [
            {"type": "text", "content": "I look."},
            {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"of": "beans"}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "May"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "In May."}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("dialect", CALLS)
def test_calls_of_tools_and_their_results_are_steps_in_order(dialect: str) -> None:
    assert tasks.parse_messages(CALLS[dialect]) == (
        Turn("user", "When?"), Turn("assistant", "I look."), Turn("tool call: find", '{"of": "beans"}'),
        Turn("tool result: find", "May"), Turn("assistant", "In May."),
    )  # fmt: skip


def test_a_step_of_a_tool_with_a_long_name_or_a_rule_in_it_is_still_a_step() -> None:
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "find ── \n" * 30, "arguments": "{}"}}]}
    turns = tasks.parse_messages([call])
    assert tasks.read_chat(tasks.render_chat(turns)) == turns and turns[0].role.startswith("tool call: find")


@pytest.mark.parametrize("value", [[], {}, "x", [1], [{"role": "user"}], [{"role": 3, "content": "x"}],
                                   [{"role": "user", "content": [{"type": "image_url"}]}]])  # fmt: skip
def test_other_values_are_no_conversation(value: object) -> None:
    assert tasks.parse_messages(value) == ()


def test_messages_alone_become_what_was_said_before_and_the_last_reply(tmp_path: Path) -> None:
    study = load_study(write_lines(tmp_path / "a.jsonl", {"messages": TALK}), slug="t")
    (instance,) = study.instances
    assert json.loads(tasks.chat_to_json(instance.input)) == TALK[:2]
    assert instance.output == TALK[2]["content"]
    assert (study.task.input_field, study.task.output_field) == ("Conversation", "Reply")


def test_a_conversation_beside_an_input_is_the_output_whole(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"input": "Snow", "messages": TALK})
    (instance,) = load_study(path, slug="t").instances
    assert instance.input == "Snow" and json.loads(tasks.chat_to_json(instance.output)) == TALK


def test_a_cell_of_csv_holds_a_conversation_as_json(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    cell = json.dumps(TALK).replace('"', '""')
    path.write_text(f'input,output\n"{cell}",Snow is white.\n')
    (instance,) = load_study(path, slug="t").instances
    assert json.loads(tasks.chat_to_json(instance.input)) == TALK and instance.output == "Snow is white."


def test_a_conversation_without_a_reply_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"messages": TALK}, {"messages": TALK[:2]})
    with pytest.raises(InputError, match="line 2.*messages.*assistant.*input"):
        load_study(path, slug="t")


def test_a_list_that_is_no_conversation_is_refused(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl", {"input": "x", "output": [{"role": "user", "content": [{"image": 1}]}]}
    )
    with pytest.raises(InputError, match="output.*role and content"):
        load_study(path, slug="t")
