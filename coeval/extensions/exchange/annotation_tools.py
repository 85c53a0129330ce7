"""Import files of Argilla, doccano and Potato.

- Argilla's records as JSON (``dataset.records.to_json``). Shape: ``Record.to_dict`` of argilla 2.8. It records the
  author of a response, but not the time.
- doccano's JSON Lines. Shape: ``data_export`` of doccano 1.8. The file of a project with shared work is ``all.jsonl``
  and names nobody.
- Potato's ``user_state.json``. Shape: ``UserState.to_json`` of potato-annotation 2.12. It names items only by id:
  without the file of items, the task must have them already.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.json_nodes import Node, load_node, load_records, peek, peek_records
from coeval.datasets.source import Source
from coeval.datasets.text import find_json
from coeval.domain import Instance, Scale
from coeval.errors import InputError
from coeval.extensions.exchange.records import Fields, Results, is_label, read_answer
from coeval.extensions.exchange.tool_files import (
    NOBODY,
    Gathering,
    Judgment,
    build_instance,
    read_number,
    tool_format,
)

ARGILLA = "Argilla"


def _is_records(path: Path) -> bool:
    return any(
        isinstance(record.get("fields").value, dict)
        and isinstance(record.get("responses").value, dict)
        and "suggestions" in record.value
        for record in peek_records(path)
    )


def _read_argilla(path: Path, gathering: Gathering) -> None:
    records = list(load_records(path))
    Fields("", kept="id fields metadata responses suggestions").count_others(gathering, records)
    written = {
        name for record in records for name, given in _list_values(record) if not _may_be_chosen(given)
    }
    rated = {name for record in records for name, given in _list_values(record)
             if name not in written and not _is_spans(given)}  # fmt: skip
    for name, given in (pair for record in records for pair in _list_values(record) if _is_ranking(pair[1])):
        for option in given.items():  # a rank counts places, and 1 is the first
            known = gathering.scales.get(_name_rank(name, option), Scale(1, 2))
            gathering.scales[_name_rank(name, option)] = Scale(1, max(known.high, len(given.items())))
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
        agent = suggestion.get("agent").name() or f"{ARGILLA} suggestion"
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
                results.scores[_name_rank(question, option)] = rank
    elif isinstance(value.value, list):
        results.choices[question] = tuple(_name_option(option) for option in value.items())
    elif value.value is not None and written:
        results.texts.append((question, value.text()))
    elif value.value is not None:
        results.choices[question] = (value.name(),)


def _is_ranking(value: Node) -> bool:
    options = value.value if isinstance(value.value, list) else []
    return bool(options) and all(isinstance(option, dict) and "rank" in option for option in options)


def _name_rank(question: str, option: Node) -> str:
    """Return the criterion of one option of a ranking. Its score is the option's rank."""
    return f"{question}: rank of {_name_option(option)} (1 is first)"


def _name_option(option: Node) -> str:
    return (option.get("value") if isinstance(option.value, dict) else option).name()


ARGILLA_FORMAT = tool_format("argilla", "Argilla records (JSON)", ARGILLA, _is_records, _read_argilla)


DOCCANO = "doccano"
SHARED = "all"
_FIELDS = ("id", "text", "label", "entities", "relations", "cats", "Comments")


def _is_export(path: Path) -> bool:
    head = peek(path)
    records = head.value if isinstance(head.value, list) and find_json(path) == "lines" else []
    return bool(records) and all(
        isinstance(record, dict)
        and isinstance(record.get("text"), str)
        and any(isinstance(record.get(name), list) for name in ("label", "entities", "cats"))
        and not {"input", "output"} & set(record)
        for record in records
    )


def _read_doccano(path: Path, gathering: Gathering) -> None:
    gathering.fields = ("Input", "Text")
    records = load_node(path).items()
    person = NOBODY if path.stem == SHARED else path.stem
    labels = [entry for record in records for entry in _list(record, "label")]
    written = any(isinstance(entry.value, str) and not is_label(entry.value) for entry in labels)
    for number, record in enumerate(records, 1):
        name = record.get("id").name() or str(number)
        text = record.get("text").text()
        further = {field: value.text() for field, value in record.entries() if field not in _FIELDS}
        if not gathering.add_instance(build_instance(name, "", text, context=further), record.place):
            continue
        results = _read_results(record, text, written)
        if path.stem == SHARED and len(gathering.files) > 1 and not results.empty:
            gathering.left[f"Labels of {path.name} beside the files of each person, left out"] += 1
            continue
        if results.empty:
            gathering.left["Texts that nobody labelled, without a judgment"] += 1
        gathering.left["Relations between passages, left out"] += len(_list(record, "relations"))
        shared = Judgment(instance=name, criterion="-", by=person, person=True)
        results.add_to(gathering, shared, {"label", "entities", "cats"}, record.place)


def _read_results(record: Node, text: str, written: bool) -> Results:
    results = Results()
    for field in ("label", "entities", "cats"):
        chosen = [
            entry.name() for entry in _list(record, field) if isinstance(entry.value, str) and not written
        ]
        if chosen:
            results.choices["label" if field == "cats" else field] = tuple(chosen)
        for entry in _list(record, field):
            if isinstance(entry.value, list | dict):
                results.marks.setdefault(field, []).append(_read_span(entry, text))
            elif isinstance(entry.value, str) and written:
                results.texts.append((field, entry.text()))
    for comment in _list(record, "Comments"):
        words = comment.get("comment") if isinstance(comment.value, dict) else comment
        results.texts.append(("comment", words.text()))
    return results


def _list(record: Node, field: str) -> list[Node]:
    return record.get(field).items() if isinstance(record.get(field).value, list) else []


def _read_span(entry: Node, text: str) -> tuple[str, str]:
    """Return a passage from ``[start, end, label]``, or from an object with named offsets."""
    if isinstance(entry.value, dict):
        start, end, label = entry.get("start_offset"), entry.get("end_offset"), entry.get("label")
    else:
        parts = entry.items() + [Node(None, entry.place)] * 3
        start, end, label = parts[:3]
    place = start.number() or 0, end.number() or 0
    return label.name(), text[max(0, int(place[0])) : max(0, int(place[1]))]


DOCCANO_FORMAT = tool_format("doccano", "doccano export (JSON Lines)", DOCCANO, _is_export, _read_doccano)


POTATO = "Potato"
MAX_FILES = 10_000
_STATES = ("*.json", "*/user_state.json", "*/*/user_state.json")
_OLD = ("annotated_instances.jsonl", "*/annotated_instances.jsonl", "*/*/annotated_instances.jsonl")
"""The files of Potato 1.x: one folder per person, with the texts that this person saw."""
_ITEMS = ("*.json*", "*.csv", "*.tsv", "data/*", "data_files/*")
_NAMES = ("id", "instance_id", "item_id")
_OLD_FIELDS = ("displayed_text", "label_annotations", "span_annotations", "behavioral_data")
_NUMBERS = ("slider", "number", "scale_value")
"""Potato's names for the label of a numeric scheme."""
_TICKED = ("true", "on")
_SELECTED = ("select-one", "selection")
"""Potato's names for the label of a scheme whose value is the chosen option."""


def _is_state(path: Path) -> bool:
    head = peek(path).value
    return isinstance(head, dict) and {"user_id", "instance_id_to_label_to_value"} <= head.keys()


def _fits_potato(path: Path) -> bool:
    if not path.is_dir():
        return _is_state(path) or _is_old_state(path)
    named = (file for pattern in (*_STATES[1:], *_OLD) for file in path.glob(pattern))
    return next(named, None) is not None or any(map(_is_state, sorted(path.glob(_STATES[0]))))


def _open_potato(path: Path, slug: str, columns: Columns) -> Source:
    gathering = Gathering(slug, POTATO)
    states = sorted(_glob(path, _STATES + _OLD)) if path.is_dir() else [path]
    old = [file for file in states if _is_old_state(file)]
    states = [file for file in states if file not in old and (file == path or _is_state(file))]
    if not states and not old:
        raise InputError(
            f"{path.name}: contains no user_state.json from Potato; give the folder with Potato's output."
        )
    texts: dict[str, str] = {}
    for file in sorted(_glob(path, _ITEMS)) if path.is_dir() else []:
        if file not in (*states, *old) and file.is_file() and _is_items(file):
            texts |= _read_items(file, gathering)
    nodes = [load_node(file) for file in states]
    for file in old:
        texts |= _read_items(file, gathering)
        nodes.append(_read_old_state(file))
    rated = {scheme for node in nodes for labels in _labels(node).values() for scheme, _, _ in labels}
    aspects = _find_aspects(nodes)
    for node in nodes:
        _read_state(node, texts, rated, aspects, gathering)
    return gathering.open()


def _glob(folder: Path, patterns: tuple[str, ...]) -> set[Path]:
    files = {file for pattern in patterns for file in folder.glob(pattern)}
    if len(files) > MAX_FILES:
        raise InputError(
            f"{folder.name}: contains {len(files):,} files, and the limit is {MAX_FILES:,}; split the folder."
        )
    return files


def _is_old_state(path: Path) -> bool:
    return any(
        {"displayed_text", "label_annotations"} <= record.value.keys() for record in peek_records(path)
    )


def _read_old_state(path: Path) -> Node:
    """Return a file of Potato 1.x in the form of a state. Its folder names the person."""
    records = list(load_records(path))
    labels = {record.get("id").name(): record.get("label_annotations").value or {} for record in records}
    conduct = {
        record.get("id").name(): {
            "total_time_ms": _read_time_spent(record.path("behavioral_data", "time_string"))
        }
        for record in records
    }
    state = {"user_id": path.parent.name, "instance_id_to_label_to_value": labels}
    return Node({**state, "instance_id_to_behavioral_data": conduct}, path.name)


def _read_time_spent(told: Node) -> int | None:
    """Return the milliseconds in a text such as "Time spent: 0d 0h 1m 12s", or None."""
    match = re.fullmatch(r"Time spent: (\d+)d (\d+)h (\d+)m (\d+)s ?", told.text())
    if not match:
        return None
    days, hours, minutes, seconds = map(int, match.groups())
    return 1000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _is_items(path: Path) -> bool:
    return any(set(_NAMES) & record.value.keys() and len(record.value) > 1 for record in peek_records(path))


def _read_items(path: Path, gathering: Gathering) -> dict[str, str]:
    """Return the items of a file, and each item's text by its name."""
    texts = {}
    for record in load_records(path):
        name = record.get(*_NAMES).name()
        rest = {field: value for field, value in record.value.items() if field not in (*_NAMES, *_OLD_FIELDS)}
        rest = {"text": record.value["displayed_text"], **rest} if "displayed_text" in record.value else rest
        gathering.left["Passages marked with Potato 1.x, left out"] += len(
            record.get("span_annotations").value or ()
        )
        instance = read_answer(Node(rest, record.place), name)
        if name and gathering.add_instance(instance, record.place):
            texts[name] = instance.output
    return texts


def _labels(state: Node) -> dict[str, list[tuple[str, str, Node]]]:
    """Return the scheme, label and value of every choice by item; read both of Potato's forms."""
    given: dict[str, list[tuple[str, str, Node]]] = defaultdict(list)
    for item, labels in state.get("instance_id_to_label_to_value").entries():
        if isinstance(labels.value, dict):
            for scheme, chosen in labels.entries():
                given[item] += [(scheme, label, value) for label, value in chosen.entries()]
        else:
            for label, value in _pairs(labels):
                given[item].append((label.get("schema").name(), label.get("name").name(), value))
    return given


def _pairs(entries: Node) -> Iterator[tuple[Node, Node]]:
    for entry in entries.items():
        parts = entry.items()
        if len(parts) != 2 or not isinstance(parts[0].value, dict):
            raise InputError(
                f"{entry.place}: is not a label with its value, as Potato writes them; export the file again."
            )
        yield parts[0], parts[1]


def _find_aspects(states: Sequence[Node]) -> set[str]:
    """Return the schemes whose labels are aspects, each with a number as its value (multirate, rubric, range, ...).

    The value of an option is the option itself or, from older versions, always the same key. The value of an aspect
    varies, two aspects may have the same one, or people rate all aspects of an item.
    """
    values: dict[str, dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    together: dict[str, list[set[str]]] = defaultdict(list)
    for labels in (labels for state in states for labels in _labels(state).values()):
        rated: dict[str, set[str]] = defaultdict(set)
        for scheme, label, value in labels:
            number = (
                None
                if value.text().casefold() in ("", label.casefold(), *_TICKED)
                else read_number(value.text())
            )
            if number is not None:
                values[scheme][label].add(number)
                rated[scheme].add(label)
        for scheme, names in rated.items():
            together[scheme].append(names)
    return {
        scheme
        for scheme, given in values.items()
        if len(set().union(*given.values())) < sum(map(len, given.values()))
        or any(len(numbers) > 1 for numbers in given.values())
        or (len(given) > 1 and all(names == set(given) for names in together[scheme]))
    }


def _read_state(
    state: Node, texts: dict[str, str], rated: set[str], aspects: set[str], gathering: Gathering
) -> None:
    people: dict[str, Results] = defaultdict(Results)
    for item, labels in _labels(state).items():
        for scheme, label, value in labels:
            _add_label(people[item], scheme, label, value, aspects)
    for item, spans in state.get("instance_id_to_span_to_value").entries():
        for span, _ in _pairs(spans) if isinstance(spans.value, list) else ():
            start, end = span.get("start").number(), span.get("end").number()
            words = span.get("text").text()
            if not words and start is not None and end is not None:
                words = texts.get(item, "")[max(0, int(start)) : max(0, int(end))]
            label = span.get("name").name()
            people[item].marks.setdefault(span.get("schema").name() or "passages", []).append((label, words))
    person = state.get("user_id").name() or NOBODY
    for item, results in people.items():
        conduct = state.path("instance_id_to_behavioral_data", item)
        active = conduct.get("total_time_ms").number()
        shared = Judgment(
            instance=item,
            criterion="-",
            by=person,
            person=True,
            opened_at=conduct.get("session_start").time(),
            saved_at=conduct.get("session_end").time(),
            active_ms=round(active) if active and 0 < active < 1e12 else None,
        )
        results.add_to(gathering, shared, rated, state.place)


def _add_label(results: Results, scheme: str, label: str, value: Node, aspects: set[str]) -> None:
    words = value.text()
    number = None if isinstance(value.value, bool) else read_number(words)
    if label in _NUMBERS and number is not None:
        results.scores[scheme] = number
    elif label in _SELECTED and words:
        results.choices[scheme] = (words,)
    elif scheme in aspects and number is not None:
        results.scores[f"{scheme}: {label}"] = number
    elif words not in ("", label) and number is None and words.casefold() not in _TICKED:
        results.texts.append((scheme, words))
    elif value.value not in (None, False, ""):
        results.choices[scheme] = (*results.choices.get(scheme, ()), label)


POTATO_FORMAT = Format(
    "potato",
    "Potato's output (user_state.json)",
    fits=lambda path, columns: _fits_potato(path),
    open=_open_potato,
    folder="user_state.json of Potato",
)
