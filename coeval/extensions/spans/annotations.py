"""The spans of one person or model in one segment, and the resulting scores of segments and systems.

All importers and the store produce ``Annotation`` values, so the statistics do not depend on the source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean

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
