"""Argilla's records as JSON (``dataset.records.to_json``): fields, everybody's responses, suggestions of models.

Shape: ``Record.to_dict`` of argilla 2.8. It says of a response who gave it, not when.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coeval.datasets.annotation.record_answers import read_answer
from coeval.datasets.annotation.record_results import Results, is_label
from coeval.datasets.gathering import NOBODY, Gathering
from coeval.datasets.json_nodes import Node
from coeval.datasets.judgments import Judgment
from coeval.datasets.records import load_records, peek_records
from coeval.datasets.tool_format import tool_format
from coeval.domain import Instance

TOOL = "Argilla"


def _is_records(path: Path) -> bool:
    return any(
        isinstance(record.get("fields").value, dict)
        and isinstance(record.get("responses").value, dict)
        and "suggestions" in record.value
        for record in peek_records(path)
    )


def _read(path: Path, gathering: Gathering) -> None:
    records = list(load_records(path))
    written = {
        name for record in records for name, given in _list_values(record) if not _may_be_chosen(given)
    }
    rated = {name for record in records for name, given in _list_values(record)
             if name not in written and not _is_spans(given)}  # fmt: skip
    for number, record in enumerate(records, 1):
        name = record.get("id", "_server_id").name() or str(number)
        fields = record.get("fields")
        instance = read_answer(fields, name)
        further = {field: value.text() for field, value in record.get("metadata").entries()}
        instance = Instance(
            instance.external_id, instance.input, instance.output, instance.document, instance.system,
            instance.reference, {**further, **instance.context},
        )  # fmt: skip
        if gathering.add_instance(instance, record.place):
            _read_responses(record, instance, written, rated, gathering)


def _read_responses(
    record: Node, instance: Instance, written: set[str], rated: set[str], gathering: Gathering
) -> None:
    people: dict[str, Results] = defaultdict(Results)
    for question, responses in record.get("responses").entries():
        for response in responses.items():
            person = response.get("user_id").name() or NOBODY
            _add_value(people[person], question, response.get("value"), instance, question in written)
    for person, results in people.items():
        shared = Judgment(instance=instance.external_id, criterion="-", by=person, person=True)
        results.add_to(gathering, shared, rated, record.place)
    agents: dict[str, Results] = defaultdict(Results)
    for question, suggestion in record.get("suggestions").entries():
        agent = suggestion.get("agent").name() or f"{TOOL} suggestion"
        _add_value(agents[agent], question, suggestion.get("value"), instance, question in written)
    for agent, results in agents.items():
        shared = Judgment(instance=instance.external_id, criterion="-", by=agent)
        results.add_to(gathering, shared, rated, record.place)


def _list_values(record: Node) -> list[tuple[str, Node]]:
    """What was answered to each question, by people and by models."""
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
    elif isinstance(value.value, list):
        results.choices[question] = tuple(_name(option) for option in value.items())
    elif value.value is not None and written:
        results.texts.append((question, value.text()))
    elif value.value is not None:
        results.choices[question] = (value.name(),)


def _name(option: Node) -> str:
    """An option of a choice; one of a ranking comes with its rank."""
    return (option.get("value") if isinstance(option.value, dict) else option).name()


FORMAT = tool_format("argilla", "Argilla records (JSON)", TOOL, _is_records, _read)
