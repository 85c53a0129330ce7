"""Import Label Studio's short exports, JSON-MIN and CSV: a record for each annotation, with the texts and its values.

Shape: ``Converter.convert_to_json`` of label-studio-sdk 1 and 2. A record has the fields of the task, its id, the value
of each control, and then who annotated and when. The files do not say which fields are controls. In JSON of today, the
controls follow the id. In CSV and older JSON, controls are the fields with an object, and those in which two
annotations of a task differ. Without either, the fields with ratings are taken, and a note names them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coeval.datasets.json_nodes import Node, decode, load_records, peek_records
from coeval.datasets.text import shorten
from coeval.extensions.exchange.label_studio_tasks import TOOL
from coeval.extensions.exchange.records import Results, name_person, read_answer
from coeval.extensions.exchange.tool_files import Gathering, Judgment, read_number, tool_format

_MARKS = frozenset(("annotator", "annotation_id", "lead_time"))
_OWN = (*_MARKS, "id", "created_at", "updated_at", "agreement")
_KINDS = ("choices", "taxonomy", "text", "rating", "number", "selected")
"""The names inside a value that is not one text or number."""
MAX_WORDS = 3
"""The most words of a choice. The files do not say what was typed and what was chosen."""
_HIGHEST, _MOST = 100, 11
"""The highest rating, and the largest number of different ratings, of a field that is taken for a control."""


def _is_short(path: Path) -> bool:
    return any(record.value.keys() >= _MARKS for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    records = list(load_records(path))
    controls = _find_controls(records, gathering)
    for number, record in enumerate(records, 1):
        name = record.get("id").name() or str(number)
        fields = {field: value for field, value in record.value.items() if field not in (*_OWN, *controls)}
        instance = read_answer(Node(fields, record.place), name)
        if not gathering.add_instance(instance, record.place):
            continue
        results = Results()
        for control in controls:
            _read_value(control, record.get(control), results, gathering)
        seconds = read_number(record.get("lead_time").text())
        shared = Judgment(
            instance=name, criterion="-", by=_name(record.get("annotator")), person=True,
            saved_at=record.get("updated_at", "created_at").time(),
            active_ms=None if seconds is None or not 0 <= seconds < 1e9 else round(seconds * 1000),
        )  # fmt: skip
        results.add_to(gathering, shared, set(controls), record.place)


def _name(who: Node) -> str:
    """Return an e-mail address as it is; the number of an account gets the tool's name."""
    return who.name() if "@" in who.name() else name_person(TOOL, who)


def _find_controls(records: list[Node], gathering: Gathering) -> list[str]:
    """Return the fields with people's values; a note names ratings that only their values show."""
    names = list(records[0].value) if records else []
    place = names.index("id") if "id" in names else 0
    values: dict[str, list[Node]] = defaultdict(list)
    of_task: dict[tuple[str, str], set[str]] = defaultdict(set)
    fields = dict.fromkeys(field for record in records for field in record.value if field not in _OWN)
    for record in records:
        for field in fields:
            of_task[record.get("id").name(), field].add(record.get(field).text())
            if record.get(field).value is not None:
                values[field].append(_decode(record.get(field)))
    if place and names != sorted(names):
        return [field for field in values if field not in names[:place]]
    differ = {field for (_, field), given in of_task.items() if len(given) > 1}
    built = {field for field, given in values.items() if any(isinstance(v.value, dict | list) for v in given)}
    if differ | built:
        return [field for field in values if field in differ | built]
    ratings = [field for field, given in values.items() if _is_scale(given)]
    if ratings:
        gathering.left[f"Fields taken for ratings ({shorten(', '.join(ratings), 200)})"] += len(ratings)
    return ratings


def _decode(value: Node) -> Node:
    """Return the first part of a value: a rating is a list with one object, and a cell has it as JSON."""
    inner = decode(value.value)
    node = Node(inner[0] if isinstance(inner, list) and len(inner) == 1 else inner, value.place)
    return node.get(*_KINDS) if isinstance(node.value, dict) and node.value.keys() & set(_KINDS) else node


def _is_scale(given: list[Node]) -> bool:
    ratings = {v.number() if isinstance(v.value, int | float) else read_number(v.text()) for v in given}
    return len(ratings) <= _MOST and all(rating is not None and 0 <= rating <= _HIGHEST for rating in ratings)


def _read_value(control: str, value: Node, results: Results, gathering: Gathering) -> None:
    given = _decode(value)
    if isinstance(given.value, int | float):
        results.scores[control] = float(given.value)
    elif isinstance(given.value, list) and all(isinstance(each, str) for each in given.value):
        results.choices[control] = tuple(each.name() for each in given.items())
    elif isinstance(given.value, str) and given.value.strip():
        if len(given.value.split()) <= MAX_WORDS:
            results.choices[control] = (given.name(),)
        else:
            results.texts.append((control, given.text()))
    elif given.value not in (None, ""):
        gathering.left["Results that are not a score, choice or text, left out"] += 1


FORMAT = tool_format("label-studio-min", "Label Studio short export (JSON-MIN, CSV)", TOOL, _is_short, _read)
