"""Write records of every version of Argilla as version 2 does: answers and suggestions by question.

Shapes: ``Record.to_dict`` and ``Dataset.to_list(flatten=True)`` of argilla 2.8, the records and the data sets on the
Hub of ``FeedbackDataset`` (1.8 to 1.29), and ``TextClassificationRecord`` and its kin (0.x to 1.29).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from typing import Any

from coeval.datasets.json_nodes import Node, decode

_IDS = ("id", "external_id", "_server_id")
_ANSWERS = (".responses", ".responses.users", ".responses.status")
_PARTS = ("value", "user_id", "status")
_SUGGESTION = "-suggestion"
_ANNOTATED = frozenset(("annotation", "annotation_agent", "prediction"))
_OF_ANNOTATED = (*_ANNOTATED, "prediction_agent", "metadata", *_IDS)
_BESIDE = ("status", "_server_id", "vectors", "metrics", "explanation", "search_keywords", "event_timestamp",
           "multi_label")  # fmt: skip
"""Columns that are no field of the task."""


def read_record(record: Node) -> Node | None:
    """Return a record in the form of version 2, with the names of its unread values under ``left``; else None."""
    names = record.value.keys() if isinstance(record.value, dict) else set()
    if isinstance(record.get("fields").value, dict) and "suggestions" in names and "responses" in names:
        feedback = isinstance(record.get("responses").value, list)
        value = {**record.value, **(_read_feedback(record) if feedback else {})}
        rest = names - {"fields", "responses", "suggestions", "metadata", *_IDS[:2]}
        value["left"] = sorted(name for name in rest if value[name] not in (None, {}, []))
    elif any(name.endswith(_ANSWERS[0]) or f"{name}{_SUGGESTION}" in names for name in names):
        value = _read_columns(record)
    elif names >= _ANNOTATED:
        value = _read_annotated(record)
    else:
        return None
    return Node(value, record.place)


def _read_feedback(record: Node) -> dict[str, Any]:
    """Return the answers of version 1, which are in a list of people, by question."""
    answers: dict[str, list[Any]] = defaultdict(list)
    for response in record.get("responses").items():
        who = {name: response.get(name).value for name in _PARTS[1:]}
        for question, value in response.get("values").entries():
            answers[question].append({**who, "value": value.get("value").value})
    told = {each.get("question_name").name(): each.value for each in record.get("suggestions").items()}
    return {"responses": answers, "suggestions": told}


def _read_columns(record: Node) -> dict[str, Any]:
    """Return a record of a data set, which has a column for each field and some for each question."""
    rest, answers, told = dict(record.value), {}, {}
    for name in record.value:
        question = name.removesuffix(_ANSWERS[0])
        if question != name:  # of version 2
            parts = [[each.value for each in record.get(question + part).items()] for part in _ANSWERS]
            answers[question] = [dict(zip(_PARTS, row, strict=True)) for row in zip_longest(*parts)]
            suggestion, agent = (
                record.get(f"{question}.suggestion"),
                record.get(f"{question}.suggestion.agent"),
            )
            used = [question + part for part in (*_ANSWERS, ".suggestion", ".suggestion.agent")]
        elif f"{name}{_SUGGESTION}" in record.value:  # of version 1
            answers[name] = _list_rows(decode(record.value[name]))
            suggestion = record.get(f"{name}{_SUGGESTION}")
            agent = record.get(f"{name}{_SUGGESTION}-metadata").get("agent")
            used = [name, f"{name}{_SUGGESTION}", f"{name}{_SUGGESTION}-metadata"]
        else:
            continue
        rest = {column: value for column, value in rest.items() if column not in used}
        if suggestion.value is not None:
            told[question] = {"value": decode(suggestion.value), "agent": agent.value}
    metadata = decode(rest.pop("metadata", None))
    fields = {name: value for name, value in rest.items() if name not in (*_BESIDE, *_IDS) and not _is_vector(value)
              and ".suggestion" not in name}  # fmt: skip
    left = sorted(
        name for name in rest if name not in (*fields, "id", "external_id") and rest[name] is not None
    )
    return {"id": record.get(*_IDS).value, "fields": fields, "metadata": metadata, "responses": answers,
            "suggestions": told, "left": left}  # fmt: skip


def _list_rows(value: Any) -> list[Any]:
    """Return answers, which a table may hold as an object of columns, as a list of objects."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    return [dict(zip(value, row, strict=True)) for row in zip_longest(*value.values())]


def _is_vector(value: Any) -> bool:
    numbers = decode(value)
    return isinstance(numbers, list) and bool(numbers) and all(isinstance(each, float) for each in numbers)


def _read_annotated(record: Node) -> dict[str, Any]:
    """Return a record with one annotation and the predictions of one model, of which the first is the likeliest."""
    given = decode(record.get("annotation").value)
    if isinstance(given, list) and any(isinstance(each, list) for each in given):  # passages
        given = [dict(zip(("label", "start", "end"), each, strict=False)) for each in given]
    answer = {"value": given, "user_id": record.get("annotation_agent").value}
    likeliest = next(iter(record.get("prediction").items()), Node(None, record.place))
    parts = likeliest.items() if isinstance(likeliest.value, list) else [likeliest.get("label", "text")]
    told = {"value": parts[0].value, "agent": record.get("prediction_agent").value}
    inputs, text = record.get("inputs").value, record.get("text").value
    fields = inputs if isinstance(inputs, dict) and inputs else {"text": text}
    left = [name for name, value in record.entries()
            if name not in (*_OF_ANNOTATED, "inputs", "text") and value.value not in (None, {}, [])]  # fmt: skip
    return {"id": record.get(*_IDS).value, "fields": fields, "metadata": record.get("metadata").value, "left": left,
            "responses": {"annotation": [answer] if given not in (None, []) else []},
            "suggestions": {"annotation": told} if told["value"] is not None else {}}  # fmt: skip
