"""Score files of mt-metrics-eval: ``system<TAB>score`` per segment in file order, or per system.

Source: github.com/google-research/mt-metrics-eval. A segment without a score is ``None``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, Collection, collect, score_segments, score_systems
from coeval.extensions.spans.reading import Further, SpanFormat, read_number, read_text
from coeval.extensions.spans.typology import Typology

Scores = dict[tuple[str, int], float]


def load_scores(path: Path) -> tuple[Scores, dict[str, int]]:
    """Return the scores by system and segment, and the number of lines of each system.

    Raises:
        InputError: a line is not a system and a score.
    """
    scores: Scores = {}
    lines: dict[str, int] = defaultdict(int)
    for number, line in enumerate(read_text(path).splitlines(), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != 2 or not cells[0]:
            raise InputError(
                f"{path.name}, line {number:,}: “{line[:60]}” is not a system, a tab and a score."
            )
        segment = lines[cells[0]]
        lines[cells[0]] += 1
        if cells[1] != "None":
            scores[cells[0], segment] = read_number(cells[1], f"{path.name}, line {number:,}", "the score")
    return scores, dict(lines)


def write_scores(scores: Mapping[tuple[str, int], float], lines: Mapping[str, int]) -> str:
    """Write a file of segment scores, one line per segment and system."""
    return "".join(
        f"{system}\t{_text(scores.get((system, segment)))}\n"
        for system, count in lines.items()
        for segment in range(count)
    )


def _text(score: float | None) -> str:
    return "None" if score is None or math.isnan(score) else repr(float(score))


def read_segments(path: Path, typology: Typology, further: Further) -> Collection:
    """Return the scores as annotations without spans."""
    scores, _ = load_scores(path)
    documents = read_text(further.documents).splitlines() if further.documents else []
    names = {number: line.split("\t")[-1] for number, line in enumerate(documents)}
    return collect(
        Annotation(system, segment, path.name, document=names.get(segment, ""), score=score, arm=further.arm)
        for (system, segment), score in scores.items()
    )


def write_segments(collection: Collection, typology: Typology) -> str:
    """Return the segment scores of a collection, over all annotators."""
    clean = [one for one in collection.annotations if not (one.planted and one.planted.bad)]
    count = max((one.segment for one in clean), default=-1) + 1
    return write_scores(score_segments(clean, typology), dict.fromkeys(collection.systems, count))


def write_systems(collection: Collection, typology: Typology) -> str:
    """Return the system scores of a collection."""
    clean = [one for one in collection.annotations if not (one.planted and one.planted.bad)]
    scores = score_systems(score_segments(clean, typology))
    return "".join(f"{system}\t{_text(score)}\n" for system, score in scores.items())


EQUAL = 1e-9
"""Scores that are sums of the same weights in another order differ by less than this."""


def compare_scores(
    collection: Collection, typology: Typology, published: Scores, lines: Mapping[str, int]
) -> dict[str, Any]:
    """Return how the scores of a collection compare with those of a published file, segments first, then systems."""
    clean = [one for one in collection.annotations if not (one.planted and one.planted.bad)]
    own = score_segments(clean, typology)
    both = own.keys() & published.keys()
    different = sorted(key for key in both if abs(own[key] - published[key]) > EQUAL)
    ours, theirs = score_systems(own), score_systems(published)
    gaps = {name: abs(ours[name] - theirs[name]) for name in ours.keys() & theirs.keys()}
    shown = [
        f"{system}, line {line + 1}: {own[system, line]:g} and {published[system, line]:g}"
        for system, line in different
    ]
    return {
        "systems": len(lines),
        "lines": max(lines.values(), default=0),
        "published": len(published),
        "equal": len(both) - len(different),
        "different": len(different),
        "only_published": len(published.keys() - own.keys()),
        "only_here": len(own.keys() - published.keys()),
        "systems_equal": sum(gap <= EQUAL for gap in gaps.values()),
        "largest_of_systems": max(gaps.values(), default=math.nan),
        "examples": shown[:10],
    }


SEGMENTS = SpanFormat("seg-score", "Segment scores of mt-metrics-eval", read_segments, write_segments)
SYSTEMS = SpanFormat("sys-score", "System scores of mt-metrics-eval", None, write_systems)
