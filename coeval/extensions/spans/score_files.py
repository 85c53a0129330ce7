"""Score files: ``system<TAB>score`` for each segment in the order of the file, or for each system.

Source: github.com/google-research/mt-metrics-eval. A segment without a score is ``None``. Files of averages, which
accompany ratings (github.com/google/wmt-mqm-human-evaluation), can be read as well: their first line names the
columns, and each line has the number of a segment.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, Collection, collect, score_segments, score_systems
from coeval.extensions.spans.reading import (
    MOST_LINES,
    Further,
    SpanFormat,
    read_documents,
    read_number,
    read_text,
)
from coeval.extensions.spans.typology import Typology

Scores = dict[tuple[str, int], float]


AVERAGES = {"sys": "system", "mqm_avg_score": "score"}
"""Other names for the columns of files of averages in some years."""


def load_scores(path: Path) -> tuple[Scores, dict[str, int]]:
    """Load the scores by system and segment, and the number of lines per system.

    Raises:
        InputError: a line is not a system and a score.
    """
    listed = read_text(path).removesuffix("\n").split("\n")
    named = [AVERAGES.get(name, name) for name in listed[0].split()]
    if {"system", "score", "seg_id"} <= set(named):
        return _load_averages(path, named, listed[1:])
    scores: Scores = {}
    lines: dict[str, int] = defaultdict(int)
    for number, line in enumerate(listed, 1):
        cells = line.rstrip("\r").split("\t") if "\t" in line else line.split()
        if len(cells) != 2 or not cells[0]:
            raise InputError(
                f"{path.name}, line {number:,}: “{line[:60]}” is not a system, a tab and a score."
            )
        segment = lines[cells[0]]
        lines[cells[0]] += 1
        if cells[1] != "None":
            scores[cells[0], segment] = read_number(cells[1], f"{path.name}, line {number:,}", "the score")
    return scores, dict(lines)


def _load_averages(path: Path, named: list[str], listed: list[str]) -> tuple[Scores, dict[str, int]]:
    """Load a file of averages, which numbers its segments.

    Columns are counted from the end, because texts in some years contain tabs. In other years, columns are separated
    with both tabs and spaces.
    """
    place = {name: at - len(named) if at else 0 for at, name in enumerate(named)}
    numbered: dict[tuple[str, int], str] = {}
    for number, line in enumerate(listed, 2):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t") if len(named) > 3 else line.split()
        if len(cells) < len(named):
            raise InputError(f"{path.name}, line {number:,}: {len(cells)} cells and {len(named)} columns.")
        here = f"{path.name}, line {number:,}"
        segment = int(read_number(cells[place["seg_id"]], here, "seg_id", 0, MOST_LINES))
        numbered[cells[place["system"]], segment] = cells[place["score"]]
    first = min(1, min((segment for _, segment in numbered), default=0))
    scores = {
        (system, segment - first): read_number(score, f"{path.name}, segment {segment:,}", "the score")
        for (system, segment), score in numbered.items()
        if score != "None"
    }
    lines: dict[str, int] = {}
    for system, segment in numbered:
        lines[system] = max(lines.get(system, 0), segment - first + 1)
    return scores, lines


def write_scores(scores: Mapping[tuple[str, int], float], lines: Mapping[str, int]) -> str:
    """Render a file of segment scores, with one line per segment and system."""
    return "".join(
        f"{system}\t{_text(scores.get((system, segment)))}\n"
        for system, count in lines.items()
        for segment in range(count)
    )


def _text(score: float | None) -> str:
    return "None" if score is None or math.isnan(score) else repr(float(score))


def read_segments(path: Path, typology: Typology, further: Further) -> Collection:
    """Read the scores as annotations without spans."""
    scores, _ = load_scores(path)
    names = dict(enumerate(read_documents(further.documents) if further.documents else []))
    return collect(
        Annotation(system, segment, path.name, document=names.get(segment, ""), score=score, arm=further.arm)
        for (system, segment), score in scores.items()
    )


def write_segments(collection: Collection, typology: Typology) -> str:
    """Render a collection's segment scores, averaged over annotators."""
    clean = [one for one in collection.annotations if not (one.planted and one.planted.bad)]
    count = max((one.segment for one in clean), default=-1) + 1
    return write_scores(score_segments(clean, typology), dict.fromkeys(collection.systems, count))


def write_systems(collection: Collection, typology: Typology) -> str:
    """Render a collection's system scores."""
    clean = [one for one in collection.annotations if not (one.planted and one.planted.bad)]
    scores = score_systems(score_segments(clean, typology))
    return "".join(f"{system}\t{_text(score)}\n" for system, score in scores.items())


EQUAL = 1e-6
"""Scores of the same spans differ by less, because files of averages print six digits. Scores of different spans
differ by more, because weights are tenths and a segment has few raters.
"""


def compare_scores(
    collection: Collection, typology: Typology, published: Scores, lines: Mapping[str, int]
) -> dict[str, Any]:
    """Compare the scores of a collection with a published file: segments first, then systems.

    A file with one line per system has system scores.
    """
    clean = [one for one in collection.annotations if not (one.planted and one.planted.bad)]
    own = score_segments(clean, typology)
    if max(lines.values(), default=0) == 1:
        own = {(system, 0): score for system, score in score_systems(own).items()}
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


SEGMENTS = SpanFormat("seg-score", "Segment scores for mt-metrics-eval", read_segments, write_segments)
SYSTEMS = SpanFormat("sys-score", "System scores for mt-metrics-eval", None, write_systems)
