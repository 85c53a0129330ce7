"""The MQM ratings of WMT as TSV: one row per error, with ``<v>`` and ``</v>`` around it in source or target.

Source: github.com/google/wmt-mqm-human-evaluation. Columns differ between years: ``doc_id`` or ``docSegId`` count the
segments of a document, ``seg_id`` or ``globalSegId`` those of the file. A row without an error has the severity
``no-error``. The score of a segment is the mean over its raters of the sum of the weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, Collection, collect
from coeval.extensions.spans.reading import Further, SpanFormat, check_columns, read_csv
from coeval.extensions.spans.typology import Side, Span, Typology

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
OTHER_NAMES = {"docSegId": "doc_id", "globalSegId": "seg_id", "doc_name": "doc", "segmentId": "seg_id"}
NONE = ("no-error", "no error")
MARK = re.compile(r"</?v>")


def read_mqm(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the ratings of a file.

    Raises:
        InputError: a column is missing, or a row cannot be read; the message names the line.
    """
    rows = read_csv(path, delimiter="\t", quoted=False)
    found = {OTHER_NAMES.get(name, name): place for place, name in enumerate(next(rows, (0, [""]))[1])}
    check_columns(path, found, tuple(name for name in COLUMNS if name not in ("doc", "doc_id")))
    marked: dict[tuple[str, str, str, str], _Segment] = {}
    numbers: dict[tuple[str, str], int] = {}
    skipped = 0
    for line, row in rows:
        if len(row) < len(found):
            raise InputError(
                f"{path.name}, line {line:,}: has {len(row)} cells, but the header has {len(found)} columns."
            )
        cell = {name: row[place].strip("\r") for name, place in found.items()}
        if not cell["rater"] or not cell["system"]:
            skipped += 1  # a first line with the canary text of the data set
            continue
        key = cell["system"], cell.get("doc", ""), cell["seg_id"], cell["rater"]
        numbers.setdefault(key[1:3], len(numbers))
        segment = marked.setdefault(key, _Segment(cell))
        segment.add(cell, f"{path.name}, line {line:,}")
    order = _number(numbers)
    notes = [f"Rows without a rater, left out: {skipped:,}."] if skipped else []
    found_segments = [one.build(order[key[1:3]], further.arm) for key, one in marked.items()]
    notes += [f"Marks that were left out because the text is another one in that row: {lost:,}."
              for lost in [sum(one.lost for one in marked.values())] if lost]  # fmt: skip
    return collect(found_segments, notes)


def _number(numbers: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Return the line of each (document, segment): the file's numbers from 0, else the order of appearance.

    Some files count the segments of each document from 1, so that a number alone names several segments.
    """
    names = [name for _, name in numbers]
    if len(set(names)) == len(names) and all(name.isdecimal() and name.isascii() for name in names):
        first = min(map(int, names), default=0)
        return {key: int(key[1]) - min(first, 1) for key in numbers}
    return numbers


class _Segment:
    """The rows of one rater for one segment."""

    def __init__(self, cell: dict[str, str]) -> None:
        self.cell = cell
        self.source, self.output = MARK.sub("", cell["source"]), MARK.sub("", cell["target"])
        self.spans: list[Span] = []
        self.lost = 0

    def add(self, cell: dict[str, str], place: str) -> None:
        severity = cell["severity"].strip()
        if not severity:
            raise InputError(f"{place}: has no severity; use no-error for a row without an error.")
        if severity.casefold() in NONE or cell["category"].strip().casefold() in NONE:
            return
        sides = ((Side.OUTPUT, cell["target"], self.output), (Side.INPUT, cell["source"], self.source))
        for side, text, whole in sides:
            places = list(_find_marks(text, place))
            if places and MARK.sub("", text) != whole:
                self.lost += 1
                places = []
            if places:
                start, end = places[0][0], places[-1][1]  # one error in two parts is one span
                self.spans.append(Span(start, end, severity, cell["category"].strip(), side))
                return
        self.spans.append(Span(None, None, severity, cell["category"].strip()))

    def build(self, number: int, arm: str) -> Annotation:
        cell = self.cell
        return Annotation(
            system=cell["system"], segment=number, annotator=cell["rater"], spans=tuple(self.spans),
            document=cell.get("doc", ""), source=self.source, output=self.output, arm=arm, name=cell["seg_id"],
        )  # fmt: skip


def _find_marks(text: str, place: str) -> Iterator[tuple[int, int]]:
    """Yield the places between the marks, counted in the text without them."""
    start, taken = None, 0
    for mark in MARK.finditer(text):
        at = mark.start() - taken
        taken += len(mark[0])
        if mark[0] == "<v>" and start is None:
            start = at
        elif mark[0] == "</v>" and start is not None:
            if at > start:
                yield start, at
            start = None
        else:
            raise InputError(f"{place}: {mark[0]} is where the other mark must be; check the row.")
    if start is not None:
        raise InputError(f"{place}: <v> has no </v>; check the row.")


def write_mqm(collection: Collection, typology: Typology) -> str:
    """Return the annotations as TSV; texts lose tabs and line ends, which the format cannot contain."""
    lines = ["\t".join(COLUMNS)]
    places: dict[str, dict[int, int]] = {}
    for one in sorted(collection.annotations, key=lambda one: (one.system, one.segment, one.annotator)):
        if one.planted and one.planted.bad:
            continue
        within = places.setdefault(one.document, {})
        number = within.setdefault(one.segment, len(within) + 1)
        head = [one.system, one.document, str(number), str(one.segment + 1), one.annotator]
        if not one.spans:
            lines.append(_row(head, one.source, one.output, "No-error", "no-error"))
        for span in one.spans:
            source, output = one.source, one.output
            if span.placed and span.side is Side.INPUT:
                source = _mark(source, *span.edges)
            elif span.placed:
                output = _mark(output, *span.edges)
            lines.append(_row(head, source, output, span.category, span.severity))
    return "\n".join(lines) + "\n"


def _mark(text: str, start: int, end: int) -> str:
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"


def _row(head: list[str], *cells: str) -> str:
    return "\t".join(
        re.sub(r"[\t\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", cell) for cell in (*head, *cells)
    )


FORMAT = SpanFormat("mqm-tsv", "MQM ratings of WMT (TSV)", read_mqm, write_mqm)
