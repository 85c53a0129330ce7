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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from coeval.clock import read_time, write_time
from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, Collection, Planted, collect, keep_latest
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
LONGEST_SECONDS = 300.0
"""A longer time between two starts is a break, and is replaced with the annotator's median."""

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
    """``document#system``, with ``#bad1`` and so on for the pairs of a planted error."""
    spans: tuple[Mapping[str, Any], ...]
    started: float
    own: bool

    @property
    def base(self) -> str:
        return BAD.sub("", self.document)


def read_esa(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the latest save of each item in a campaign, without tutorials and repeated documents.

    Raises:
        InputError: a row cannot be read; the message names the line.
    """
    saves, left = [], 0
    for line, row in read_csv(path):
        one = _read_row(row, f"{path.name}, line {line:,}")
        if "tutorial" in one.document or "#duplicate" in one.document:
            left += 1
        else:
            saves.append(one)
    items = _read_items(further.items) if further.items else {}
    documents = read_documents(further.documents) if further.documents else []
    people = _read_people(further.people) if further.people else {}
    lines = _place_lines(saves, items, documents)
    seconds = _measure_times(saves, people)
    latest: dict[tuple[str, int, str], tuple[_Save, float]] = {}
    for one, took in zip(saves, seconds, strict=True):
        known = latest.get((one.login, one.item, one.document))
        if known is None or one.started >= known[0].started:
            latest[one.login, one.item, one.document] = one, took
    annotations = [
        _build(one, took, lines[one.login, one.item, one.base], items, people, further.arm)
        for one, took in latest.values()
    ]
    notes = [f"Saves of tutorials and repeated documents, left out: {left:,}."] if left else []
    if repeated := len(saves) - len(latest):
        notes.append(f"Saves that the same person replaced: {repeated:,}.")
    return collect(_join_twins(keep_latest(annotations)), notes)


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
        bad=row[3] == "BAD",
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
        if not (one.bad or one.own):
            by_document[one.base].add((one.login, one.item))
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
    placed |= {(one.login, one.item, one.base): one.item - 1 for one in saves if one.own}
    return _add_bad(saves, items, placed)


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


def _add_bad(
    saves: Iterable[_Save], items: Mapping[tuple[int, str], tuple[int, str]], placed: dict[Place, int]
) -> dict[Place, int]:
    for one in saves:
        key = one.login, one.item, one.base
        if key not in placed:
            known = items.get((one.item, one.document))
            placed[key] = known[0] if known else -1 - len(placed)
    return placed


def _measure_times(saves: list[_Save], people: Mapping[str, str]) -> list[float]:
    """Return the seconds of each save, from its start to the login's next start, without breaks."""
    order: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(saves):
        order[one.login].append(place)
    seconds = [float("nan")] * len(saves)
    good: dict[str, list[float]] = defaultdict(list)
    for login, places in order.items():
        places.sort(key=lambda place: saves[place].started)
        for here, after in zip(places, places[1:], strict=False):
            took = saves[after].started - saves[here].started
            seconds[here] = took
            if took <= LONGEST_SECONDS:
                good[people.get(login, login)].append(took)
    for place, one in enumerate(saves):
        if not seconds[place] <= LONGEST_SECONDS:
            mine = good.get(people.get(one.login, one.login))
            seconds[place] = median(mine) if mine else float("nan")
    return seconds


def _build(
    one: _Save,
    took: float,
    line: int,
    items: Mapping[tuple[int, str], tuple[int, str]],
    people: Mapping[str, str],
    arm: str,
) -> Annotation:
    known, text = items.get((one.item, one.document), (line, ""))
    output = text if known == line else ""  # the list has a different line of a split document
    spans = tuple(_read_span(span, output) for span in one.spans)
    drafted = frozenset(place for place, span in enumerate(one.spans) if "error_type" not in span)
    return Annotation(
        system=one.system, segment=line, annotator=people.get(one.login, one.login), spans=spans,
        document=one.base.rpartition("#")[0] or one.base, output=output, score=one.score, arm=arm, kept=drafted,
        seconds=took if took == took else None, saved_at=write_time(datetime.fromtimestamp(one.started, UTC)),
        name=f"{one.login} {one.item} {one.document}",
        planted=Planted(f"{one.login} {line} {one.base}", True) if one.bad else None,
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


def _join_twins(annotations: list[Annotation]) -> list[Annotation]:
    """Return the annotations, with each planted error linked to its clean twin and the changed part of the text."""
    twins: dict[str, Annotation] = {}
    for one in annotations:
        login, _, document = one.name.split(" ", 2)
        if one.planted is None and not BAD.search(document):
            twins[f"{login} {one.segment} {document}"] = one
    pairs = {one.planted.pair for one in annotations if one.planted and one.planted.pair in twins}
    clean_names = {twins[pair].name: pair for pair in pairs}
    joined = []
    for one in annotations:
        if one.planted and one.planted.pair in pairs:
            changed = find_changes(one.output, twins[one.planted.pair].output)
            joined.append(replace(one, planted=replace(one.planted, changed=changed)))
        elif one.name in clean_names:
            joined.append(replace(one, planted=Planted(clean_names[one.name], False)))
        else:
            joined.append(one)
    return joined


def find_changes(text: str, clean: str) -> tuple[tuple[int, int], ...]:
    """Return the part of ``text`` that differs from ``clean``, in whole words; empty if a text is unknown.

    >>> find_changes("the red cat sat", "the black cat sat")
    ((4, 7),)
    """
    if not text or not clean or text == clean:
        return ()
    start = next(
        (at for at, (a, b) in enumerate(zip(text, clean, strict=False)) if a != b), min(len(text), len(clean))
    )
    most = min(len(text), len(clean)) - start
    end = next((at for at in range(most) if text[-1 - at] != clean[-1 - at]), most)
    first, last = start, max(len(text) - end, start + 1)
    while first > 0 and text[first - 1].isalnum():
        first -= 1
    while last < len(text) and text[last].isalnum():
        last += 1
    return ((first, min(last, len(text))),)


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
        bad = bool(one.planted and one.planted.bad)
        started = read_time(one.saved_at).timestamp() if one.saved_at else 0.0
        spans = [_write_span(span, place in one.kept, typology) for place, span in enumerate(one.spans)]
        table.writerow(
            [one.annotator, f"{OWN}.{one.system}", one.segment + 1, "BAD" if bad else "TGT", "", "", f"{one.score:g}",
             document + ("#bad1" if bad else ""), "False", json.dumps(spans, separators=(",", ":")), started, started]
        )  # fmt: skip
    return out.getvalue()


def _write_span(span: Span, kept: bool, typology: Typology) -> dict[str, Any]:
    written: dict[str, Any] = {"start_i": MISSING, "end_i": MISSING, "severity": span.severity}
    if span.placed and span.side is Side.OUTPUT:
        start, end = span.edges
        written |= {"start_i": start, "end_i": end if kept else end - 1}
    if not kept:
        written["error_type"] = span.category.split("/") if span.category else None
    return written


FORMAT = SpanFormat("esa-csv", "ESA campaign from Appraise (CSV)", read_esa, write_esa)
