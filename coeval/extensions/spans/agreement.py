"""Agreement on spans: token-level alpha, and precision and recall against a reference.

Alpha (Krippendorff 2011) uses each token as a unit, and the annotator's mark on it as the value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from coeval.extensions.spans.annotations import Annotation, Collection, pair_up
from coeval.extensions.spans.typology import Side, Span, Typology
from coeval.stats.clusters import DOCUMENTS, cut, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers

TOKEN = re.compile(
    r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+|[^\w\s]|_+"
)
"""A word, a punctuation mark, or one character of a script without spaces."""

NOT_TWICE = "no segment has marks from at least two people"
NO_TEXT = "the texts are unknown, so there are no tokens"
CONSTANT = "every token has the same mark, so agreement is undefined"


def find_tokens(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each token of a text.

    >>> find_tokens("Ein Satz.")
    [(0, 3), (4, 8), (8, 9)]
    """
    return [match.span() for match in TOKEN.finditer(text)]


def label_tokens(annotation: Annotation, typology: Typology, side: Side = Side.OUTPUT) -> list[int]:
    """Return the severity of each token: 0 without a mark, otherwise from 1 in the order of the typology's weights."""
    order = sorted({one.weight for one in typology.severities})
    ranks = {one.name.casefold(): 1 + order.index(one.weight) for one in typology.severities}
    tokens = find_tokens(annotation.text(side))
    labels = [0] * len(tokens)
    for span in annotation.spans:
        if span.side is not side or not span.placed:
            continue
        start, end = span.edges
        rank = ranks.get(span.severity.casefold(), 1)
        for place, (first, last) in enumerate(tokens):
            if first < end and start < last:
                labels[place] = max(labels[place], rank)
    return labels


def _alphas(rows: Numbers, distance: Numbers) -> Numbers:
    """Return alpha for each replicate from its coincidences (replicates x categories squared)."""
    size = len(distance)
    tables = rows.reshape(-1, size, size)
    totals = tables.sum(axis=2)
    n = totals.sum(axis=1)
    observed = (tables * distance).sum(axis=(1, 2)) * (n - 1)
    expected = np.einsum("ri,ij,rj->r", totals, distance, totals)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _coincidences(labels: Sequence[Sequence[int]], size: int) -> Numbers:
    """Return the coincidence matrix of one text from the annotators' labels of its tokens."""
    table = np.zeros((size, size))
    for a, b in combinations(labels, 2):
        np.add.at(table, (np.asarray(a, dtype=int), np.asarray(b, dtype=int)), 1.0)
    return (table + table.T) / (len(labels) - 1)


def measure_alpha(collection: Collection, typology: Typology, *, severities: bool = False) -> Estimate:
    """Return token-level nominal alpha, for marked or not or for severities, with its interval over documents."""
    shared = {key: group for key, group in pair_up(collection.annotations).items() if len(group) > 1}
    if not shared:
        return Estimate.undefined(NOT_TWICE)
    size = len(typology.severities) + 2 if severities else 2
    sums: dict[str, Numbers] = defaultdict(lambda: np.zeros((size, size)))
    tokens = 0
    for key, group in shared.items():
        texts = {one.output for one in group if one.output}
        if len(texts) != 1:
            continue
        labels = [label_tokens(one, typology) for one in group if one.output]
        if len(labels) < 2:
            continue
        tokens += len(labels[0])
        plain = labels if severities else [[min(label, 1) for label in one] for one in labels]
        sums[collection.document_of(key)] += _coincidences(plain, size)
    if not tokens:
        return Estimate.undefined(NO_TEXT)
    rows = np.array([table.ravel() for table in sums.values()])
    distance = 1 - np.eye(size)
    value = float(_alphas(rows.sum(axis=0)[None, :], distance)[0])
    details = {"n_units": tokens, "n_segments": len(shared), "level": "nominal", "unit": "token"}
    if np.isnan(value):
        return Estimate.undefined(CONSTANT, **details)
    spread = cut(
        sums_interval(rows, lambda given: _alphas(given, distance), DOCUMENTS, value=value), -1.0, 1.0
    )
    return Estimate(value, **details, **spread)


# Precision and recall against a reference.

HALF = 0.5
"""The credit for a character that both mark with different severities, as in WMT's 2023 task."""


def compare_with_reference(found: Collection, reference: Collection) -> dict[str, Estimate]:
    """Return precision, recall and F1 by characters and by spans, with intervals over documents.

    By characters, a different severity gets half the credit. By spans, a span counts as found if it shares a character
    with a reference span. Segments without a counterpart are left out. The reference uses the first annotator of each
    segment.
    """
    gold = {key: group[0] for key, group in pair_up(reference.annotations).items()}
    sums: dict[str, Numbers] = defaultdict(lambda: np.zeros(7))
    for key, group in pair_up(found.annotations).items():
        for one in group if key in gold else ():
            sums[reference.document_of(key)] += _overlaps(one.spans, gold[key].spans)
    rows = np.array(list(sums.values())).reshape(-1, 7)
    if not len(rows):
        reason = "no segment is in both"
        return {name: Estimate.undefined(reason) for name in _RATIOS}
    estimates = {}
    for name, ratio in _RATIOS.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(ratio(rows.sum(axis=0)[None, :])[0])
            details: dict[str, Any] = {"n_spans": int(rows[:, 4].sum()), "n_reference": int(rows[:, 6].sum())}
            if np.isnan(value):
                estimates[name] = Estimate.undefined("there is no span", **details)
                continue
            spread = cut(sums_interval(rows, ratio, DOCUMENTS, value=value), 0.0, 1.0)
        estimates[name] = Estimate(value, **details, **spread)
    return estimates


def _overlaps(mine: Sequence[Span], gold: Sequence[Span]) -> Numbers:
    """Return seven numbers: credit, marked characters, reference characters, correct spans, spans, found
    reference spans, and reference spans.
    """
    ours, theirs = _by_character(mine), _by_character(gold)
    credit = sum(1.0 if severity == theirs[at] else HALF for at, severity in ours.items() if at in theirs)
    own, reference = [one for one in mine if one.placed], [one for one in gold if one.placed]
    right = sum(any(one.overlap(other) for other in reference) for one in own)
    hit = sum(any(one.overlap(other) for other in own) for one in reference)
    return np.array([credit, len(ours), len(theirs), right, len(own), hit, len(reference)], dtype=float)


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
