"""What is asked of a model and what comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; ``role`` is system, user or assistant.

    ``images`` are addresses and data: URIs, for models that take them.
    """

    role: str
    content: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model, complete but for the endpoint.

    ``schema`` is a JSON schema for the answer where the protocol wants one; how far the endpoint can be
    held to it (schema, plain JSON, text) is the client's business and not part of the question.
    """

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, object] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    top_p: float | None = None
    reasoning_effort: str = ""

    @property
    def hash(self) -> str:
        """SHA-256 of the whole question: with the sample's number and the endpoint, the key of the call ledger.

        A parameter that came later counts where it is set, so that earlier entries keep their hash.
        """
        values = {
            name: getattr(self, name)
            for name in _NAMES
            if name not in _LATER or getattr(self, name) not in (None, "")
        }
        values["messages"] = [
            {"role": turn.role, "content": turn.content} | ({"images": turn.images} if turn.images else {})
            for turn in self.messages
        ]
        text = json.dumps(values, sort_keys=True, ensure_ascii=False, default=dict)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_NAMES = [member.name for member in fields(Request)]
_LATER = ("top_p", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class TokenProb:
    """One token of the answer with its most likely alternatives, as (text, log-probability) pairs."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer. ``logprobs`` is empty where the endpoint gives none; latency in milliseconds."""

    text: str
    logprobs: tuple[TokenProb, ...] = field(default=(), repr=False)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the provider served from its prefix cache."""
    latency_ms: int = 0
    finish_reason: str = "stop"


Ask = Callable[[Request, int], Awaitable[Answer]]
"""Ask a question for its n-th sample (from 0). Raises ModelError when no answer can be had."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model, as it stands in the ledger. Cost is in the currency of the price given."""

    request_hash: str
    sample: int
    model: str
    endpoint: str
    request: str
    response: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency_ms: int = 0
    error: str = ""
    created_at: str = ""
    id: int = 0
