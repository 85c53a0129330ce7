"""Import Label Studio's short exports, JSON-MIN and CSV: a record for each annotation, with the texts and its values.

Shape: ``Converter.convert_to_json`` of label-studio-sdk 1 and 2. A record has the fields of the task, its id, the value
of each control, and then who annotated and when. The files do not say which fields are controls. In JSON of today, the
controls follow the id. In CSV and older JSON, controls are the fields with an object, and those in which two
annotations of a task differ. Without either, the fields with ratings are taken, and a note names them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coeval.datasets.json_nodes import Node, decode
from coeval.datasets.text import shorten
from coeval.extensions.exchange.label_studio_tasks import TOOL
from coeval.extensions.exchange.records import (
    Results,
    load_records,
    name_person,
    peek_records,
    read_answer,
    slice_utf16,
)
from coeval.extensions.exchange.tool_files import Gathering, Judgment, read_number, tool_format

_MARKS = frozenset(("annotator", "annotation_id", "lead_time"))
_OWN = (*_MARKS, "id", "created_at", "updated_at", "agreement")
_UNREAD = ("annotation_id", "created_at", "agreement")
_KINDS = ("choices", "taxonomy", "text", "rating", "number", "selected", "ranker")
"""The names inside a value that is not one text or number."""
MAX_WORDS = 3
"""The most words of a choice. The files do not say what was typed and what was chosen."""
_HIGHEST, _MOST = 100, 11
"""The highest rating, and the largest number of different ratings, of a field that is taken for a control."""


def _is_short(path: Path) -> bool:
    return any(record.value.keys() >= _MARKS for record in peek_records(path))


def _read(path: Path, gathering: Gathering) -> None:
    given = list(load_records(path))
    records = [record for record in given if record.get("annotation_id", "annotator").value is not None]
    gathering.left["Records without an annotation, left out"] += len(given) - len(records)
    unread = sum(record.get(name).value is not None for record in records for name in _UNREAD)
    told = f"Values in fields that a study does not have ({', '.join(_UNREAD)}), left out"
    gathering.left[told] += unread
    controls = _find_controls(records, gathering)
    values = {
        name: [each.get(name) for each in records if each.get(name).value is not None] for name in controls
    }
    typed = {name for name, given in values.items() if _is_typed(given)}
    for number, record in enumerate(records, 1):
        name = record.get("id").name() or str(number)
        fields = {field: value for field, value in record.value.items() if field not in (*_OWN, *controls)}
        instance = read_answer(Node(fields, record.place), name)
        if not gathering.add_instance(instance, record.place):
            continue
        results = Results()
        for control in controls:
            _read_value(control, record.get(control), control in typed, instance.output, results, gathering)
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
                values[field].append(record.get(field))
    if place and names != sorted(names):
        return [field for field in values if field not in names[:place]]
    differ = {field for (_, field), values_of_task in of_task.items() if len(values_of_task) > 1}
    built = {field for field, cells in values.items() if any(map(_is_built, cells))}
    if differ | built:
        return [field for field in values if field in differ | built]
    ratings = [field for field, cells in values.items() if _is_scale(cells)]
    if ratings:
        gathering.left[f"Fields taken for ratings ({shorten(', '.join(ratings), 200)})"] += len(ratings)
    return ratings


def _is_built(value: Node) -> bool:
    """Return whether a value can only be a control's: an object with the name of its kind, or a list of objects."""
    inner = decode(value.value)
    first = inner[0] if isinstance(inner, list) and inner else inner
    return isinstance(first, dict) and bool(first.keys() & {*_KINDS, "start"})


def _decode(value: Node) -> tuple[str, Node]:
    """Return the kind and the first part of a value: a rating is a list with one object, and a cell has it as JSON."""
    inner = decode(value.value)
    node = Node(inner[0] if isinstance(inner, list) and len(inner) == 1 else inner, value.place)
    kind = next((kind for kind in _KINDS if isinstance(node.value, dict) and kind in node.value), "")
    if isinstance(node.value, dict) and "start" in node.value:
        return "", Node([node.value], value.place)
    return kind, node.get(kind) if kind else node


def _is_scale(given: list[Node]) -> bool:
    values = [_decode(v)[1] for v in given]
    ratings = {v.number() if isinstance(v.value, int | float) else read_number(v.text()) for v in values}
    return len(ratings) <= _MOST and all(rating is not None and 0 <= rating <= _HIGHEST for rating in ratings)


def _is_typed(given: list[Node]) -> bool:
    """Return whether people typed the values of a control: one is a list of texts, or has many words."""
    parts = [_decode(value) for value in given]
    return any(kind == "text" or isinstance(node.value, str) and len(node.value.split()) > MAX_WORDS
               for kind, node in parts)  # fmt: skip


def _read_value(
    control: str, value: Node, typed: bool, text: str, results: Results, gathering: Gathering
) -> None:
    kind, decoded = _decode(value)
    parts = decoded.items() if isinstance(decoded.value, list) else []
    if kind == "ranker":
        results.add_ranking(control, decoded)
    elif isinstance(decoded.value, int | float):
        results.scores[control] = float(decoded.value)
    elif typed and decoded.value not in (None, ""):
        results.texts += [(control, each.text()) for each in (parts or [decoded])]
    elif parts and all(isinstance(each.value, dict) and "start" in each.value for each in parts):
        for part in parts:
            labels = next((each.items() for _, each in part.entries() if isinstance(each.value, list)), [])
            words = part.get("text").text() or slice_utf16(
                text, int(part.get("start").number() or 0), int(part.get("end").number() or 0)
            )
            results.marks.setdefault(control, []).extend((label.name(), words) for label in labels)
    elif parts and all(isinstance(each.value, str | list) for each in parts):
        results.choices[control] = tuple(" / ".join(map(str, each.value)) if isinstance(each.value, list)
                                         else each.name() for each in parts)  # fmt: skip
    elif isinstance(decoded.value, str) and decoded.value.strip():
        results.choices[control] = (decoded.name(),)
    elif decoded.value not in (None, ""):
        gathering.left["Results that are not a score, choice or text, left out"] += 1


FORMAT = tool_format("label-studio-min", "Label Studio short export (JSON-MIN, CSV)", TOOL, _is_short, _read)
