"""The client against a stub that speaks HTTP: what comes back, and each way to fail."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Request, TokenProb
from coeval.errors import ModelError
from coeval.llm.client.client import Client
from coeval.llm.client.completions import parse_completion
from coeval.llm.client.failures import CallError, Failure, parse_retry_after
from coeval.settings import Settings
from tests.support.models.openai_stub import Reply, start_stub
from tests.support.models.single_question import GOOD, QUESTION, ask, fail, make_client, run

# --- what comes back


def test_log_probabilities_are_read() -> None:
    top = [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -2}]
    token = {"token": "4", "logprob": -0.1, "top_logprobs": top}
    with start_stub(lambda body: Reply("4", logprobs=[token])) as stub:
        answer = ask(stub, Request("m", QUESTION.messages, logprobs=True))
    assert stub.bodies[0]["top_logprobs"] == 20
    assert answer.logprobs == (TokenProb("4", -0.1, (("4", -0.1), ("5", -2.0))),)


def test_usage_and_latency_are_reported() -> None:
    with start_stub(lambda body: GOOD, latency=0.05) as stub:
        answer = ask(stub)
    # The stub counts a token for every four characters: "Judge." and "A text." make 13 // 4.
    assert answer.prompt_tokens == 3 and answer.completion_tokens == len(GOOD) // 4 + 1
    assert 50 <= answer.latency_ms < 5000


def completion(message: dict[str, Any], **choice: Any) -> str:
    return json.dumps({"choices": [{"message": message, **choice}]})


def test_dialects_of_a_completion() -> None:
    parts = [{"type": "text", "text": "fo"}, {"type": "text", "text": "ur"}]
    assert parse_completion(completion({"content": parts})).text == "four"
    refused = parse_completion(completion({"content": None, "refusal": "I cannot."}))
    assert (refused.text, refused.finish_reason) == ("I cannot.", "refusal")
    assert parse_completion(completion({"content": "half \ud800"})).text == "half \ufffd"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", Failure.UNREADABLE),
        ("<html>proxy</html>", Failure.UNREADABLE),
        ('{"choices": []}', Failure.UNREADABLE),
        ("[" * 100_000, Failure.UNREADABLE),
        (completion({"content": "  "}), Failure.EMPTY),
        (completion({"content": ""}, finish_reason="length"), Failure.TRUNCATED),
        (completion({"content": ""}, finish_reason="MAX_TOKENS"), Failure.TRUNCATED),
        (completion({"content": ""}, finish_reason="CONTENT_FILTER"), Failure.FILTERED),
        (completion({"content": None}, finish_reason="content_filter"), Failure.FILTERED),
        ('{"error": {"code": 429, "message": "slow"}}', Failure.RATE_LIMITED),
        ('{"error": "model not loaded"}', Failure.SERVER_ERROR),
    ],
)
def test_bodies_without_an_answer(content: str, kind: Failure) -> None:
    with pytest.raises(CallError) as caught:
        parse_completion(content)
    assert caught.value.kind is kind


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "logprobs", "token", "logprob", "usage", "error", "code"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@given(JSON, JSON, JSON)
def test_no_body_breaks_the_reader(content: object, logprobs: object, usage: object) -> None:
    body = {
        "choices": [{"message": {"content": content}, "logprobs": {"content": [logprobs]}}],
        "usage": usage,
    }
    for candidate in (body, content):
        try:
            assert parse_completion(json.dumps(candidate)).text.strip()
        except CallError as error:
            assert str(error)


# --- failures: the kind decides what is done next, the sentence says what to do


def test_statuses() -> None:
    with start_stub(lambda body: GOOD) as stub:
        kinds = {
            status: fail(stub, Reply(status=status, message="why"))
            for status in (400, 401, 402, 403, 404, 413, 429, 500, 503)
        }
        quota = fail(stub, Reply(status=429, code="insufficient_quota"))
    assert {status: error.kind for status, error in kinds.items()} == {
        400: Failure.BAD_REQUEST,
        401: Failure.KEY_REFUSED,
        402: Failure.NO_CREDIT,
        403: Failure.FORBIDDEN,
        404: Failure.NOT_FOUND,
        413: Failure.TOO_LONG,
        429: Failure.RATE_LIMITED,
        500: Failure.SERVER_ERROR,
        503: Failure.SERVER_ERROR,
    }
    assert {status for status, error in kinds.items() if error.retryable} == {429, 500, 503}
    assert {status for status, error in kinds.items() if error.fatal} == {401, 402, 403, 404}
    assert quota.kind is Failure.NO_CREDIT and quota.fatal
    assert all(f"({status})" in str(error) and "why" in str(error) for status, error in kinds.items())


def test_a_refused_key_is_never_repeated() -> None:
    key = "sk-proj-very-secret-0123456789"
    with start_stub(lambda body: GOOD, api_key="another") as stub:
        error = fail(stub, api_key=key)
    assert "check OPENAI_API_KEY" in str(error) and key not in str(error) and key not in error.received
    assert stub.headers[0]["authorization"] == f"Bearer {key}"


def test_a_key_that_the_answer_repeats_is_hidden() -> None:
    async def send(client: Client) -> tuple[str, str]:
        exchange = await client.send(QUESTION)
        return exchange.received, exchange.answer.text

    with start_stub(lambda body: "your key is 0123456789abcdef") as stub:
        received, text = run(make_client(stub, api_key="0123456789abcdef"), send)
    assert "0123456789abcdef" not in received and text == "your key is [key]"


def test_no_key_is_needed_with_an_address() -> None:
    with start_stub(lambda body: GOOD) as stub:
        assert ask(stub, api_key="").text == GOOD


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with start_stub(lambda body: GOOD) as stub:
        error = fail(stub, Reply(status=308, headers={"location": "http://127.0.0.1:9/v1/chat/completions"}))
    assert error.kind is Failure.NOT_FOUND and "OPENAI_BASE_URL" in str(error)


def test_time_out() -> None:
    with start_stub(lambda body: GOOD) as stub:
        error = fail(stub, Reply(hang=True), timeout=0.2)
    assert error.kind is Failure.TIMED_OUT and "0.2 seconds" in str(error) and error.retryable
    assert "“Parallel requests”" in str(error), "the field on the page"


def test_a_slow_drip_does_not_outlast_the_time_out() -> None:
    """The time out is for the whole answer: a server that sends a byte now and then cannot stretch it."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(100):
            writer.write(b" ")
            await asyncio.sleep(0.05)

    async def whole() -> CallError:
        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        client = Client(Settings(base_url=url, timeout=0.3))
        with pytest.raises(CallError) as caught:
            await client.ask(QUESTION)
        await client.close()
        server.close()
        return caught.value

    assert asyncio.run(whole()).kind is Failure.TIMED_OUT


def test_connection_cut_and_junk() -> None:
    with start_stub(lambda body: GOOD) as stub:
        assert fail(stub, Reply(drop=True)).kind is Failure.BROKEN_OFF
        junk = fail(stub, Reply(raw="<html>hello</html>"))
        assert fail(stub, Reply(text="")).kind is Failure.EMPTY
    assert junk.kind is Failure.UNREADABLE and junk.received == "<html>hello</html>" and "hello" in str(junk)


def test_nothing_listens_there() -> None:
    with start_stub(lambda body: GOOD) as stub:
        url = stub.url
    client = Client(Settings(base_url=url, timeout=2))
    with pytest.raises(CallError) as caught:
        run(client, lambda client: client.ask(QUESTION))
    assert caught.value.kind is Failure.UNREACHABLE
    assert url in str(caught.value) and "OPENAI_BASE_URL" in str(caught.value)


def test_a_proxy_in_the_environment_is_not_used_for_a_model_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with start_stub(lambda body: GOOD) as stub:
        assert ask(stub).text == GOOD


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "OPENAI_API_KEY"),
        ({"base_url": "localhost:8000"}, "http://localhost:8000/v1"),
        ({"base_url": "http://[::1"}, "http://localhost:8000/v1"),
        ({"base_url": "http://127.0.0.1:70000/v1"}, "http://localhost:8000/v1"),
        ({"base_url": "http:///v1"}, "http://localhost:8000/v1"),
        ({"api_key": "sk-abc def"}, "copy it again"),
        ({"api_key": "sk-abc", "timeout": 0.0}, "COEVAL_TIMEOUT"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        Client(Settings(**settings))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Tue, 31 Dec 2024 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers, datetime(2025, 1, 1, tzinfo=UTC)) == seconds
