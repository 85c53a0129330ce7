"""Potato's output: each annotator's ``user_state.json``, with the file of items where it lies in the same folder.

Shape: ``UserState.to_json`` of potato-annotation 2.12. A state names items by their ids alone: without the file of
items it is for a task that has them already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from coeval.datasets.annotation.record_answers import read_answer
from coeval.datasets.annotation.record_results import Results
from coeval.datasets.format import Columns, Format
from coeval.datasets.gathering import NOBODY, Gathering
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.judgments import Judgment, read_number
from coeval.datasets.records import load_records, peek_records
from coeval.datasets.source import Source, source_of
from coeval.errors import InputError

TOOL = "Potato"
MAX_FILES = 10_000
_STATES = ("*.json", "*/user_state.json", "*/*/user_state.json")
_ITEMS = ("*.json*", "*.csv", "*.tsv", "data/*", "data_files/*")
_NAMES = ("id", "instance_id", "item_id")
_NUMBERS = ("slider", "number")
"""What Potato calls the one label of a scheme whose value is a number."""


def _is_state(path: Path) -> bool:
    head = peek(path).value
    return isinstance(head, dict) and {"user_id", "instance_id_to_label_to_value"} <= head.keys()


def _fits(path: Path) -> bool:
    if not path.is_dir():
        return _is_state(path)
    named = (file for pattern in _STATES[1:] for file in path.glob(pattern))
    return next(named, None) is not None or any(map(_is_state, sorted(path.glob(_STATES[0]))))


def _open(path: Path, slug: str, columns: Columns) -> Source:
    gathering = Gathering(slug, TOOL)
    states = sorted(_glob(path, _STATES)) if path.is_dir() else [path]
    states = [file for file in states if file == path or _is_state(file)]
    if not states:
        raise InputError(f"{path.name}: holds no user_state.json of Potato; give the folder of its output.")
    texts: dict[str, str] = {}
    for file in sorted(_glob(path, _ITEMS)) if path.is_dir() else []:
        if file not in states and file.is_file() and _is_items(file):
            texts |= _read_items(file, gathering)
    nodes = [load_node(file) for file in states]
    rated = {scheme for node in nodes for labels in _labels(node).values() for scheme, _, _ in labels}
    for node in nodes:
        _read_state(node, texts, rated, gathering)
    return source_of(gathering.build())


def _glob(folder: Path, patterns: tuple[str, ...]) -> set[Path]:
    files = {file for pattern in patterns for file in folder.glob(pattern)}
    if len(files) > MAX_FILES:
        raise InputError(
            f"{folder.name}: holds {len(files):,} files and at most {MAX_FILES:,} are read; split it."
        )
    return files


def _is_items(path: Path) -> bool:
    return any(set(_NAMES) & record.value.keys() and len(record.value) > 1 for record in peek_records(path))


def _read_items(path: Path, gathering: Gathering) -> dict[str, str]:
    """The items of a file, and the text of each by its name."""
    texts = {}
    for record in load_records(path):
        name = record.get(*_NAMES).name()
        rest = {field: value for field, value in record.value.items() if field not in _NAMES}
        instance = read_answer(Node(rest, record.place), name)
        if name and gathering.add_instance(instance, record.place):
            texts[name] = instance.output
    return texts


def _labels(state: Node) -> dict[str, list[tuple[str, str, Node]]]:
    """By item: scheme, label and value of everything chosen, in the two ways in which Potato has stored it."""
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
                f"{entry.place}: is not a label with its value, as Potato writes them; fetch it again."
            )
        yield parts[0], parts[1]


def _read_state(state: Node, texts: dict[str, str], rated: set[str], gathering: Gathering) -> None:
    people: dict[str, Results] = defaultdict(Results)
    for item, labels in _labels(state).items():
        for scheme, label, value in labels:
            _add_label(people[item], scheme, label, value)
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


def _add_label(results: Results, scheme: str, label: str, value: Node) -> None:
    words = value.text()
    number = value.number() if isinstance(value.value, int | float) else read_number(words)
    if label in _NUMBERS and number is not None:
        results.scores[scheme] = number
    elif words not in ("", label) and number is None and words.casefold() not in ("true", "on"):
        results.texts.append((scheme, words))
    elif value.value not in (None, False, ""):
        results.choices[scheme] = (*results.choices.get(scheme, ()), label)


FORMAT = Format(
    "potato",
    "Potato's output (user_state.json)",
    fits=lambda path, columns: _fits(path),
    open=_open,
    folder="user_state.json of Potato",
)
