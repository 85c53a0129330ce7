"""The spans of one person or model in one segment, and the resulting scores of segments and systems.

All importers and the store produce ``Annotation`` values, so the statistics do not depend on the source.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from coeval.errors import InputError
from coeval.extensions.spans.typology import Scoring, Side, Span, Typology

MODEL = "model"
"""The annotator's name if a file contains a model's spans without its name."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted error in the displayed text: ``pair`` names the pair, and ``bad`` is False for the clean twin.

    ``changed`` has the offsets that differ from the twin, if both texts are known.
    """

    pair: str
    bad: bool
    changed: tuple[tuple[int, int], ...] = ()


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
    false: tuple[Span, ...] = ()
    """The planted spans of the draft, which mark words without an error."""
    kept: frozenset[int] = frozenset()
    """Positions in ``spans`` of spans kept from the draft, if the file names them."""
    seconds: float | None = None
    saved_at: str = ""
    name: str = ""
    """The item's id in the file, or the instance's id in the study."""
    planted: Planted | None = None
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
    given: dict[tuple[str, int], list[float]] = defaultdict(list)
    for one in annotations:
        score = score_annotation(one, typology)
        if score is not None:
            given[one.key].append(score)
    return {key: fmean(scores) for key, scores in given.items()}


def score_systems(segments: Mapping[tuple[str, int], float]) -> dict[str, float]:
    """Return the mean segment score of each system, best system first."""
    given: dict[str, list[float]] = defaultdict(list)
    for (system, _), score in segments.items():
        given[system].append(score)
    means = {system: math.fsum(scores) / len(scores) for system, scores in given.items()}
    return dict(sorted(means.items(), key=lambda pair: (-pair[1], pair[0])))


def keep_latest(annotations: Iterable[Annotation]) -> list[Annotation]:
    """Return the last save of each person and item, in the order of first appearance."""
    latest: dict[tuple[str, int, str, str], Annotation] = {}
    for one in annotations:
        key = (
            one.system,
            one.segment,
            one.annotator,
            one.planted.pair + str(one.planted.bad) if one.planted else "",
        )
        known = latest.get(key)
        if known is None or one.saved_at >= known.saved_at:
            latest[key] = one
    return list(latest.values())


def pair_up(annotations: Iterable[Annotation]) -> dict[tuple[str, int], list[Annotation]]:
    """Return the annotations of each segment, one per annotator, without segments with planted errors."""
    found: dict[tuple[str, int], dict[str, Annotation]] = defaultdict(dict)
    for one in annotations:
        if one.planted is None or not one.planted.bad:
            found[one.key].setdefault(one.annotator, one)
    return {key: list(by.values()) for key, by in found.items()}


@dataclass(frozen=True, slots=True)
class Collection:
    """Annotations with the documents of their segments; ``notes`` lists skipped parts of the file."""

    annotations: tuple[Annotation, ...]
    documents: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        return sorted({one.system for one in self.annotations})

    def document_of(self, key: tuple[str, int]) -> str:
        """Return the document of a segment; a segment without one is its own document."""
        return self.documents.get(key[1], "") or f"segment {key[1]}"

    def select(self, *, arm: str = "", annotators: Sequence[str] = ()) -> Collection:
        """Select the annotations of one arm, or of some annotators.

        Raises:
            InputError: nothing is left.
        """
        left = [
            one
            for one in self.annotations
            if (not arm or one.arm == arm) and (not annotators or one.annotator in annotators)
        ]
        if not left:
            raise InputError(
                f"No annotation remains for {arm or ', '.join(annotators)[:200]}: choose others."
            )
        return replace(self, annotations=tuple(left))


def collect(annotations: Iterable[Annotation], notes: Iterable[str] = ()) -> Collection:
    """Return a collection with the documents that the annotations name."""
    kept = tuple(annotations)
    return Collection(kept, {one.segment: one.document for one in kept if one.document}, tuple(notes))
