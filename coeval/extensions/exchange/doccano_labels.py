"""Import doccano's exports. The file of a project with shared work is ``all.jsonl`` and names nobody.

Shape: ``data_export`` of doccano 1.8, and the labels of versions 1.0 to 1.7.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from coeval.datasets.json_nodes import Node
from coeval.extensions.exchange.records import Results, is_label, load_records, name_person, peek_records
from coeval.extensions.exchange.tool_files import (
    NOBODY,
    Gathering,
    Judgment,
    build_instance,
    tool_format,
)

TOOL = "doccano"
SHARED = "all"
_FIELDS = (
    "id",
    "text",
    "data",
    "label",
    "labels",
    "entities",
    "relations",
    "cats",
    "annotations",
    "Comments",
)
_TEXT = ("text", "data")
_LABELS = ("label", "labels", "entities", "cats")


def _is_record(record: Node) -> bool:
    names = record.value.keys()
    labels = [record.value[name] for name in (*_LABELS, "annotations") if name in names]
    return (
        isinstance(record.get(*_TEXT).value, str)
        and not {"input", "output"} & names
        and (any(isinstance(each, list) for each in labels) or (_is_row(record) and bool(labels)))
    )


def _is_row(record: Node) -> bool:
    """Return whether a record is a row of doccano's CSV, where a # is between labels."""
    names = record.value.keys()
    return (
        "id" in names
        and ("data" in names or "Comments" in names)
        and isinstance(record.get("label").value, str)
    )


def _is_export(path: Path) -> bool:
    records = peek_records(path)
    return bool(records) and all(map(_is_record, records))


def _read(path: Path, gathering: Gathering) -> None:
    gathering.fields = ("Input", "Text")
    given = list(load_records(path))
    records = list(filter(_is_record, given))
    gathering.left["Records without a text and labels, left out"] += len(given) - len(records)
    person = NOBODY if path.stem == SHARED else path.stem
    labels = [entry for record in records for field in _LABELS[:2] for entry in _list(record, field)]
    written = any(isinstance(entry.value, str) and not is_label(entry.value) for entry in labels)
    for number, record in enumerate(records, 1):
        name = record.get("id").name() or str(number)
        text = record.get(*_TEXT).text()
        further = {field: value.text() for field, value in record.entries() if field not in _FIELDS}
        if not gathering.add_instance(build_instance(name, "", text, context=further), record.place):
            continue
        results = _read_results(record, text, written)
        if path.stem == SHARED and len(gathering.files) > 1 and not results.empty:
            gathering.left[f"Labels of {path.name} beside the files of each person, left out"] += 1
            continue
        people = {person: results, **_read_annotations(record, text)}
        if all(each.empty for each in people.values()):
            gathering.left["Texts that nobody labelled, without a judgment"] += 1
        gathering.left["Relations between passages, left out"] += len(_list(record, "relations"))
        for who, each in people.items():
            if not each.empty or len(people) == 1:
                shared = Judgment(instance=name, criterion="-", by=who, person=True)
                each.add_to(gathering, shared, {*_LABELS, "annotations"}, record.place)


def _read_annotations(record: Node, text: str) -> dict[str, Results]:
    """Return the annotations of version 1.0, which name their person."""
    people: dict[str, Results] = defaultdict(Results)
    for entry in _list(record, "annotations"):
        results, given = people[name_person(TOOL, entry.get("user"))], entry.get("label", "text")
        label = given.name() if isinstance(given.value, str) else f"number {given.name()}"  # no score
        if entry.get("start_offset").value is not None:
            results.marks.setdefault("label", []).append((label, _read_span(entry, text)[1]))
        elif is_label(label):
            results.choices["label"] = (*results.choices.get("label", ()), label)
        else:
            results.texts.append(("label", label))
    return people


def _read_results(record: Node, text: str, written: bool) -> Results:
    results = Results()
    for field in _LABELS:
        chosen = [
            entry.name() for entry in _list(record, field) if isinstance(entry.value, str) and not written
        ]
        if chosen:
            results.choices["label" if field in ("cats", "labels") else field] = tuple(chosen)
        for entry in _list(record, field):
            if isinstance(entry.value, list | dict):
                results.marks.setdefault(field, []).append(_read_span(entry, text))
            elif isinstance(entry.value, str) and written:
                results.texts.append((field, entry.text()))
    comments = record.get("Comments")
    for comment in _list(record, "Comments") if not isinstance(comments.value, str) else [comments]:
        words = comment.get("comment") if isinstance(comment.value, dict) else comment
        results.texts.append(("comment", words.text()))
    return results


def _list(record: Node, field: str) -> list[Node]:
    if field == "label" and _is_row(record):
        return [Node(label, record.place) for label in record.get(field).text().split("#") if label]
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


FORMAT = tool_format("doccano", "doccano export (JSON Lines, JSON, CSV)", TOOL, _is_export, _read)
