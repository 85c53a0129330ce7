"""MQM ratings of WMT as TSV: one row per error, which ``<v>`` and ``</v>`` mark in the source or target.

Source: github.com/google/wmt-mqm-human-evaluation. Columns differ between years: ``doc_id`` or ``docSegId`` count the
segments of a document, ``seg_id`` or ``globalSegId`` the segments of the file. A row without an error has the severity
``no-error``. The score of a segment is the sum of the weights, averaged over its raters. Some years include sentences
with an injected error to test raters (severity ``HOTW-test``); these rows are not ratings. Texts are unquoted: a
quotation mark never begins a cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from coeval.datasets.tables.text_tables import Dialect
from coeval.errors import InputError
from coeval.extensions.spans.annotations import (
    MOST_LINES,
    Annotation,
    Collection,
    Further,
    SpanFormat,
    check_columns,
    collect,
    read_rows,
)
from coeval.extensions.spans.typology import Side, Span, Typology

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NEEDED = tuple(name for name in COLUMNS if name not in ("doc", "doc_id"))
OTHER_NAMES = {
    "docSegId": "doc_id", "globalSegId": "seg_id", "doc_name": "doc", "segmentId": "seg_id", "system_id": "system",
    "document_id": "doc", "doc_segment_id": "seg_id", "rater_id": "rater", "candidate": "target",
}  # fmt: skip
NONE = ("no-error", "no error")
TEST = "hotw-test"
MARK = re.compile(r"</?v>")

Key = tuple[str, str]
"""A segment's document and number in the file."""


def read_mqm(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the ratings of a file.

    Raises:
        InputError: a column is missing, or a row cannot be read; the message names the line.
    """
    rows = read_rows(path, Dialect("\t", quoted=False))
    columns = {OTHER_NAMES.get(name, name): place for place, name in enumerate(next(rows, (0, [""]))[1])}
    check_columns(path.name, tuple(columns), NEEDED)
    marked: dict[tuple[str, str, str, str], _Segment] = {}
    within: dict[Key, None] = {}
    left: Counter[str] = Counter()
    for line, row in rows:
        if len(row) <= max(columns[name] for name in NEEDED):
            raise InputError(f"{path.name}, line {line:,}: {len(row)} cells and {len(columns)} columns.")
        cell = {name: row[place].strip("\r") for name, place in columns.items() if place < len(row)}
        if not cell["rater"] or not cell["system"]:  # the first line can contain the data set's canary text
            left["Rows without a rater, left out"] += 1
            continue
        if cell["severity"].strip().casefold() == TEST:
            left["Rows with tests of raters, left out"] += 1
            continue
        key = cell["system"], cell.get("doc", ""), cell["seg_id"], cell["rater"]
        within.setdefault(key[1:3])
        marked.setdefault(key, _Segment(cell)).add(cell, f"{path.name}, line {line:,}")
    order = _number(within)
    annotations = [segment.build(order[key[1:3]], further.arm) for key, segment in marked.items()]
    lost = sum(segment.lost for segment in marked.values())
    left["Errors without a place, because their marks do not match the text"] = lost
    return collect(annotations, [f"{what}: {n:,}." for what, n in left.items() if n])


def _number(keys: Iterable[Key]) -> dict[Key, int]:
    """Return the line of each segment: from the file's numbers, or else from the order in the file.

    Some files count the segments of each document from 1, so a number alone can mean several segments.
    """
    keys = list(keys)
    names = [name for _, name in keys]
    numbered = all(name.isdecimal() and name.isascii() and len(name) < len(str(MOST_LINES)) for name in names)
    if numbered and len(set(names)) == len(names):
        first = min(map(int, names), default=0)
        return {key: int(key[1]) - min(first, 1) for key in keys}
    return {key: place for place, key in enumerate(keys)}


class _Segment:
    """The rows of one rater for one segment."""

    def __init__(self, cell: dict[str, str]) -> None:
        self.cell = cell
        self.source, self.output = MARK.sub("", cell["source"]), MARK.sub("", cell["target"])
        self.spans: list[Span] = []
        self.lost = 0

    def add(self, cell: dict[str, str], place: str) -> None:
        severity, category = cell["severity"].strip(), cell["category"].strip()
        if not severity:
            raise InputError(f"{place}: there is no severity; a row without an error has no-error.")
        if severity.casefold() in NONE or category.casefold() in NONE:
            return
        sides = ((Side.OUTPUT, cell["target"], self.output), (Side.INPUT, cell["source"], self.source))
        for side, text, whole in sides:
            if not MARK.search(text):
                continue
            places = list(_find_marks(text))
            if places and MARK.sub("", text) == whole:
                start, end = places[0][0], places[-1][1]  # an error in two parts is one span
                self.spans.append(Span(start, end, severity, category, side))
                return
            self.lost += 1
            break
        self.spans.append(Span(None, None, severity, category))

    def build(self, number: int, arm: str) -> Annotation:
        cell = self.cell
        return Annotation(
            system=cell["system"], segment=number, annotator=cell["rater"], spans=tuple(self.spans),
            document=cell.get("doc", ""), source=self.source, output=self.output, arm=arm, name=cell["seg_id"],
        )  # fmt: skip


def _find_marks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places between pairs of marks, as offsets in the text without marks; unpaired marks give no place."""
    start, taken = None, 0
    for mark in MARK.finditer(text):
        at = mark.start() - taken
        taken += len(mark[0])
        if mark[0] == "<v>":
            start = at
        elif start is not None:
            if at > start:
                yield start, at
            start = None


def write_mqm(collection: Collection, typology: Typology) -> str:
    """Return the annotations as TSV. Texts lose tabs and line breaks, which the format cannot contain."""
    lines = ["\t".join(COLUMNS)]
    places: dict[str, dict[int, int]] = {}
    for annotation in sorted(
        collection.annotations, key=lambda each: (each.system, each.segment, each.annotator)
    ):
        within = places.setdefault(annotation.document, {})
        number, line = within.setdefault(annotation.segment, len(within) + 1), annotation.segment + 1
        head = [annotation.system, annotation.document, str(number), str(line), annotation.annotator]
        source, output = annotation.source, annotation.output
        if not annotation.spans:
            lines.append(_row(head, source, output, "No-error", "no-error"))
        for span in annotation.spans:
            texts = {Side.INPUT: source, Side.OUTPUT: output}
            if span.placed:
                texts[span.side] = _mark(texts[span.side], *span.edges)
            lines.append(_row(head, *texts.values(), span.category, span.severity))
    return "\n".join(lines) + "\n"


def _mark(text: str, start: int, end: int) -> str:
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"


def _row(head: list[str], *cells: str) -> str:
    return "\t".join(
        re.sub(r"[\t\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", cell) for cell in (*head, *cells)
    )


FORMAT = SpanFormat("mqm-tsv", "MQM ratings of WMT (TSV)", read_mqm, write_mqm)
