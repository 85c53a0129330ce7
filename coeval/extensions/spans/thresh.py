"""The JSON of thresh.tools: a list of texts with edits, each with a category and places in source and target.

Source: github.com/davidheineman/thresh. Older files call the texts ``original`` and ``simplified``, and the annotator
``user``. The answers to an edit's questions are a tree in ``annotation``; the severity is the answer with that name.
An edit without a severity gets the first one with a weight.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coeval.datasets.text import check_text
from coeval.errors import InputError
from coeval.extensions.spans.annotations import MODEL, Annotation, Collection, collect
from coeval.extensions.spans.reading import MOST_LINES, Further, SpanFormat, read_number, read_text
from coeval.extensions.spans.typology import Side, Span, Typology

MOST_DEPTH = 8


def read_thresh(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the annotations of a file.

    Raises:
        InputError: an entry has no target, or an edit has no place in it.
    """
    try:
        entries = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON: {str(error)[:200]}.") from error
    entries = entries if isinstance(entries, list) else [entries]
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for place, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            raise InputError(f"{path.name}, entry {place:,}: it must be an object with “target” and “edits”.")
        found.append(_read_entry(entry, f"{path.name}, entry {place:,}", typology, further, numbers))
    return collect(found)


def _read_entry(
    entry: Mapping[str, Any],
    place: str,
    typology: Typology,
    further: Further,
    numbers: dict[tuple[str, str], int],
) -> Annotation:
    source = _text(entry, "source", "original", place)
    output = _text(entry, "target", "simplified", place)
    name = str(entry.get("segment", entry.get("id", "")))[:200]
    edits = entry.get("edits") or []
    if not isinstance(edits, list) or not all(isinstance(one, Mapping) for one in edits):
        raise InputError(f"{place}: “edits” must be a list of objects.")
    segment, score = entry.get("segment"), entry.get("score")
    if segment is None:
        segment = numbers.setdefault((source, name), len(numbers))
    if type(segment) is not int or not 0 <= segment < MOST_LINES:
        raise InputError(f"{place}: “segment” must be a whole number from 0 to {MOST_LINES - 1:,}.")
    return Annotation(
        system=str(entry.get("system") or "output")[:200],
        segment=segment,
        annotator=str(entry.get("annotator") or entry.get("user") or MODEL)[:200],
        spans=tuple(_read_edit(edit, place, typology, source, output) for edit in edits),
        document=str(entry.get("document") or "")[:1000],
        source=source,
        output=output,
        score=None if score is None else read_number(str(score), place, "the score", 0, 100),
        arm=str(entry.get("arm") or further.arm)[:20],
        name=name,
    )


def _text(entry: Mapping[str, Any], name: str, older: str, place: str) -> str:
    text = entry.get(name, entry.get(older, ""))
    if not isinstance(text, str):
        raise InputError(f"{place}: “{name}” must be a text.")
    check_text(text, place)
    return text


def _read_edit(edit: Mapping[str, Any], place: str, typology: Typology, source: str, output: str) -> Span:
    severity = _find(edit.get("annotation"), "severity") or edit.get("severity")
    if not isinstance(severity, str):
        severity = next((one.name for one in typology.severities if one.weight), typology.severities[0].name)
    category = str(edit.get("category") or "")[:200]
    note = str(edit.get("note") or _find(edit.get("annotation"), "comment") or "")[:10_000]
    for side, key in ((Side.OUTPUT, "output_idx"), (Side.INPUT, "input_idx")):
        places = edit.get(key) or []
        length = len(output if side is Side.OUTPUT else source)
        for pair in places if isinstance(places, list) else [places]:
            good = isinstance(pair, list) and len(pair) == 2 and all(type(one) is int for one in pair)
            if not good or not 0 <= pair[0] < pair[1] <= length:
                raise InputError(
                    f"{place}: an edit is at {str(pair)[:40]}; it must be two numbers within the {length:,} "
                    f"characters of the {side}."
                )
        if places:  # an edit is one error, even if it has two parts or is in both texts
            return Span(
                min(one[0] for one in places), max(one[1] for one in places), severity, category, side, note
            )
    return Span(None, None, severity, category, note=note)


def _find(tree: Any, name: str, depth: int = 0) -> str:
    """Return the first answer with that name in a tree of questions and answers."""
    if not isinstance(tree, Mapping) or depth > MOST_DEPTH:
        return ""
    value = tree.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("val"), str):
        return str(value["val"])
    return next((found for one in tree.values() if (found := _find(one, name, depth + 1))), "")


def write_thresh(collection: Collection, typology: Typology) -> str:
    """Return the annotations as JSON, with one entry per annotator and segment."""
    entries = [
        {
            "id": place,
            "system": one.system,
            "segment": one.segment,
            "document": one.document,
            "annotator": one.annotator,
            "arm": one.arm,
            "source": one.source,
            "target": one.output,
            "score": one.score,
            "edits": [_write_edit(number, span) for number, span in enumerate(one.spans, 1)],
        }
        for place, one in enumerate(collection.annotations, 1)
        if not (one.planted and one.planted.bad)
    ]
    return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"


def _write_edit(number: int, span: Span) -> dict[str, Any]:
    edit: dict[str, Any] = {
        "category": span.category,
        "id": number,
        "annotation": {"severity": span.severity},
    }
    if span.placed:
        edit["output_idx" if span.side is Side.OUTPUT else "input_idx"] = [list(span.edges)]
    return edit | ({"note": span.note} if span.note else {})


FORMAT = SpanFormat("thresh", "thresh.tools (JSON)", read_thresh, write_thresh)
