"""Import Argilla's records. They name the author of a response, but not the time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from coeval.datasets.json_nodes import Node, load_records, peek_records
from coeval.datasets.text import shorten
from coeval.domain import Instance
from coeval.extensions.exchange.argilla_versions import read_record
from coeval.extensions.exchange.records import Results, is_label, read_answer
from coeval.extensions.exchange.tool_files import NOBODY, Gathering, Judgment, tool_format

TOOL = "Argilla"


def _is_records(path: Path) -> bool:
    return any(read_record(record) is not None for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    given = list(load_records(path))
    records = [record for record in map(read_record, given) if record is not None]
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
        name = record.get("id", "external_id", "_server_id").name() or str(number)
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


FORMAT = tool_format("argilla", "Argilla records (JSON, CSV, Parquet)", TOOL, _is_records, _read)
