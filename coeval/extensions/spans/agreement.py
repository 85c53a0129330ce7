"""Agreement on spans: token-level alpha, and precision and recall against a reference.

Alpha (Krippendorff 2011) uses each token as a unit, and the annotator's mark on it as the value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coeval.extensions.spans.annotations import Annotation, Collection, pair_up
from coeval.extensions.spans.typology import Side, Span, Typology
from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.clusters import DOCUMENTS, cut, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, encode_ratings

TOKEN = re.compile(
    r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+|[^\w\s]|_+"
)
"""A word, a punctuation mark, or one character of a script without spaces."""

NOT_TWICE = "no segment has marks from at least two people"
NO_TEXT = "the texts are unknown, so there are no tokens"


def find_tokens(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each token of a text.

    >>> find_tokens("Ein Satz.")
    [(0, 3), (4, 8), (8, 9)]
    """
    return [match.span() for match in TOKEN.finditer(text)]


def label_tokens(annotation: Annotation, typology: Typology) -> list[int]:
    """Return each output token's severity: 0 without a mark, else from 1 in the order of the typology's weights."""
    order = sorted({severity.weight for severity in typology.severities})
    ranks = {severity.name.casefold(): 1 + order.index(severity.weight) for severity in typology.severities}
    tokens = find_tokens(annotation.output)
    labels = [0] * len(tokens)
    for span in annotation.spans:
        if span.side is not Side.OUTPUT or not span.placed:
            continue
        start, end = span.edges
        rank = ranks.get(span.severity.casefold(), 1)
        for place, (first, last) in enumerate(tokens):
            if first < end and start < last:
                labels[place] = max(labels[place], rank)
    return labels


def measure_alpha(collection: Collection, typology: Typology, *, severities: bool = False) -> Estimate:
    """Return token-level nominal alpha, for marked or not or for severities, with its interval over documents."""
    shared = {key: group for key, group in pair_up(collection.annotations).items() if len(group) > 1}
    if not shared:
        return Estimate.undefined(NOT_TWICE)
    people: dict[str, int] = {}
    annotators: list[int] = []
    units: list[int] = []
    marks: list[int] = []
    documents: list[str] = []
    for key, group in shared.items():
        group = [annotation for annotation in group if annotation.output]
        if len(group) < 2 or len({annotation.output for annotation in group}) > 1:
            continue
        for annotation in group:
            labels = label_tokens(annotation, typology)
            marks += labels if severities else [min(label, 1) for label in labels]
            units += range(len(documents), len(documents) + len(labels))
            annotators += [people.setdefault(annotation.annotator, len(people))] * len(labels)
        documents += [collection.document_of(key)] * len(labels)
    if not documents:
        return Estimate.undefined(NO_TEXT)
    tokens = range(len(documents))
    ratings = encode_ratings(annotators, units, np.array(marks, dtype=float), tuple(people), tokens)
    clusters = parse_clusters(documents, len(documents), DOCUMENTS)
    return krippendorff_alpha(ratings, "nominal", clusters=clusters).having(n_segments=len(shared))


# Precision and recall against a reference.

HALF = 0.5
"""The credit for a character that both mark with different severities, as in WMT's 2023 task."""


def compare_with_reference(collection: Collection, reference: Collection) -> dict[str, Estimate]:
    """Return precision, recall and F1 by characters and by spans, with intervals over documents.

    By characters, a different severity gets half the credit. By spans, a span counts as found if it shares a character
    with a reference span. Segments without a counterpart are left out. The reference uses the first annotator of each
    segment.
    """
    gold = {key: group[0] for key, group in pair_up(reference.annotations).items()}
    sums: dict[str, Numbers] = defaultdict(lambda: np.zeros(7))
    for key, group in pair_up(collection.annotations).items():
        for annotation in group if key in gold else ():
            sums[reference.document_of(key)] += _overlaps(annotation.spans, gold[key].spans)
    rows = np.array(list(sums.values())).reshape(-1, 7)
    if not len(rows):
        return dict.fromkeys(_RATIOS, Estimate.undefined("no segment is in both"))
    details: dict[str, Any] = {"n_spans": int(rows[:, 4].sum()), "n_reference": int(rows[:, 6].sum())}
    estimates = {}
    for name, ratio in _RATIOS.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(ratio(rows.sum(axis=0)[None, :])[0])
            if np.isnan(value):
                estimates[name] = Estimate.undefined("there is no span", **details)
                continue
            spread = cut(sums_interval(rows, ratio, DOCUMENTS, value=value), 0.0, 1.0)
        estimates[name] = Estimate(value, **details, **spread)
    return estimates


def _overlaps(spans: Sequence[Span], gold: Sequence[Span]) -> Numbers:
    """Return seven numbers: credit, marked characters, reference characters, correct spans, spans, found
    reference spans, and reference spans.
    """
    marked, wanted = _by_character(spans), _by_character(gold)
    credit = sum(1.0 if severity == wanted[at] else HALF for at, severity in marked.items() if at in wanted)
    placed, reference = [span for span in spans if span.placed], [span for span in gold if span.placed]
    correct = sum(any(span.overlap(other) for other in reference) for span in placed)
    hit = sum(any(span.overlap(other) for other in placed) for span in reference)
    sizes = [len(marked), len(wanted), correct, len(placed), hit, len(reference)]
    return np.array([credit, *sizes], dtype=float)


def _by_character(spans: Sequence[Span]) -> Mapping[tuple[Side, int], str]:
    marked: dict[tuple[Side, int], str] = {}
    for span in spans:
        if span.placed:
            marked |= {(span.side, at): span.severity.casefold() for at in range(*span.edges)}
    return marked


def _ratio(top: int, bottom: int) -> Any:
    return lambda rows: rows[:, top] / rows[:, bottom]


def _f1(rows: Numbers, top: int, mine: int, hit: int, gold: int) -> Numbers:
    precision, recall = rows[:, top] / rows[:, mine], rows[:, hit] / rows[:, gold]
    return 2 * precision * recall / (precision + recall)


_RATIOS: dict[str, Any] = {
    "character precision": _ratio(0, 1),
    "character recall": _ratio(0, 2),
    "character F1": lambda rows: _f1(rows, 0, 1, 0, 2),
    "span precision": _ratio(3, 4),
    "span recall": _ratio(5, 6),
    "span F1": lambda rows: _f1(rows, 3, 4, 5, 6),
}
