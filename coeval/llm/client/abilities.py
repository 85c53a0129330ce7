"""What an endpoint can be held to, learnt from its refusals: JSON schema, plain JSON or text; parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from coeval.domain import Request


class Rung(StrEnum):
    """How firmly the form of an answer can be asked for, firmest first."""

    SCHEMA = "json_schema"
    JSON = "json_object"
    TEXT = "text"


_NEXT_RUNG = {Rung.SCHEMA: Rung.JSON, Rung.JSON: Rung.TEXT}
_NEXT_TOP = {20: 5, 5: 0}
_NEXT_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": ""}

JSON_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no other words, no code fence. "
    "It must fit this JSON schema:\n"
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one model at one endpoint is known to take; optimistic until it refuses something."""

    rung: Rung = Rung.SCHEMA
    temperature: bool = True
    top_logprobs: int = 20
    """Alternatives a token to ask for; 0 where log-probabilities are not offered."""
    limit: str = "max_tokens"
    """The name of the parameter that limits the answer; empty where there is none."""


def build_body(request: Request, abilities: Abilities) -> dict[str, Any]:
    """The body of a chat completion request as far as the endpoint is able to take it."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.schema is not None:
        _ask_for_json(body, request.schema, abilities.rung)
    if request.temperature is not None and abilities.temperature:
        body["temperature"] = request.temperature
    if request.max_tokens is not None and abilities.limit:
        body[abilities.limit] = request.max_tokens
    if request.logprobs and abilities.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": abilities.top_logprobs}
    return body


def _ask_for_json(body: dict[str, Any], schema: Mapping[str, object], rung: Rung) -> None:
    if rung is Rung.SCHEMA:
        form = {"name": "answer", "strict": True, "schema": schema}
        body["response_format"] = {"type": rung.value, "json_schema": form}
        return
    if rung is Rung.JSON:
        body["response_format"] = {"type": rung.value}
    instruction = JSON_INSTRUCTION + json.dumps(schema, ensure_ascii=False)
    messages = body["messages"]
    last = next((m for m in reversed(messages) if m["role"] == "user"), None)
    if last is None:
        messages.append({"role": "user", "content": instruction})
    else:
        last["content"] += "\n\n" + instruction


_FORM = re.compile(
    r"response_?format|json_?schema|json_?object|json mode|structured output|guided|grammar", re.I
)
_UNABLE = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not allowed|not permitted|extra inputs|"
    r"not available|unavailable|only the default|deprecated|max_completion_tokens.? instead",
    re.I,
)


def step_down(body: Mapping[str, Any], abilities: Abilities, complaint: str) -> Abilities | None:
    """What the endpoint is able to do after all, given what it said in refusing ``body``.

    None where the complaint is about something else: the text, its length, the key, the model.
    """
    if "response_format" in body and _FORM.search(complaint):
        return replace(abilities, rung=_NEXT_RUNG[abilities.rung])
    if "logprobs" in body and "logprobs" in complaint:
        return replace(abilities, top_logprobs=_NEXT_TOP[abilities.top_logprobs])
    if not _UNABLE.search(complaint):
        return None
    if "temperature" in body and "temperature" in complaint:
        return replace(abilities, temperature=False)
    if abilities.limit in body and abilities.limit in complaint:
        return replace(abilities, limit=_NEXT_LIMIT[abilities.limit])
    return None


def breaks_form(body: Mapping[str, Any], text: str, finish_reason: str) -> bool:
    """Whether a complete answer shows that the endpoint takes ``response_format`` and does not keep to it."""
    return "response_format" in body and finish_reason == "stop" and not text.lstrip().startswith(("{", "["))


def next_rung(abilities: Abilities) -> Abilities:
    """One rung down the ladder; plain text is the last."""
    return replace(abilities, rung=_NEXT_RUNG.get(abilities.rung, Rung.TEXT))
