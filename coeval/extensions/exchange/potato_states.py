"""Import Potato's ``user_state.json``, and the files of Potato 1.x.

Shape: ``UserState.to_json`` of potato-annotation 2.12. It names items only by id: without the file of items, the task
must have them already.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.source import Source
from coeval.errors import InputError
from coeval.extensions.exchange.records import Results, is_label, load_records, peek_records, read_answer
from coeval.extensions.exchange.tool_files import NOBODY, Gathering, Judgment, read_number

TOOL = "Potato"
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
_SELECTED = ("select-one", "selection", "decision")
"""Potato's names for the label of a scheme whose value is the chosen option."""
_PARTS = ("best", "worst")
"""Labels whose value is a chosen option, of a choice of two."""
_TYPED = ("text_box", "free_response", "justification")
"""Labels whose value is a text that somebody typed."""
_RANKED = "rank_order"
_USED = (
    "user_id",
    "instance_id_to_label_to_value",
    "instance_id_to_span_to_value",
    "instance_id_to_behavioral_data",
)
_SPAN = ("schema", "name", "start", "end", "text", "target_field")
_TIMES = ("total_time_ms", "session_start", "session_end")


def _is_state(path: Path) -> bool:
    head = peek(path).value
    return isinstance(head, dict) and {"user_id", "instance_id_to_label_to_value"} <= head.keys()


def _fits_potato(path: Path) -> bool:
    if not path.is_dir():
        return _is_state(path) or _is_old_state(path)
    named = (file for pattern in (*_STATES[1:], *_OLD) for file in path.glob(pattern))
    return next(named, None) is not None or any(map(_is_state, sorted(path.glob(_STATES[0]))))


def _open_potato(path: Path, slug: str, columns: Columns) -> Source:
    gathering = Gathering(slug, TOOL)
    states = sorted(_glob(path, _STATES + _OLD)) if path.is_dir() else [path]
    old = [file for file in states if _is_old_state(file)]
    states = [file for file in states if file not in old and (file == path or _is_state(file))]
    if not states and not old:
        raise InputError(
            f"{path.name}: contains no user_state.json from Potato; give the folder with Potato's output."
        )
    texts: dict[str, dict[str, str]] = {}
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


def _read_items(path: Path, gathering: Gathering) -> dict[str, dict[str, str]]:
    """Add the items of a file, and return the fields of each by its name; "" is the judged text."""
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
            fields = Node(rest, record.place).entries()
            texts[name] = {"": instance.output, **{field: value.text() for field, value in fields}}
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
    return _find_worded(states) | {
        scheme
        for scheme, given in values.items()
        if len(set().union(*given.values())) < sum(map(len, given.values()))
        or any(len(numbers) > 1 for numbers in given.values())
        or (len(given) > 1 and all(names == set(given) for names in together[scheme]))
    }


def _find_worded(states: Sequence[Node]) -> set[str]:
    """Return the schemes with several labels whose values are words from one list, such as the columns of a table."""
    words: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, set[str]] = defaultdict(set)
    for scheme, label, value in (
        each for state in states for given in _labels(state).values() for each in given
    ):
        word = value.text()
        if label not in (*_TYPED, *_SELECTED, *_PARTS) and word.casefold() not in (
            "",
            label.casefold(),
            *_TICKED,
        ):
            words[scheme].append(word)
            labels[scheme].add(label)
    return {
        scheme
        for scheme, given in words.items()
        if len(labels[scheme]) > 1 and len(set(given)) < len(given) and all(map(is_label, given))
        and all(read_number(word) is None for word in given)
    }  # fmt: skip


def _read_state(
    state: Node, texts: dict[str, dict[str, str]], rated: set[str], aspects: set[str], gathering: Gathering
) -> None:
    others = [
        name for name, value in state.entries() if name not in _USED and value.value not in (None, {}, [])
    ]
    told = f"Values in fields that a study does not have ({', '.join(sorted(others))}), left out"
    gathering.left[told] += len(others)
    people: dict[str, Results] = defaultdict(Results)
    for item, labels in _labels(state).items():
        for scheme, label, value in labels:
            _add_label(people[item], scheme, label, value, aspects)
    for item, spans in state.get("instance_id_to_span_to_value").entries():
        for span, _ in _pairs(spans) if isinstance(spans.value, list) else ():
            rest = [name for name, value in span.entries() if name not in _SPAN and value.value]
            gathering.left["Titles, ids and details of passages, left out"] += len(rest)
            start, end = span.get("start").number(), span.get("end").number()
            words = span.get("text").text()
            if not words and start is not None and end is not None:
                fields = texts.get(item, {})
                text = fields.get(span.get("target_field").name(), fields.get("", ""))
                words = text[max(0, int(start)) : max(0, int(end))]
            label = span.get("name").name()
            people[item].marks.setdefault(span.get("schema").name() or "passages", []).append((label, words))
    person = state.get("user_id").name() or NOBODY
    for item, results in people.items():
        conduct = state.path("instance_id_to_behavioral_data", item)
        other = [name for name, value in conduct.entries() if name not in _TIMES and value.value]
        gathering.left["Interactions that Potato recorded, left out"] += len(other)
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
    elif label in _TYPED and words:
        results.texts.append((scheme, words))
    elif label in _SELECTED and words:
        results.choices[scheme] = (words,)
    elif (label in _PARTS or scheme in aspects) and words:
        results.choices[f"{scheme}: {label}"] = (words,)
    elif label == _RANKED and words:
        order = words.split(",")
        for rank, option in enumerate(order, 1):
            results.add_rank(scheme, option, rank, len(order))
    elif words not in ("", label) and number is None and words.casefold() not in _TICKED:
        results.texts.append((scheme, words))
    elif value.value not in (None, False, ""):
        results.choices[scheme] = (*results.choices.get(scheme, ()), label)


FORMAT = Format(
    "potato",
    "Potato's output (user_state.json)",
    fits=lambda path, columns: _fits_potato(path),
    open=_open_potato,
    folder="user_state.json of Potato",
)
