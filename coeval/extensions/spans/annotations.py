"""The spans of one person or model in one segment, the scores of segments and systems, and what readers of files share.

All importers and the store produce ``Annotation`` values, so the statistics do not depend on the source.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from coeval.datasets.tables.text_tables import Dialect, read_cells
from coeval.datasets.text import check_text, open_text, reading
from coeval.errors import InputError
from coeval.extensions.spans.typology import Scoring, Side, Span, Typology

MODEL = "model"
"""The annotator's name if a file contains a model's spans without its name."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """The spans of one segment of one system by one annotator. ``segment`` is the number of a line, from 0."""

    system: str
    segment: int
    annotator: str
    spans: tuple[Span, ...] = ()
    document: str = ""
    source: str = ""
    output: str = ""
    score: float | None = None
    """The annotator's score from 0 to 100, given after the spans; None if the weights give the score."""
    arm: str = ""
    """``assisted`` with a draft, ``blind`` without one, empty if unknown."""
    draft: tuple[Span, ...] | None = None
    """The spans of the displayed draft; None if there was no draft, or if the file does not contain it."""
    seconds: float | None = None
    saved_at: str = ""
    name: str = ""
    """The item's id in the file, or the instance's id in the study."""
    unscored: str = ""
    """The reason that a model's answer is unreadable; such a segment has no score."""

    @property
    def key(self) -> tuple[str, int]:
        return self.system, self.segment

    def text(self, side: Side) -> str:
        return self.output if side is Side.OUTPUT else self.source


def score_annotation(annotation: Annotation, typology: Typology) -> float | None:
    """Return the score of one annotation: minus the sum of its spans' weights, or the person's own score."""
    if annotation.unscored:
        return None
    return annotation.score if typology.scoring is Scoring.ESA else typology.score(annotation.spans)


def score_segments(annotations: Iterable[Annotation], typology: Typology) -> dict[tuple[str, int], float]:
    """Return the mean score of each (system, segment) over its annotators, without segments that have no score."""
    by_segment: dict[tuple[str, int], list[float]] = defaultdict(list)
    for annotation in annotations:
        score = score_annotation(annotation, typology)
        if score is not None:
            by_segment[annotation.key].append(score)
    return {key: fmean(scores) for key, scores in by_segment.items()}


def pair_up(annotations: Iterable[Annotation]) -> dict[tuple[str, int], list[Annotation]]:
    """Return the annotations of each segment, one per annotator."""
    segments: dict[tuple[str, int], dict[str, Annotation]] = defaultdict(dict)
    for annotation in annotations:
        segments[annotation.key].setdefault(annotation.annotator, annotation)
    return {key: list(by_annotator.values()) for key, by_annotator in segments.items()}


@dataclass(frozen=True, slots=True)
class Collection:
    """Annotations with the documents of their segments; ``notes`` lists skipped parts of the file."""

    annotations: tuple[Annotation, ...]
    documents: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        return sorted({annotation.system for annotation in self.annotations})

    def document_of(self, key: tuple[str, int]) -> str:
        """Return the document of a segment; a segment without one is its own document."""
        return self.documents.get(key[1], "") or f"segment {key[1]}"

    def select(self, arm: str) -> Collection:
        """Select the annotations of one arm.

        Raises:
            InputError: nothing is left.
        """
        left = tuple(annotation for annotation in self.annotations if annotation.arm == arm)
        if not left:
            raise InputError(f"No annotation remains for {arm}: choose another arm.")
        return replace(self, annotations=left)


def collect(annotations: Iterable[Annotation], notes: Iterable[str] = ()) -> Collection:
    """Return a collection with the documents that the annotations name."""
    kept = tuple(annotations)
    documents = {annotation.segment: annotation.document for annotation in kept if annotation.document}
    return Collection(kept, documents, tuple(notes))


MOST_LINES = 1_000_000
"""The largest line number."""


@dataclass(frozen=True, slots=True)
class Further:
    """Additional files for reading a file: the texts of items, and the document of each line."""

    items: Path | None = None
    documents: Path | None = None
    people: Path | None = None
    arm: str = ""
    """The arm of all annotations, if the file does not name it."""


@dataclass(frozen=True, slots=True)
class SpanFormat:
    """One file format, in and out."""

    name: str
    title: str
    read: Callable[[Path, Typology, Further], Collection]
    write: Callable[[Collection, Typology], str]


COMMAS = Dialect(",")


def read_rows(path: Path, dialect: Dialect = COMMAS) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table of separated values with their line numbers.

    Raises:
        InputError: the file is not a table, or a cell cannot be stored.
    """
    with reading(path.name):
        for line, cells in read_cells(path, dialect):
            for cell in cells:
                check_text(cell, f"{path.name}, line {line:,}")
            yield line, cells


def read_number(text: str, place: str, what: str, low: float, high: float) -> float:
    """Parse the number in a cell.

    Raises:
        InputError: it is not a number, or outside the limits.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        limits = f"from {low:g} to {high:g}"
        raise InputError(f"{place}: {what} is “{text[:40]}”; it must be a number {limits}.")
    return number


def check_columns(name: str, columns: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """Check that a table has all required columns.

    Raises:
        InputError: one is missing; the message lists the existing ones.
    """
    for column in needed:
        if column not in columns:
            there = ", ".join(columns)[:200]
            raise InputError(f"{name}, line 1: there is no column “{column}”; the columns are: {there}.")


def read_documents(path: Path) -> list[str]:
    """Return the document of each line of a test set, from a file of mt-metrics-eval (``domain<TAB>document``)."""
    with reading(path.name), open_text(path) as file:
        return [line.rstrip("\r\n").split("\t")[-1] for line in file]
