"""The statistics of a collection of spans: scores, agreement, and changes to the draft."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.extensions.spans.annotations import Annotation, Collection, pair_up, score_segments
from coeval.extensions.spans.rows import match_spans
from coeval.extensions.spans.typology import Scoring, Side, Span, Typology
from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.clusters import DOCUMENTS, cut, mean_interval, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate, Spelled, plain
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


CHANGES = ("kept", "moved", "relabelled", "deleted", "added")
NOBODY = "nobody worked with a known draft"


@dataclass(frozen=True, slots=True)
class Changes:
    """A person's changes to the spans of a draft; a ``moved`` span can also have a new severity."""

    kept: int = 0
    moved: int = 0
    relabelled: int = 0
    deleted: int = 0
    added: int = 0


def compare_spans(draft: Sequence[Span], saved: Sequence[Span]) -> Changes:
    """Return the changes to a draft, with each drafted span matched to at most one saved span.

    The same place has priority, then the largest overlap in the same text.

    >>> draft = [Span(0, 4, "minor"), Span(10, 14, "major"), Span(20, 24, "minor")]
    >>> compare_spans(draft, [Span(0, 4, "minor"), Span(10, 18, "major"), Span(30, 33, "minor")])
    Changes(kept=1, moved=1, relabelled=0, deleted=1, added=1)
    """
    counts: Counter[str] = Counter()
    for row in match_spans(draft, saved):
        if row.was is None:
            counts["added"] += 1
        elif not row.stays:
            counts["deleted"] += 1
        elif not row.span.same_place(row.was):
            counts["moved"] += 1
        else:
            counts["kept" if row.span.same_kind(row.was) else "relabelled"] += 1
    return Changes(**counts)


def count_changes(collection: Collection) -> Estimates:
    """Return the shares of spans that people kept, moved, relabelled, deleted and added.

    The first four are shares of the drafted spans, the last one of the saved spans.
    """
    sums: dict[str, Numbers] = defaultdict(lambda: np.zeros(len(CHANGES)))
    for annotation in collection.annotations:
        if annotation.draft is not None:
            changes = compare_spans(annotation.draft, annotation.spans)
            sums[collection.document_of(annotation.key)] += [getattr(changes, name) for name in CHANGES]
    rows = np.array(list(sums.values())).reshape(-1, len(CHANGES))
    estimates = {}
    for place, name in enumerate(CHANGES):
        parts = slice(0, 4) if name != "added" else [0, 1, 2, 4]
        estimates[name] = _share(rows, place, parts)
    return estimates


Estimates = dict[str, Estimate]


def _share(rows: Numbers, top: int, parts: Any) -> Estimate:
    """Return one column's share of several columns, with an interval that treats rows as documents."""
    if not len(rows) or not rows[:, parts].sum():
        return Estimate.undefined(NOBODY)

    def ratio(sums: Numbers) -> Numbers:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums[:, top] / sums[:, parts].sum(axis=1))

    value = float(ratio(rows.sum(axis=0)[None, :])[0])
    spread = cut(sums_interval(rows, ratio, DOCUMENTS, value=value), 0.0, 1.0)
    return Estimate(value, n=int(rows[:, parts].sum()), **spread)


def measure_systems(collection: Collection, typology: Typology) -> dict[str, Estimate]:
    """Return each system's mean segment score with its interval over documents, best system first."""
    segments = score_segments(collection.annotations, typology)
    estimates: dict[str, Estimate] = {}
    for system in collection.systems:
        mine = {key: score for key, score in segments.items() if key[0] == system}
        if not mine:
            estimates[system] = Estimate.undefined("no segment has a score")
            continue
        values = np.array(list(mine.values()))
        clusters = parse_clusters([collection.document_of(key) for key in mine], len(mine), DOCUMENTS)
        spread = mean_interval(values, clusters, (0.0, 100.0) if typology.scoring is Scoring.ESA else None)
        estimates[system] = Estimate(float(values.mean()), n=len(mine), **spread)
    return dict(
        sorted(estimates.items(), key=lambda pair: (-np.nan_to_num(float(pair[1]), nan=-1e9), pair[0]))
    )


def _spell(estimates: Mapping[str, Estimate], *names: str) -> dict[str, Spelled]:
    return {label: Spelled(estimate, names) for label, estimate in estimates.items()}


def describe(
    collection: Collection, typology: Typology, reference: Collection | None = None
) -> dict[str, Any]:
    """Return all statistics of a collection, in sections of named estimates."""
    marked = collection.annotations
    spans = [span for annotation in marked for span in annotation.spans]
    seconds = [annotation.seconds for annotation in marked if annotation.seconds is not None]
    alphas = {
        "token alpha, marked or not": measure_alpha(collection, typology),
        "token alpha, severity": measure_alpha(collection, typology, severities=True),
    }
    compared = compare_with_reference(collection, reference) if reference else {}
    is_esa = typology.scoring is Scoring.ESA
    return {
        "typology": typology.title,
        "score": "0 to 100, given after the spans" if is_esa else "minus the weights",
        "annotations": len(marked),
        "segments": len({annotation.key for annotation in marked}),
        "documents": len({collection.document_of(annotation.key) for annotation in marked}),
        "annotators": len({annotation.annotator for annotation in marked}),
        "arms": dict(Counter(annotation.arm or "not stated" for annotation in marked)),
        "unscored": dict(Counter(annotation.unscored for annotation in marked if annotation.unscored)),
        "spans": len(spans),
        "severities": dict(Counter(span.severity for span in spans).most_common()),
        "categories": dict(Counter(span.category for span in spans if span.category).most_common()),
        "spans_per_segment": len(spans) / len(marked) if marked else None,
        "seconds_per_span": sum(seconds) / len(spans) if seconds and spans else None,
        "systems": _spell(measure_systems(collection, typology), "n"),
        "agreement": _spell(alphas, "n_units", "n_segments"),
        "draft": _spell(count_changes(collection), "n"),
        "reference": _spell(compared, "n_spans", "n_reference"),
        "notes": list(collection.notes),
    }


def describe_study(people: Collection, drafts: Collection, typology: Typology) -> dict[str, Any]:
    """Return the statistics of a study; precision and recall compare the draft with people's blind marks.

    If nobody worked without a draft, there is no independent reference, and the section is empty.
    """
    blind = tuple(annotation for annotation in people.annotations if annotation.arm == "blind")
    report = describe(people, typology)
    if blind and drafts.annotations:
        compared = compare_with_reference(drafts, Collection(blind, people.documents))
        report["reference"] = _spell(compared, "n_spans", "n_reference")
    unread = Counter(draft.unscored for draft in drafts.annotations if draft.unscored)
    return report | {"unscored": dict(unread), "drafts": len(drafts.annotations)}


SECTIONS = (
    ("systems", "Systems (mean of segment scores)"),
    ("agreement", "Agreement of annotators"),
    ("draft", "Changes to the drafted spans"),
    ("reference", "Comparison with the reference"),
)


def write_lines(report: dict[str, Any]) -> list[str]:
    """Return the statistics as lines of text, with the reason for each undefined value."""
    lines = [
        f"{report['typology']}: {report['annotations']:,} annotations of {report['segments']:,} segments in "
        f"{report['documents']:,} documents by {report['annotators']:,} annotators; {report['spans']:,} spans."
    ]
    for name, title in SECTIONS:
        if report[name]:
            lines += ["", f"{title}:"]
            lines += [f"  {label:<40} {_write_value(figure)}" for label, figure in report[name].items()]
    if report["unscored"]:
        lines += ["", "Unscored:"] + [f"  {n:,}: {reason}" for reason, n in report["unscored"].items()]
    return lines + [""] * bool(report["notes"]) + report["notes"]


def _write_value(figure: Spelled) -> str:
    if not figure.value.defined:
        return f"undefined: {figure.value.reason}"
    low, high = figure.value.ci
    interval = f" [{low:.3f}, {high:.3f}]" if low == low else " (no interval)"
    count = next(filter(None, map(figure.get, ("n", "n_units", "n_spans"))), None)
    over = f" over {figure.get('clusters'):,} {figure.get('resampled')}" if figure.get("clusters") else ""
    return f"{figure.value:.3f}{interval}{over}" + (f", n = {count:,}" if count else "")


def to_json(report: dict[str, Any]) -> Any:
    """Return the statistics in JSON types."""
    return plain(report)
