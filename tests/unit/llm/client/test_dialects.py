"""Servers that speak the protocol in their own way: what each says is understood for what it means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coeval.domain import Message, Request
from coeval.llm.client.client import Client
from coeval.llm.client.completions import MAX_CONTENT, parse_choices, parse_completion
from coeval.llm.client.failures import CallError, Failure, parse_retry_after
from coeval.settings import Settings, load_settings
from tests.support.models.openai_stub import Reply, start_stub
from tests.support.models.single_question import GOOD, QUESTION, ask, fail, run

QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, "429", f"{QUOTA} Please retry in 7.5s.", Failure.RATE_LIMITED),
        (429, "429", f"{QUOTA} Quota metric: requests_per_minute", Failure.RATE_LIMITED),
        (429, "insufficient_quota", QUOTA, Failure.NO_CREDIT),
        (429, "", QUOTA, Failure.NO_CREDIT),
        (400, "", "API key not valid. Please pass a valid API key.", Failure.KEY_REFUSED),
        (400, "API_KEY_INVALID", "Bad request", Failure.KEY_REFUSED),
        (403, "", "Your project may not use this model", Failure.FORBIDDEN),
        (403, "", "The input was flagged by moderation", Failure.FILTERED),
        (400, "content_filter", "The response was filtered", Failure.FILTERED),
        (400, "data_inspection_failed", "Input data may contain inappropriate content.", Failure.FILTERED),
        (
            400,
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens",
            Failure.TOO_LONG,
        ),
        (400, "", "The input token count (90000) exceeds the maximum allowed", Failure.TOO_LONG),
        (400, "", "the request exceeds the available context size", Failure.TOO_LONG),
        (500, "", "the request exceeds the available context size, try increasing it", Failure.TOO_LONG),
        (500, "", "Context size has been exceeded.", Failure.TOO_LONG),
        (500, "", "cannot allocate memory", Failure.SERVER_ERROR),
        (400, "", "seed must be an integer", Failure.BAD_REQUEST),
    ],
)
def test_what_an_error_means(status: int, code: str, message: str, kind: Failure) -> None:
    with start_stub(lambda body: GOOD) as stub:
        error = fail(stub, Reply(status=status, code=code, message=message))
    assert error.kind is kind and message[:60] in str(error)
    assert ("length" in str(error).replace(message, "")) is False
    assert error.fatal is (kind in (Failure.KEY_REFUSED, Failure.NO_CREDIT, Failure.FORBIDDEN))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please retry in 7.5s.", 7.5),
        ("Please try again in 1m30.5s.", 90.5),
        ("Please try again in 250ms.", 0.25),
        ("try again in 2h", 7200.0),
        ('{"retryDelay": "23s"}', 23.0),
        ("Please try again in a moment.", None),
    ],
)
def test_a_wait_that_is_asked_for_in_words(words: str, seconds: float | None) -> None:
    from datetime import UTC, datetime

    assert parse_retry_after({}, datetime.now(UTC), words) == seconds


def test_an_error_in_a_list_is_read() -> None:
    body = json.dumps(
        [{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}]
    )
    with start_stub(lambda body: GOOD) as stub:
        error = fail(stub, Reply(status=400, raw=body))
    assert error.kind is Failure.KEY_REFUSED and "It said: API key not valid" in str(error)


def chunk(**delta: Any) -> str:
    finish = delta.pop("finish_reason", None)
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


STREAM = "\n\n".join(
    [
        ": keep-alive",
        chunk(role="assistant", content=""),
        chunk(reasoning_content="Score: 1?"),
        chunk(content='{"score"'),
        chunk(content=": 4}"),
        chunk(finish_reason="stop"),
        'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}',
        "data: [DONE]",
    ]
)


def test_a_server_that_only_streams_is_read_as_a_stream() -> None:
    def reply(body: dict[str, Any]) -> Reply:
        if body.get("stream"):
            return Reply(raw=STREAM)
        return Reply(status=400, message="This model only supports streaming: set stream=true")

    with start_stub(reply) as stub:
        answer = ask(stub)
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == (GOOD, 9, 3)
    assert stub.bodies[-1]["stream_options"] == {"include_usage": True}


def test_a_stream_that_nobody_asked_for_is_read() -> None:
    with start_stub(lambda body: Reply(raw=STREAM)) as stub:
        assert ask(stub).text == GOOD


def test_a_server_without_a_system_role_gets_its_words_in_the_users_turn() -> None:
    def reply(body: dict[str, Any]) -> str | Reply:
        if body["messages"][0]["role"] == "system":
            return Reply(status=400, message="System role not supported")
        return GOOD

    with start_stub(reply) as stub:
        assert ask(stub).text == GOOD
    assert stub.bodies[-1]["messages"] == [{"role": "user", "content": "Judge.\n\nA text."}]


def completion(**message: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": None, "tool_calls": [{"id": "1"}]}, "called a tool"),
        ({"content": "", "reasoning_content": "Score: 5"}, "its thoughts and no answer"),
        ({"content": [{"type": "thinking", "thinking": "5"}]}, "empty answer"),
    ],
)
def test_answers_that_are_none_say_what_came(message: dict[str, Any], words: str) -> None:
    with pytest.raises(CallError, match=words) as caught:
        parse_completion(completion(**message))
    assert caught.value.kind is Failure.EMPTY


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_a_chunk_of_a_stream_ends_only_at_a_line_feed(mark: str) -> None:
    """Servers that do not escape these characters lost the chunk: a 4 became a 2."""
    pieces = ["Not 2", f", but{mark} 4: ", "it is clear."]
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"
    for end in ("\n\n", "\r\n\r\n"):
        stream = "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}{end}" for chunk in chunks)
        answer = parse_completion(f"{stream}data: [DONE]{end}")
        assert "4: it is clear." in answer.text and answer.finish_reason == "stop"


@pytest.mark.parametrize(
    ("count", "tokens"), [("100", 100), (20.0, 20), (7, 7), (1.5, 0), ("x", 0), (-1, 0), (True, 0), (None, 0)]
)
def test_usage_is_read_as_text_and_as_a_float(count: object, tokens: int) -> None:
    body = json.loads(completion(content="4"))
    body["usage"] = {"prompt_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    answer = parse_completion(json.dumps(body))
    assert (answer.prompt_tokens, answer.cached_tokens) == (tokens, tokens)


def test_thoughts_among_the_parts_of_an_answer_are_left_out() -> None:
    parts = [{"type": "reasoning", "text": "Score: 1"}, {"type": "text", "text": "Score: 4"}]
    assert parse_completion(completion(content=parts)).text == "Score: 4"


def test_several_answers_of_one_prompt_and_the_tokens_that_were_cached() -> None:
    choices = [{"index": n, "message": {"content": str(n)}, "finish_reason": "stop"} for n in (3, 4)]
    usage = {"prompt_tokens": 90, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 64}}
    answers = parse_choices(json.dumps({"choices": choices, "usage": usage}))
    assert [(one.text, one.prompt_tokens, one.cached_tokens) for one in answers] == [
        ("3", 90, 64),
        ("4", 0, 0),
    ]


def test_an_answer_of_millions_of_characters_is_refused_before_it_is_kept() -> None:
    huge = completion(content="4" * MAX_CONTENT)
    with start_stub(lambda body: GOOD) as stub:
        error = fail(stub, Reply(raw=huge))
    assert error.kind is Failure.UNREADABLE and "more than 2,000,000 bytes" in str(error)
    assert len(error.received) == 10_000


def test_half_a_character_in_a_question_is_replaced() -> None:
    with start_stub(lambda body: GOOD) as stub:
        ask(stub, Request("m", (Message("user", "half \ud83d"),)))
    assert stub.bodies[0]["messages"][0]["content"] == "half \ufffd"


# --- the openai package makes the call


def test_organisation_and_project_headers_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    with start_stub(lambda body: GOOD) as stub:
        ask(stub, api_key="sk-0123456789")
    sent = stub.headers[0]
    assert (sent["openai-organization"], sent["openai-project"]) == ("org-1", "proj-1")
    assert sent["authorization"] == "Bearer sk-0123456789"


def test_azure_is_asked_by_deployment_version_and_its_own_key_header() -> None:
    with start_stub(lambda body: GOOD) as stub:
        base = stub.url.removesuffix("/v1")
        settings = load_settings(
            {
                "AZURE_OPENAI_ENDPOINT": base,
                "AZURE_OPENAI_API_KEY": "azure-key-123",
                "OPENAI_API_VERSION": "2025-01-01",
            }
        )
        client = Client(settings)
        assert run(client, lambda client: client.ask(QUESTION)).text == GOOD
    assert stub.paths == ["/openai/deployments/m/chat/completions?api-version=2025-01-01"]
    assert stub.headers[0]["api-key"] == "azure-key-123"


def test_a_password_in_the_address_is_in_no_repr() -> None:
    settings = Settings(base_url="https://me:secret@example.org/v1?token=secret")
    assert "secret" not in repr(settings) and "https://example.org/v1" in repr(settings)
    assert Client(settings).endpoint == "https://example.org/v1"
