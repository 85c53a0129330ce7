"""The abilities of each endpoint, learnt from its refusals.

A refusal counts at once. An answer that breaks the requested form may be chance, so only several in a row count, and
after a while the stricter form is tried again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from coeval.domain import Request
from coeval.domain.runs import PARAMETERS
from coeval.folded_text import clean_text


class Rung(StrEnum):
    """The ways to request a form for the answer, strictest first."""

    SCHEMA = "json_schema"
    JSON = "json_object"
    TEXT = "text"


_NEXT_RUNG = {Rung.SCHEMA: Rung.JSON, Rung.JSON: Rung.TEXT}
_NEXT_TOP = {20: 5, 5: 0}
_NEXT_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": ""}
_NAMED = tuple(name for name in PARAMETERS if name != "max_tokens")
_OPTIONAL = (*_NAMED, "n")
"""Optional parameters. Each is left out if the endpoint refuses it."""

JSON_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no other words, no code fence. "
    "It must fit this JSON schema:\n"
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """The known abilities of one model at one endpoint. It counts as able until it refuses a request."""

    rung: Rung = Rung.SCHEMA
    bounds: bool = True
    """True if the endpoint takes bounds in a schema. Some strict ones refuse the length of a text."""
    refused: frozenset[str] = frozenset()
    """Optional parameters that the endpoint refuses."""
    top_logprobs: int = 20
    """Number of alternatives per token to request; 0 if the endpoint has no log-probabilities."""
    limit: str = "max_tokens"
    """The name of the parameter that limits the answer's length; empty if there is none."""
    system: bool = True
    """True if the endpoint accepts a system message. Otherwise, its words precede the user's."""
    stream: bool = False
    """True if the endpoint only answers in a stream."""


def build_body(request: Request, abilities: Abilities, *, answers: int = 1) -> dict[str, Any]:
    """Return the body of a chat completion request, limited to the endpoint's abilities."""
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request, abilities)}
    if request.schema is not None and not (request.lined and abilities.rung is Rung.TEXT):
        schema = request.schema if abilities.bounds else _without_bounds(request.schema)
        _ask_for_json(body, schema, abilities.rung)
    parameters: dict[str, object] = {name: getattr(request, name) for name in _NAMED}
    parameters["n"] = answers if answers > 1 else None
    body |= {
        name: value
        for name, value in parameters.items()
        if value not in (None, "") and name not in abilities.refused
    }
    if request.max_tokens is not None and abilities.limit:
        body[abilities.limit] = request.max_tokens
    if request.logprobs and abilities.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": abilities.top_logprobs}
    return body


def list_left_out(request: Request, abilities: Abilities) -> tuple[str, ...]:
    """Return the names of the parameters that the request has and the endpoint refuses."""
    return tuple(
        name
        for name in _OPTIONAL
        if name in abilities.refused and getattr(request, name, None) not in (None, "")
    )


def _messages(request: Request, abilities: Abilities) -> list[dict[str, Any]]:
    """Return the messages to send. A message with images has its text and each image as separate parts."""
    turns: list[dict[str, Any]] = [
        {"role": turn.role, "content": clean_text(turn.content)} for turn in request.messages
    ]
    if not abilities.system:
        turns = _without_system(turns)
    pictures = [turn.images for turn in request.messages if abilities.system or turn.role != "system"]
    for turn, images in zip(turns, pictures, strict=False):
        if images:
            words = {"type": "text", "text": turn["content"]}
            turn["content"] = [words, *({"type": "image_url", "image_url": {"url": url}} for url in images)]
    return turns


def _without_system(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    others = [turn for turn in turns if turn["role"] != "system"]
    if system and others and others[0]["role"] == "user":
        others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others


_BOUNDS = ("maxLength", "maxItems")


def _without_bounds(schema: Any) -> Any:
    """Return the schema without the bounds of its texts and lists."""
    if isinstance(schema, Mapping):
        return {name: _without_bounds(part) for name, part in schema.items() if name not in _BOUNDS}
    return schema


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
    elif isinstance(last["content"], str):
        last["content"] += "\n\n" + instruction
    else:
        last["content"][0]["text"] += "\n\n" + instruction


_FORM = re.compile(
    r"response_?(?:format|schema)|json_?schema|json_?object|json mode|structured output|guided|grammar|"
    r"additional_?properties|\benum\b|generation_?config",
    re.I,
)
_UNABLE = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not allowed|not permitted|extra inputs|"
    r"not available|unavailable|only the default|deprecated|not enabled|max_completion_tokens.? instead|"
    r"only one candidate",
    re.I,
)
_EXCLUSIVE = re.compile(r"\bboth\b|only one|one of|mutually exclusive|together|simultaneous|either", re.I)
_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)|developer (?:role|message|instruction)|role[^.]{0,20}\bsystem|"
    r"\bsystem\b[^.]{0,20}\brole|roles must alternate",
    re.I,
)
_STREAM = re.compile(
    r"only\b[^.]{0,40}\bstream|stream\b[^.]{0,30}(?:must be|required|set to) ?\W*true|requires? stream", re.I
)


def step_down(body: Mapping[str, Any], abilities: Abilities, complaint: str) -> Abilities | None:
    """Return the reduced abilities, learnt from the refusal of ``body``.

    Return None if the refusal is about something else, such as the text, its length, the key or the model.
    """
    if "response_format" in body and abilities.bounds and any(bound in complaint for bound in _BOUNDS):
        return replace(abilities, bounds=False)
    if "response_format" in body and _FORM.search(complaint):
        return replace(abilities, rung=_NEXT_RUNG[abilities.rung])
    if "logprobs" in body and "logprobs" in complaint:
        return replace(abilities, top_logprobs=_NEXT_TOP[abilities.top_logprobs])
    if not abilities.stream and _STREAM.search(complaint):
        return replace(abilities, stream=True)
    if abilities.system and body["messages"][0]["role"] == "system" and _SYSTEM.search(complaint):
        return replace(abilities, system=False)
    exclusive = ("temperature", "top_p")
    if all(name in body and name in complaint for name in exclusive) and _EXCLUSIVE.search(complaint):
        return without(abilities, "top_p")
    if not _UNABLE.search(complaint):
        return None
    for name in _OPTIONAL:
        if name in body and re.search(rf"\b{name}\b", complaint):
            return without(abilities, name)
    if abilities.limit in body and abilities.limit in complaint:
        return replace(abilities, limit=_NEXT_LIMIT[abilities.limit])
    return None


def without(abilities: Abilities, name: str) -> Abilities:
    """Return these abilities without an optional parameter."""
    return replace(abilities, refused=abilities.refused | {name})


def next_rung(abilities: Abilities) -> Abilities:
    """Return the abilities one rung lower. Plain text is the last rung."""
    return replace(abilities, rung=_NEXT_RUNG.get(abilities.rung, Rung.TEXT))


BREAKS = 3
"""Number of consecutive answers that break the form before it is dropped."""

TRY_AGAIN = 200
"""Number of answers after which a dropped form is tried again."""

_FENCED = re.compile(r"\s*(?:```|~~~)[\w-]{0,20}\s*[{\[]")

EndpointModel = tuple[str, str]


@dataclass(slots=True)
class _Record:
    abilities: Abilities = Abilities()
    broken: int = 0
    given_up: Rung | None = None
    since: int = 0


class Lessons:
    """The abilities of each (endpoint, model)."""

    def __init__(self) -> None:
        self._records: dict[EndpointModel, _Record] = {}

    def abilities(self, key: EndpointModel) -> Abilities:
        return self._record(key).abilities

    def learn(self, key: EndpointModel, before: Abilities, after: Abilities) -> None:
        """Learn from a refusal only once, even if many simultaneous requests report it."""
        record = self._record(key)
        if record.abilities == before:
            record.abilities = after

    def note_answer(self, key: EndpointModel, body: Mapping[str, Any], text: str, finish_reason: str) -> None:
        """Count whether a complete answer has the requested form. Refusals in words do not count."""
        record = self._record(key)
        if finish_reason not in ("stop", ""):
            return
        if "response_format" in body:
            kept = text.lstrip().startswith(("{", "[")) or _FENCED.match(text) is not None
            record.broken = 0 if kept else record.broken + 1
            if record.broken >= BREAKS:
                self._give_up(record)
        elif record.given_up is not None:
            record.since += 1
            if record.since >= TRY_AGAIN:
                record.abilities = replace(record.abilities, rung=record.given_up)
                record.given_up = None

    @staticmethod
    def _give_up(record: _Record) -> None:
        record.given_up = record.given_up or record.abilities.rung
        record.abilities = next_rung(record.abilities)
        record.broken = record.since = 0

    def _record(self, key: EndpointModel) -> _Record:
        return self._records.setdefault(key, _Record())
