"""Parse the body of a chat completion, complete or as server-sent events, into answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from coeval.domain import Answer, Call, Request, TokenProb, TypedQuestion
from coeval.folded_text import clean_text
from coeval.llm.client.failures import CallError, Failure, disguised_error, redact, shorten

# Server-sent events are joined into one completion.


def is_stream(content: str) -> bool:
    """Return whether a response is a stream of events rather than one JSON text."""
    return content.lstrip("\ufeff \r\n").startswith(("data:", "event:", ": ", ":\n"))


def join_stream(content: str) -> dict[str, Any] | None:
    """Return one chat completion from the chunks of a stream, or None if the stream has no chunk.

    An ``error`` object in the stream is kept beside the earlier chunks.
    """
    choices: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {}
    for line in content.split("\n"):  # str.splitlines also splits inside a chunk, at U+2028
        if not line.startswith("data:"):
            continue
        chunk = _decode_chunk(line[5:].strip())
        if chunk is None:
            continue
        if chunk.get("error"):
            body["error"] = chunk["error"]
        if isinstance(chunk.get("usage"), dict):
            body["usage"] = chunk["usage"]
        for piece in chunk.get("choices") or ():
            if isinstance(piece, dict):
                choice = choices.setdefault(_index(piece), {"_parts": {}, "finish_reason": None})
                _append(choice, piece)
    if not choices and not body:
        return None
    whole = [{**choice, "message": _message(choice.pop("_parts"))} for _, choice in sorted(choices.items())]
    return body | {"choices": whole}


def _decode_chunk(text: str) -> dict[str, Any] | None:
    try:
        chunk = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return chunk if isinstance(chunk, dict) else None


def _index(piece: dict[str, Any]) -> int:
    number = piece.get("index")
    return number if isinstance(number, int) else 0


def _append(choice: dict[str, Any], piece: dict[str, Any]) -> None:
    delta = piece.get("delta") or piece.get("message")
    for name, value in (delta if isinstance(delta, dict) else {}).items():
        if isinstance(value, str):
            choice["_parts"].setdefault(name, []).append(value)
        elif isinstance(value, list):
            choice["_parts"].setdefault(name, []).extend(value)
    if piece.get("finish_reason"):
        choice["finish_reason"] = piece["finish_reason"]


def _message(parts: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        name: "".join(values) if all(isinstance(value, str) for value in values) else values
        for name, values in parts.items()
    }


REFUSAL = "refusal"
"""The finish reason of an answer in which the model declined in words."""

MAX_CONTENT = 2_000_000
"""Longest response that is parsed and kept, in characters."""

_ANSWER_PARTS = (None, "text", "output_text")
"""Types of the parts of a content list that belong to the answer. Others are thoughts, pictures and calls."""


def parse_completion(content: str, *, place: str = "The model", latency_ms: int = 0) -> Answer:
    """Return the answer in the JSON text of a completion from OpenAI, vLLM, llama.cpp, Ollama or a proxy.

    Raises:
        CallError: the text has no answer: no completion, a disguised error, or an empty, cut-off or withheld answer.
    """
    return parse_choices(content, place=place, latency_ms=latency_ms)[0]


def parse_choices(content: str, *, place: str = "The model", latency_ms: int = 0) -> list[Answer]:
    """Return all readable answers of a completion. The first one carries the token counts of all.

    Raises:
        CallError: no answer can be read; see `parse_completion`.
    """
    body = _decode(content, place)
    if isinstance(body, dict) and body.get("error") and not body.get("choices"):
        raise disguised_error(body["error"], place)
    if isinstance(body, dict) and is_decision(body):
        return [_decision_of(body, latency_ms)]
    choices = _choices(body)
    if not choices:
        raise CallError(
            f"The answer of {place} is not a chat completion: {shorten(redact(content[:1000]))!r}. Check "
            "that OPENAI_BASE_URL is the address of an OpenAI-compatible server.",
            Failure.UNREADABLE,
        )
    assert isinstance(body, dict)
    answers = [_answer_of(choice, body, latency_ms) for choice in choices]
    readable = [answer for answer in answers if answer.text.strip()]
    if not readable:
        raise _no_text(answers[0], choices[0]["message"], place)
    others = (
        replace(answer, prompt_tokens=0, completion_tokens=0, cached_tokens=0) for answer in readable[1:]
    )
    return [readable[0], *others]


def answer_of(call: Call) -> Answer:
    """Return a call's original answer, from the body in the ledger."""
    answer = parse_completion(call.response, place=call.endpoint, latency_ms=call.latency_ms)
    return replace(answer, response_format=find_format(call.request))


_FORMAT = re.compile(r'"response_format": ?\{"type": ?"(json_schema|json_object)"')


def find_format(body: str) -> str:
    """Return the form that a sent request demanded. A sample cannot imitate it: its quotation marks are escaped."""
    match = _FORMAT.search(body)
    return match[1] if match else ""


def split_completion(content: str) -> tuple[str, ...]:
    """Return a JSON text for each answer of `parse_choices`. The first one carries the usage."""
    body = _decode(content, "The model")
    assert isinstance(body, dict)
    readable = [choice for choice in _choices(body) if _text_of(choice)[0].strip()]
    rest = {name: value for name, value in body.items() if name not in ("choices", "usage")}
    return tuple(
        json.dumps((body if place == 0 else rest) | {"choices": [choice]}, ensure_ascii=False)
        for place, choice in enumerate(readable)
    )


def _decode(content: str, place: str) -> object:
    if len(content) > MAX_CONTENT:
        raise CallError(
            f"{place} sent {len(content):,} characters, which is too long for an answer: check that "
            "OPENAI_BASE_URL is the address of an OpenAI-compatible server.",
            Failure.UNREADABLE,
        )
    content = content.lstrip("\ufeff")  # some proxies write a byte order mark before the body
    if is_stream(content):
        return join_stream(content)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _choices(body: object) -> list[dict[str, Any]]:
    choices = body.get("choices") if isinstance(body, dict) else None
    return [
        choice
        for choice in (choices if isinstance(choices, list) else ())
        if isinstance(choice, dict) and isinstance(choice.get("message"), dict)
    ]


def _decision_of(body: dict[str, Any], latency_ms: int) -> Answer:
    """Return typed answers as an answer in JSON."""
    usage = _members(body.get("usage"))
    return Answer(
        text=normalise_answers(body),
        finish_reason="stop",
        prompt_tokens=_count(usage.get("input_tokens", usage.get("prompt_tokens"))),
        completion_tokens=_count(usage.get("output_tokens")),
        cached_tokens=_count(_members(usage.get("input_tokens_details")).get("cached_tokens")),
        latency_ms=latency_ms,
    )


def _answer_of(choice: dict[str, Any], body: dict[str, Any], latency_ms: int) -> Answer:
    text, finish = _text_of(choice)
    usage = _members(body.get("usage"))
    return Answer(
        text=text,
        finish_reason=finish,
        logprobs=_logprobs_of(choice),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(_members(usage.get("prompt_tokens_details")).get("cached_tokens"))
        or _count(usage.get("prompt_cache_hit_tokens")),
        latency_ms=latency_ms,
    )


_LIMITS = ("max_tokens", "model_length")
"""What some servers call the finish reason "length"."""


def _text_of(choice: dict[str, Any]) -> tuple[str, str]:
    """Return the text and the finish reason, in small letters and with one word for the token limit."""
    message = choice["message"]
    finish = str(choice.get("finish_reason") or "").lower()
    finish = "length" if finish in _LIMITS else finish
    content = message.get("content")
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type") in _ANSWER_PARTS)
        content = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    if not content and isinstance(message.get("refusal"), str):
        return clean_text(message["refusal"]), REFUSAL
    return (clean_text(content) if isinstance(content, str) else ""), finish


def _no_text(answer: Answer, message: dict[str, Any], place: str) -> CallError:
    if answer.finish_reason == "length":
        text = "used up its tokens before it wrote an answer: allow it more tokens."
        return CallError(f"{place} {text}", Failure.TRUNCATED)
    if answer.finish_reason == "content_filter":
        return CallError(f"{place} withheld the answer by its content filter.", Failure.FILTERED)
    if message.get("tool_calls") or message.get("function_call"):
        text = "called a tool instead of answering: switch off the tools of this model or endpoint."
        return CallError(f"{place} {text}", Failure.EMPTY)
    if message.get("reasoning_content") or message.get("reasoning"):
        text = "wrote its thoughts and no answer: allow it more tokens, or run it again."
        return CallError(f"{place} {text}", Failure.EMPTY)
    return CallError(f"{place} sent an empty answer: run it again, or try another model.", Failure.EMPTY)


def _members(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    """Return a number of tokens, which some servers write as a text or a float; return 0 for anything else."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 2**53 and value == int(value) else 0


def _logprobs_of(choice: dict[str, Any]) -> tuple[TokenProb, ...]:
    tokens = _members(choice.get("logprobs")).get("content")
    if not isinstance(tokens, list):
        return ()
    pairs = ((token, _pair(token)) for token in tokens)
    return tuple(TokenProb(*pair, top=_top_of(token)) for token, pair in pairs if pair)


def _top_of(token: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    top = token.get("top_logprobs")
    pairs = (_pair(alternative) for alternative in top) if isinstance(top, list) else ()
    return tuple(pair for pair in pairs if pair)


def _pair(token: object) -> tuple[str, float] | None:
    if not isinstance(token, dict) or not isinstance(token.get("token"), str):
        return None
    value = token.get("logprob")
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        return None
    return clean_text(token["token"]), float(max(-9999, min(0, value)))


# Typed decisions on the wire: the two shapes of a request, and the answers of both. ``/v1/systemone`` is the shape of
# llama.cpp, SGLang, vLLM, Ollama, LocalAI and LiteLLM; ``/v1/decisions`` is OpenAI's. SGLang also has a
# ``/v1/decisions``, but with other bodies, so ``/v1/systemone`` is tried first.

SYSTEMONE, DECISIONS = "/systemone", "/decisions"
PATHS = (SYSTEMONE, DECISIONS)
"""The paths of typed decisions, in the order in which an endpoint is tried."""

_MISSING_STATUSES = (404, 405, 501)
_MISSING_KINDS = (Failure.NOT_FOUND, Failure.BAD_REQUEST, Failure.UNREADABLE)


def is_missing(error: CallError) -> bool:
    """Return whether an endpoint may lack this path: it does not know it, or it takes another body there."""
    return error.status in _MISSING_STATUSES or error.kind in _MISSING_KINDS


def no_decisions(failures: Sequence[CallError], place: str, model: str) -> CallError:
    """Return the failure of an endpoint that answered no request of any path with a decision.

    If the first path refused the request, it has decisions, and its refusal says what is wrong.
    """
    first, error = failures[0], failures[-1]
    if first.status not in _MISSING_STATUSES and first.kind is Failure.BAD_REQUEST:
        return first
    text = (
        f"{place} gives no typed decisions for the model {model} (neither /systemone nor /decisions): choose another "
        f"protocol than decision, or another model or endpoint. Its last answer: {error}"
    )
    failure = CallError(text, Failure.NOT_FOUND, status=error.status)
    failure.sent, failure.received = error.sent, error.received
    return failure


def build_decision(request: Request, path: str) -> dict[str, Any]:
    """Return the body of a request for typed decisions in the shape of this path."""
    text = "\n\n".join(clean_text(turn.content) for turn in request.messages)
    if path == SYSTEMONE:
        return {
            "model": request.model,
            "state": text,
            "questions": {question.id: _systemone(question) for question in request.questions},
        }
    return {
        "model": request.model,
        "input": text,
        "questions": [_openai(question) for question in request.questions],
    }


def _systemone(question: TypedQuestion) -> dict[str, Any]:
    asked: dict[str, Any] = {"type": question.kind, "instructions": clean_text(question.text)}
    levels = [(label, clean_text(meaning)) for label, meaning in question.levels]
    if question.kind == "score":
        return asked | {"criteria": [meaning or label for label, meaning in levels]}
    if question.kind == "choice":
        return asked | {"criteria": {label: meaning or None for label, meaning in levels}}
    (_, no), (_, yes) = levels
    described = {"criteria": {"true": yes, "false": no}} if yes and no else {}
    return asked | {"type": "noul"} | described


def _openai(question: TypedQuestion) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "type": question.kind,
        "name": question.id,
        "instructions": clean_text(question.text),
    }
    levels = [(label, clean_text(meaning)) for label, meaning in question.levels]
    if question.kind in ("score", "choice"):
        key, name = ("levels", "label") if question.kind == "score" else ("choices", "value")
        return asked | {
            key: [{name: label} | ({"description": meaning} if meaning else {}) for label, meaning in levels]
        }
    (_, no), (_, yes) = levels
    described = (
        f"\nTrue means: {yes}\nFalse means: {no}" if yes and no else ""
    )  # a predicate has no descriptions
    return asked | {"type": "predicate", "instructions": asked["instructions"] + described}


def is_decision(body: object) -> bool:
    """Return whether a response consists of typed answers."""
    return isinstance(body, dict) and "choices" not in body and isinstance(body.get("answers"), dict | list)


def normalise_answers(body: Mapping[str, Any]) -> str:
    """Return the typed answers as JSON, in one form for both shapes: each answer under the id of its question.

    The probabilities of an answer are an object of level and probability; "no" and "yes" for a yes/no question. An
    answer without an id, or with the id of another answer, is left out.
    """
    answers = body["answers"]
    if isinstance(answers, list):
        names = [answer.get("name") for answer in answers if isinstance(answer, dict)]
        answers = {
            answer["name"]: answer
            for answer in answers
            if isinstance(answer, dict)
            and isinstance(answer.get("name"), str)
            and names.count(answer["name"]) == 1
        }
    return json.dumps({name: _normalise(answer) for name, answer in answers.items()}, ensure_ascii=False)


def _normalise(answer: object) -> object:
    if not isinstance(answer, dict):
        return answer
    kept = {
        name: value for name, value in answer.items() if name not in ("name", "legend", "confidence", "score")
    }
    for kind, key in (("noul", "noul"), ("predicate", "probability")):
        if answer.get("type") == kind:
            chance = answer.get(key)
            chances = None
            if isinstance(chance, int | float) and not isinstance(chance, bool):
                chances = {"no": 1 - chance, "yes": chance}
            return {"type": "yes_no", "probabilities": chances}
    probabilities = answer.get("probabilities")
    if isinstance(probabilities, list):
        pairs = [
            (str(entry.get("value")), entry.get("probability"))
            for entry in probabilities
            if isinstance(entry, dict)
        ]
        kept["probabilities"] = dict(pairs) if len(dict(pairs)) == len(probabilities) else None
    return kept
