"""The statistics of a collection of spans: scores, agreement, and changes to the draft."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.extensions.spans.agreement import compare_with_reference, measure_alpha
from coeval.extensions.spans.annotations import Collection, score_segments
from coeval.extensions.spans.rows import match_spans
from coeval.extensions.spans.typology import Scoring, Span, Typology
from coeval.stats.clusters import DOCUMENTS, cut, mean_interval, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate, Spelled, plain
from coeval.stats.rating_matrix import Numbers

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
