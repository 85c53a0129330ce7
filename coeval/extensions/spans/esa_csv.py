"""The CSV file of an ESA campaign in Appraise: one row per save, with spans as JSON and a score from 0 to 100.

Source: Kocmi et al. 2024 (ESA); Zouhar, Kocmi and Sachan 2025 (ESA with a model's spans); the files are those of
github.com/wmt-conference/ErrorSpanAnnotation. There is no header. Three rules are inferred. A person's span ends at
its last character, a drafted one after it. A drafted span has no ``error_type``. A drafted span beyond the end of the
text means an omission. In a file from CoEval, the item is the number of the line from 1, so it needs no list of items.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coeval.clock import read_time, write_time
from coeval.datasets.tables.table_files import open_table
from coeval.errors import InputError
from coeval.extensions.spans.annotations import (
    MOST_LINES,
    Annotation,
    Collection,
    Further,
    SpanFormat,
    check_columns,
    collect,
    read_documents,
    read_number,
    read_rows,
)
from coeval.extensions.spans.typology import Side, Span, Typology

COLUMNS = 12
Place = tuple[str, int, str]
"""A login, an item and a document."""

Items = Mapping[tuple[int, str], tuple[int, str]]
"""The line and the text of each item of each document."""

MISSING = "missing"
OURS = "coeval"
"""The prefix of the system in a file from CoEval; in other files, it is the campaign's name."""
BAD = re.compile(r"#bad\d+$")


@dataclass(frozen=True, slots=True)
class _Save:
    """One row of the campaign."""

    login: str
    system: str
    item: int
    bad: bool
    score: float
    document: str
    """``document#system``."""
    spans: tuple[Mapping[str, Any], ...]
    started: float
    ours: bool
    """True if the file comes from CoEval, so that the item is the number of the line from 1."""

    @property
    def place(self) -> Place:
        return self.login, self.item, self.document


def read_esa(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the latest save of each item, without tutorials, planted errors and repeated documents.

    Raises:
        InputError: a row cannot be read; the message names the line.
    """
    saves, left = [], 0
    for line, row in read_rows(path):
        save = _read_row(row, f"{path.name}, line {line:,}")
        if save.bad or "tutorial" in save.document or "#duplicate" in save.document:
            left += 1
        else:
            saves.append(save)
    items = _read_items(further.items) if further.items else {}
    documents = read_documents(further.documents) if further.documents else []
    people = _read_people(further.people) if further.people else {}
    lines = _place_lines(saves, items, documents)
    latest: dict[Place, _Save] = {}
    for save in saves:
        earlier = latest.get(save.place)
        if earlier is None or save.started >= earlier.started:
            latest[save.place] = save
    annotations = [_build(save, lines[place], items, people, further.arm) for place, save in latest.items()]
    counts = {
        "Saves of tutorials, planted errors and repeated documents, left out": left,
        "Saves that the same person replaced": len(saves) - len(latest),
    }
    return collect(annotations, [f"{what}: {n:,}." for what, n in counts.items() if n])


def _read_row(row: list[str], place: str) -> _Save:
    if len(row) != COLUMNS:
        raise InputError(f"{place}: has {len(row)} cells; a row of an ESA campaign has {COLUMNS}.")
    try:
        spans = json.loads(row[9])
    except (ValueError, RecursionError):
        spans = None
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise InputError(f"{place}: the spans are “{row[9][:40]}”; they must be a JSON list of objects.")
    return _Save(
        login=row[0],
        system=row[1].partition(".")[2] or row[1],
        item=int(read_number(row[2], place, "the item", 0, 10**9)),
        bad=row[3] == "BAD" or BAD.search(row[7]) is not None,
        score=read_number(row[6], place, "the score", 0, 100),
        document=row[7],
        spans=tuple(spans),
        started=read_number(row[10], place, "the start", 0, 10**11),
        ours=row[1].startswith(f"{OURS}."),
    )


def _read_items(path: Path) -> Items:
    items = {}
    for place, cells in _read_table(path, ("itemID", "documentID", "line", "targetText")):
        item = int(read_number(cells["itemID"], place, "itemID", 0, 10**9))
        line = int(read_number(cells["line"], place, "line", 0, MOST_LINES))
        items[item, cells["documentID"]] = line, cells["targetText"]
    return items


def _read_people(path: Path) -> dict[str, str]:
    """Return the annotator of each login."""
    return {cells["login"]: cells["AnnotatorID"] for _, cells in _read_table(path, ("AnnotatorID", "login"))}


def _read_table(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the place and the cells of each row of a table with a header."""
    table = open_table(path)
    check_columns(path.name, table.columns, needed)
    for row in table.rows():
        yield f"{path.name}, line {row.line:,}", row.cells


def _place_lines(saves: Iterable[_Save], items: Items, documents: list[str]) -> dict[Place, int]:
    """Return the line of each (login, item, document).

    A document that was split between two logins can have two items with the same number, but the list of
    items names only one of them. Then the document's lines are assigned in the order of logins and items.
    """
    by_document: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for save in saves:
        if not save.ours:
            by_document[save.document].add((save.login, save.item))
    lines_of: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(documents):
        lines_of[name].append(number)
    placed: dict[Place, int] = {}
    for document, keys in by_document.items():
        ordered = sorted(keys)
        named = [items[item, document][0] for _, item in ordered if (item, document) in items]
        lines: list[int] = []
        for candidates in (named, lines_of.get(document.rpartition("#")[0], [])):
            if not lines and len(set(candidates)) == len(ordered):
                lines = candidates
        for place, (login, item) in enumerate(ordered):
            line = items.get((item, document), (-1, ""))[0]
            placed[login, item, document] = lines[place] if lines else line
    _number_rest(placed)
    return placed | {save.place: save.item - 1 for save in saves if save.ours}


def _number_rest(placed: dict[Place, int]) -> None:
    """Number the items without a line, so that the same place in a document has the same number for every system."""
    free = max(placed.values(), default=-1) + 1
    numbers: dict[tuple[str, int], int] = {}
    ranks: dict[tuple[str, str], int] = defaultdict(int)
    for login, item, document in sorted(key for key, line in placed.items() if line < 0):
        base = document.rpartition("#")[0]
        rank = ranks[login, document]
        ranks[login, document] += 1
        placed[login, item, document] = numbers.setdefault((base, rank), free + len(numbers))


def _build(save: _Save, line: int, items: Items, people: Mapping[str, str], arm: str) -> Annotation:
    item_line, text = items.get((save.item, save.document), (line, ""))
    output = text if item_line == line else ""  # the list has a different line of a split document
    return Annotation(
        system=save.system, segment=line, annotator=people.get(save.login, save.login),
        spans=tuple(_read_span(span, output) for span in save.spans),
        document=save.document.rpartition("#")[0] or save.document, output=output, score=save.score, arm=arm,
        saved_at=write_time(datetime.fromtimestamp(save.started, UTC)),
        name=f"{save.login} {save.item} {save.document}",
    )  # fmt: skip


def _read_span(span: Mapping[str, Any], output: str) -> Span:
    """Return a span with our offsets."""
    kind, severity = span.get("error_type"), str(span.get("severity", ""))[:100]
    category = "/".join(map(str, kind))[:200] if isinstance(kind, list) else str(kind or "")[:200]
    start, end = span.get("start_i"), span.get("end_i")
    if not (type(start) is int and type(end) is int and 0 <= start <= end):
        return Span(None, None, severity, category)
    end += "error_type" in span
    if output:
        if start >= len(output):
            return Span(None, None, severity, category)
        end = min(end, len(output))
    return Span(start, end, severity, category) if end > start else Span(None, None, severity, category)


def write_esa(collection: Collection, typology: Typology) -> str:
    """Return the annotations as rows of a campaign, with annotators as logins.

    Raises:
        InputError: no annotation has a score, which every row needs.
    """
    if all(annotation.score is None for annotation in collection.annotations):
        raise InputError(
            "No annotation has a score from 0 to 100, which every row of esa-csv needs: choose another format."
        )
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    for annotation in sorted(
        collection.annotations, key=lambda each: (each.annotator, each.saved_at, each.system, each.segment)
    ):
        if annotation.score is None:
            continue
        system, line = annotation.system, annotation.segment + 1
        document = f"{annotation.document or 'segment'}#{system}"
        started = read_time(annotation.saved_at).timestamp() if annotation.saved_at else 0.0
        spans = json.dumps([_write_span(span) for span in annotation.spans], separators=(",", ":"))
        table.writerow(
            [annotation.annotator, f"{OURS}.{system}", line, "TGT", "", "", f"{annotation.score:g}",
             document, "False", spans, started, started]
        )  # fmt: skip
    return out.getvalue()


def _write_span(span: Span) -> dict[str, Any]:
    written: dict[str, Any] = {"start_i": MISSING, "end_i": MISSING, "severity": span.severity}
    if span.placed and span.side is Side.OUTPUT:
        start, end = span.edges
        written |= {"start_i": start, "end_i": end - 1}
    written["error_type"] = span.category.split("/") if span.category else None
    return written


FORMAT = SpanFormat("esa-csv", "ESA campaign from Appraise (CSV)", read_esa, write_esa)
