"""Typed decisions on the wire: the two shapes of a request, and the answers of both.

``/v1/systemone`` is the shape of llama.cpp, SGLang, vLLM, Ollama, LocalAI and LiteLLM; ``/v1/decisions`` is OpenAI's.
SGLang also has a ``/v1/decisions``, but with other bodies, so ``/v1/systemone`` is tried first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from coeval.domain import Request, TypedQuestion
from coeval.folded_text import clean_text
from coeval.llm.client.failures import CallError, Failure

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
    for own, key in (("noul", "noul"), ("predicate", "probability")):
        if answer.get("type") == own:
            chance = answer.get(key)
            chances = None
            if isinstance(chance, int | float) and not isinstance(chance, bool):
                chances = {"no": 1 - chance, "yes": chance}
            return {"type": "yes_no", "probabilities": chances}
    given = answer.get("probabilities")
    if isinstance(given, list):
        pairs = [(str(one.get("value")), one.get("probability")) for one in given if isinstance(one, dict)]
        kept["probabilities"] = dict(pairs) if len(dict(pairs)) == len(given) else None
    return kept
