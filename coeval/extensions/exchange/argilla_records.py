"""Import Argilla's records. They name the author of a response, but not the time.

Shapes: ``Record.to_dict`` and ``Dataset.to_list(flatten=True)`` of argilla 2.8, and the records and the data sets on
the Hub of ``FeedbackDataset`` (1.8 to 1.29).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from coeval.datasets.json_nodes import Node, decode
from coeval.datasets.text import shorten
from coeval.domain import Instance
from coeval.extensions.exchange.records import Results, is_label, load_records, peek_records, read_answer
from coeval.extensions.exchange.tool_files import NOBODY, Gathering, Judgment, tool_format

TOOL = "Argilla"
_IDS = ("id", "external_id", "_server_id")
_ANSWERS = (".responses", ".responses.users", ".responses.status")
_PARTS = ("value", "user_id", "status")
_SUGGESTION = "-suggestion"
_BESIDE = ("status", "vectors", *_IDS)
"""Columns that are no field of the task."""


def _is_records(path: Path) -> bool:
    return any(_read_record(record) is not None for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    given = list(load_records(path))
    records = [record for record in map(_read_record, given) if record is not None]
    gathering.left["Records without the fields of Argilla, left out"] += len(given) - len(records)
    unread = [name.name() for record in records for name in record.get("left").items()]
    names = shorten(", ".join(sorted(set(unread))), 1_000)
    gathering.left[f"Values in fields that a study does not have ({names}), left out"] += len(unread)
    written = {
        name for record in records for name, given in _list_values(record) if not _may_be_chosen(given)
    }
    rated = {name for record in records for name, given in _list_values(record)
             if name not in written and not _is_spans(given)}  # fmt: skip
    for number, record in enumerate(records, 1):
        name = record.get(*_IDS).name() or str(number)
        fields = record.get("fields")
        instance = read_answer(fields, name)
        further = {field: value.text() for field, value in record.get("metadata").entries()}
        instance = replace(instance, context={**further, **instance.context})
        if gathering.add_instance(instance, record.place):
            _read_responses(record, instance, written, rated, gathering)


def _read_responses(
    record: Node, instance: Instance, written: set[str], rated: set[str], gathering: Gathering
) -> None:
    people: dict[str, Results] = defaultdict(Results)
    for question, responses in record.get("responses").entries():
        for response in responses.items():
            if response.get("status").name() in ("draft", "discarded"):
                gathering.left["Responses that were not submitted, left out"] += 1
                continue
            person = response.get("user_id").name() or NOBODY
            _add_value(people[person], question, response.get("value"), instance, question in written)
    for person, results in people.items():
        shared = Judgment(instance=instance.external_id, criterion="-", by=person, person=True)
        results.add_to(gathering, shared, rated, record.place)
    agents: dict[str, Results] = defaultdict(Results)
    for question, suggestion in record.get("suggestions").entries():
        gathering.left["Confidences of suggestions, left out"] += suggestion.get("score").value is not None
        agent = suggestion.get("agent").name() or f"{TOOL} suggestion"
        _add_value(agents[agent], question, suggestion.get("value"), instance, question in written)
    for agent, results in agents.items():
        shared = Judgment(instance=instance.external_id, criterion="-", by=agent)
        results.add_to(gathering, shared, rated, record.place)


def _list_values(record: Node) -> list[tuple[str, Node]]:
    """Return the answers to each question, by people and by models."""
    given = [
        (question, response.get("value"))
        for question, responses in record.get("responses").entries()
        for response in responses.items()
    ]
    return given + [(name, each.get("value")) for name, each in record.get("suggestions").entries()]


def _may_be_chosen(value: Node) -> bool:
    return not isinstance(value.value, str) or is_label(value.value)


def _is_spans(value: Node) -> bool:
    spans = value.value if isinstance(value.value, list) else []
    return any(isinstance(span, dict) and "start" in span for span in spans)


def _add_value(results: Results, question: str, value: Node, instance: Instance, written: bool) -> None:
    number = value.number()
    if number is not None:
        results.scores[question] = number
    elif _is_spans(value):
        for span in value.items():
            start, end = span.get("start").number(), span.get("end").number()
            if start is not None and end is not None:
                words = instance.output[max(0, int(start)) : max(0, int(end))]
                results.marks.setdefault(question, []).append((span.get("label").name(), words))
    elif _is_ranking(value):
        for option in value.items():
            rank = option.get("rank").number()
            if rank is not None:
                results.add_rank(question, _name_option(option), rank, len(value.items()))
    elif isinstance(value.value, list):
        results.choices[question] = tuple(_name_option(option) for option in value.items())
    elif value.value is not None and written:
        results.texts.append((question, value.text()))
    elif value.value is not None:
        results.choices[question] = (value.name(),)


def _is_ranking(value: Node) -> bool:
    options = value.value if isinstance(value.value, list) else []
    return bool(options) and all(isinstance(option, dict) and "rank" in option for option in options)


def _name_option(option: Node) -> str:
    return (option.get("value") if isinstance(option.value, dict) else option).name()


def _read_record(record: Node) -> Node | None:
    """Return a record in the form of version 2, with the names of its unread values under ``left``; else None."""
    names = record.value.keys() if isinstance(record.value, dict) else set()
    if isinstance(record.get("fields").value, dict) and "suggestions" in names and "responses" in names:
        feedback = isinstance(record.get("responses").value, list)
        value = {**record.value, **(_read_feedback(record) if feedback else {})}
        rest = names - {"fields", "responses", "suggestions", "metadata", *_IDS[:2]}
        value["left"] = sorted(name for name in rest if value[name] not in (None, {}, []))
    elif any(name.endswith(_ANSWERS[0]) or f"{name}{_SUGGESTION}" in names for name in names):
        value = _read_columns(record)
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
    """Return a record from a row of a data set. The row has a column for each field and several for each question."""
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
    fields = {name: value for name, value in rest.items() if name not in _BESIDE and not _is_vector(value)
              and ".suggestion" not in name}  # fmt: skip
    left = sorted(name for name in rest if name not in (*fields, *_IDS[:2]) and rest[name] is not None)
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


FORMAT = tool_format("argilla", "Argilla records (JSON, CSV, Parquet)", TOOL, _is_records, _read)
