"""Reads the body of a chat completion, whoever wrote it, into an Answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from coeval.domain import Answer, TokenProb
from coeval.llm.client.failures import CallError, Failure, redact, shorten, status_failure

REFUSAL = "refusal"
"""The finish reason of an answer in which the model declined in words."""


def parse_completion(content: str, *, place: str = "The model", latency_ms: int = 0) -> Answer:
    """The answer in the JSON text of a completion, as OpenAI, vLLM, llama.cpp, Ollama and proxies write it.

    Raises:
        CallError: there is no answer in it: not a completion, an error in disguise, empty, cut off, withheld.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict) and body.get("error") and not body.get("choices"):
        raise disguised_error(body["error"], place)
    choice = _first_choice(body)
    if choice is None:
        raise CallError(
            f"{place} answered something that is no chat completion: {shorten(redact(content[:1000]))!r}. "
            "Check that OPENAI_BASE_URL is the address of an OpenAI-compatible server.",
            Failure.UNREADABLE,
        )
    assert isinstance(body, dict)
    text, finish = _text_of(choice)
    usage = _usage_of(body)
    answer = Answer(
        text=text,
        logprobs=_logprobs_of(choice),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        latency_ms=latency_ms,
        finish_reason=finish,
    )
    if not text.strip():
        raise _no_text(answer, place)
    return answer


def disguised_error(error: object, place: str) -> CallError:
    """The failure in the ``error`` object that some proxies send with status 200."""
    details: Mapping[str, Any] = error if isinstance(error, dict) else {"message": error}
    code = details.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    message = redact(str(details.get("message") or ""))
    return status_failure(status, message, str(code or ""), place=place, retry_after=None)


def _first_choice(body: object) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None


def _text_of(choice: dict[str, Any]) -> tuple[str, str]:
    message = choice["message"]
    finish = str(choice.get("finish_reason") or "stop")
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    if not content and isinstance(message.get("refusal"), str):
        return _clean(message["refusal"]), REFUSAL
    return (_clean(content) if isinstance(content, str) else ""), finish


def _clean(text: str) -> str:
    """Lone surrogates, which no file or database takes, become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _no_text(answer: Answer, place: str) -> CallError:
    if answer.finish_reason == "length":
        text = "used up its tokens before it wrote an answer: allow it more tokens."
        return CallError(f"{place} {text}", Failure.TRUNCATED)
    if answer.finish_reason == "content_filter":
        return CallError(f"{place} withheld the answer by its content filter.", Failure.FILTERED)
    return CallError(f"{place} sent an empty answer: run it again, or try another model.", Failure.EMPTY)


def _usage_of(body: dict[str, Any]) -> dict[str, Any]:
    usage = body.get("usage")
    return usage if isinstance(usage, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def _logprobs_of(choice: dict[str, Any]) -> tuple[TokenProb, ...]:
    found = choice.get("logprobs")
    tokens = found.get("content") if isinstance(found, dict) else None
    if not isinstance(tokens, list):
        return ()
    pairs = ((token, _pair(token)) for token in tokens)
    return tuple(TokenProb(*pair, top=_top_of(token)) for token, pair in pairs if pair)


def _top_of(token: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    top = token.get("top_logprobs")
    pairs = (_pair(one) for one in top) if isinstance(top, list) else ()
    return tuple(pair for pair in pairs if pair)


def _pair(token: object) -> tuple[str, float] | None:
    if not isinstance(token, dict) or not isinstance(token.get("token"), str):
        return None
    value = token.get("logprob")
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        return None
    return _clean(token["token"]), float(max(-9999, min(0, value)))
