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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coeval.clock import read_time, write_time
from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, Collection, collect
from coeval.extensions.spans.reading import (
    MOST_LINES,
    Further,
    SpanFormat,
    check_columns,
    read_csv,
    read_documents,
    read_number,
)
from coeval.extensions.spans.typology import Side, Span, Typology

COLUMNS = 12

MISSING = "missing"
OWN = "coeval"
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
    own: bool


def read_esa(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the latest save of each item, without tutorials, planted errors and repeated documents.

    Raises:
        InputError: a row cannot be read; the message names the line.
    """
    saves, left = [], 0
    for line, row in read_csv(path):
        one = _read_row(row, f"{path.name}, line {line:,}")
        if one.bad or "tutorial" in one.document or "#duplicate" in one.document:
            left += 1
        else:
            saves.append(one)
    items = _read_items(further.items) if further.items else {}
    documents = read_documents(further.documents) if further.documents else []
    people = _read_people(further.people) if further.people else {}
    lines = _place_lines(saves, items, documents)
    latest: dict[Place, _Save] = {}
    for one in saves:
        known = latest.get((one.login, one.item, one.document))
        if known is None or one.started >= known.started:
            latest[one.login, one.item, one.document] = one
    annotations = [_build(one, lines[place], items, people, further.arm) for place, one in latest.items()]
    told = {
        "Saves of tutorials, planted errors and repeated documents, left out": left,
        "Saves that the same person replaced": len(saves) - len(latest),
    }
    return collect(annotations, [f"{what}: {n:,}." for what, n in told.items() if n])


def _read_row(row: list[str], place: str) -> _Save:
    if len(row) != COLUMNS:
        raise InputError(f"{place}: has {len(row)} cells; a row of an ESA campaign has {COLUMNS}.")
    try:
        spans = json.loads(row[9])
    except (ValueError, RecursionError):
        spans = None
    if not isinstance(spans, list) or not all(isinstance(one, dict) for one in spans):
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
        own=row[1].startswith(f"{OWN}."),
    )


def _read_items(path: Path) -> dict[tuple[int, str], tuple[int, str]]:
    """Return the line and the text of each item of each document."""
    rows = read_csv(path)
    found = {name: place for place, name in enumerate(next(rows, (0, [""]))[1])}
    check_columns(path, found, ("itemID", "documentID", "line", "targetText"))
    items = {}
    for line, row in rows:
        place = f"{path.name}, line {line:,}"
        if len(row) < len(found):
            raise InputError(f"{place}: has {len(row)} cells, but the header has {len(found)} columns.")
        item = int(read_number(row[found["itemID"]], place, "itemID", 0, 10**9))
        number = int(read_number(row[found["line"]], place, "line", 0, MOST_LINES))
        items[item, row[found["documentID"]]] = number, row[found["targetText"]]
    return items


def _read_people(path: Path) -> dict[str, str]:
    """Return the annotator of each login."""
    rows = read_csv(path)
    found = {name: place for place, name in enumerate(next(rows, (0, [""]))[1])}
    check_columns(path, found, ("AnnotatorID", "login"))
    return {row[found["login"]]: row[found["AnnotatorID"]] for _, row in rows if len(row) > found["login"]}


Place = tuple[str, int, str]


def _place_lines(
    saves: Iterable[_Save], items: Mapping[tuple[int, str], tuple[int, str]], documents: list[str]
) -> dict[Place, int]:
    """Return the line of each (login, item, document).

    A document that was split between two logins can have two items with the same number, but the list of
    items names only one of them. Then the document's lines are assigned in the order of logins and items.
    """
    by_document: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for one in saves:
        if not one.own:
            by_document[one.document].add((one.login, one.item))
    own: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(documents):
        own[name].append(number)
    placed: dict[Place, int] = {}
    for document, keys in by_document.items():
        ordered = sorted(keys)
        named = [items[item, document][0] for _, item in ordered if (item, document) in items]
        mine = own.get(document.rpartition("#")[0], [])
        if len(set(named)) == len(ordered):
            lines = named
        elif len(mine) == len(ordered):
            lines = mine
        else:
            lines = []
        for place, (login, item) in enumerate(ordered):
            known = items.get((item, document))
            placed[login, item, document] = lines[place] if lines else known[0] if known else -1
    _number_rest(placed)
    return placed | {(one.login, one.item, one.document): one.item - 1 for one in saves if one.own}


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


def _build(
    one: _Save,
    line: int,
    items: Mapping[tuple[int, str], tuple[int, str]],
    people: Mapping[str, str],
    arm: str,
) -> Annotation:
    known, text = items.get((one.item, one.document), (line, ""))
    output = text if known == line else ""  # the list has a different line of a split document
    return Annotation(
        system=one.system, segment=line, annotator=people.get(one.login, one.login),
        spans=tuple(_read_span(span, output) for span in one.spans),
        document=one.document.rpartition("#")[0] or one.document, output=output, score=one.score, arm=arm,
        saved_at=write_time(datetime.fromtimestamp(one.started, UTC)),
        name=f"{one.login} {one.item} {one.document}",
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
    if all(one.score is None for one in collection.annotations):
        raise InputError(
            "No annotation has a score from 0 to 100, which every row of esa-csv needs: choose another format."
        )
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    for one in sorted(
        collection.annotations, key=lambda one: (one.annotator, one.saved_at, one.system, one.segment)
    ):
        if one.score is None:
            continue
        document = f"{one.document or 'segment'}#{one.system}"
        started = read_time(one.saved_at).timestamp() if one.saved_at else 0.0
        spans = [_write_span(span) for span in one.spans]
        table.writerow(
            [one.annotator, f"{OWN}.{one.system}", one.segment + 1, "TGT", "", "", f"{one.score:g}",
             document, "False", json.dumps(spans, separators=(",", ":")), started, started]
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
