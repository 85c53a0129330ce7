"""Server-sent events put together into the completion that they are the pieces of."""

from __future__ import annotations

import json
from typing import Any


def is_stream(content: str) -> bool:
    """Whether a response is a stream of events rather than one JSON text."""
    return content.lstrip("\ufeff \r\n").startswith(("data:", "event:", ": ", ":\n"))


def join_stream(content: str) -> dict[str, Any] | None:
    """A chat completion made of the chunks of a stream; None where there is none in it.

    An ``error`` object in the stream is kept beside whatever came before it.
    """
    choices: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {}
    for line in content.splitlines():
        if not line.startswith("data:"):
            continue
        chunk = _decode(line[5:].strip())
        if chunk is None:
            continue
        if chunk.get("error"):
            body["error"] = chunk["error"]
        if isinstance(chunk.get("usage"), dict):
            body["usage"] = chunk["usage"]
        for piece in chunk.get("choices") or ():
            if isinstance(piece, dict):
                _append(choices.setdefault(_index(piece), _empty()), piece)
    if not choices and not body:
        return None
    whole = [{**choice, "message": _message(choice.pop("_parts"))} for _, choice in sorted(choices.items())]
    return body | {"choices": whole}


def _decode(text: str) -> dict[str, Any] | None:
    try:
        chunk = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return chunk if isinstance(chunk, dict) else None


def _index(piece: dict[str, Any]) -> int:
    number = piece.get("index")
    return number if isinstance(number, int) else 0


def _empty() -> dict[str, Any]:
    return {"_parts": {}, "finish_reason": None}


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
