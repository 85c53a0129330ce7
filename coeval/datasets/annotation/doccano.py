"""doccano's JSON Lines: categories, marked passages or texts, with comments; a file is one person's, by its name.

Shape: ``data_export`` of doccano 1.8: of a project with shared work the file is ``all.jsonl`` and names nobody.
"""

from __future__ import annotations

from pathlib import Path

from coeval.datasets.annotation.record_results import Results, is_label
from coeval.datasets.gathering import NOBODY, Gathering, build_instance
from coeval.datasets.json_nodes import LINES, Node, load_node, peek
from coeval.datasets.judgments import Judgment
from coeval.datasets.tool_format import tool_format

TOOL = "doccano"
SHARED = "all"
_FIELDS = ("id", "text", "label", "entities", "relations", "cats", "Comments")


def _is_export(path: Path) -> bool:
    head = peek(path)
    records = head.value if isinstance(head.value, list) and path.suffix.lower() in LINES else []
    return bool(records) and all(
        isinstance(record, dict)
        and isinstance(record.get("text"), str)
        and any(isinstance(record.get(name), list) for name in ("label", "entities", "cats"))
        and not {"input", "output"} & set(record)
        for record in records
    )


def _read(path: Path, gathering: Gathering) -> None:
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
    """A passage: ``[start, end, label]``, or an object with the offsets by name."""
    if isinstance(entry.value, dict):
        start, end, label = entry.get("start_offset"), entry.get("end_offset"), entry.get("label")
    else:
        parts = entry.items() + [Node(None, entry.place)] * 3
        start, end, label = parts[:3]
    place = start.number() or 0, end.number() or 0
    return label.name(), text[max(0, int(place[0])) : max(0, int(place[1]))]


FORMAT = tool_format("doccano", "doccano export (JSON Lines)", TOOL, _is_export, _read)
