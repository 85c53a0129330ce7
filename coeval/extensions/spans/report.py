"""The statistics of a collection of spans: scores, agreement, changes to the draft, and planted errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.extensions.spans.agreement import compare_with_reference, measure_alpha
from coeval.extensions.spans.annotations import Collection, score_segments
from coeval.extensions.spans.typology import Scoring, Span, Typology
from coeval.stats.clusters import DOCUMENTS, PEOPLE, cut, mean_interval, parse_clusters, sums_interval
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

    @property
    def drafted(self) -> int:
        return self.kept + self.moved + self.relabelled + self.deleted


def compare_spans(draft: Sequence[Span], saved: Sequence[Span]) -> Changes:
    """Return the changes to a draft, with each drafted span matched to at most one saved span.

    The same place has priority, then the largest overlap in the same text.

    >>> draft = [Span(0, 4, "minor"), Span(10, 14, "major"), Span(20, 24, "minor")]
    >>> compare_spans(draft, [Span(0, 4, "minor"), Span(10, 18, "major"), Span(30, 33, "minor")])
    Changes(kept=1, moved=1, relabelled=0, deleted=1, added=1)
    """
    left, rest = list(saved), list(draft)
    counts: Counter[str] = Counter()
    tests: list[tuple[str, Callable[[Span, Span], bool]]] = [
        ("kept", lambda one, other: one.same_place(other) and one.same_kind(other)),
        ("relabelled", lambda one, other: one.same_place(other)),
    ]
    for name, fits in tests:
        for one in list(rest):
            found = next((other for other in left if fits(one, other)), None)
            if found is not None:
                counts[name] += 1
                left.remove(found)
                rest.remove(one)
    for one in list(rest):
        best = max(left, key=one.overlap, default=None)
        if best is not None and one.overlap(best):
            counts["moved"] += 1
            left.remove(best)
            rest.remove(one)
    return Changes(**counts, deleted=len(rest), added=len(left))


def count_changes(collection: Collection) -> Estimates:
    """Return the shares of spans that people kept, moved, relabelled, deleted and added.

    The first four are shares of the drafted spans, the last one of the saved spans. Planted spans are left out.
    """
    sums: dict[str, Numbers] = defaultdict(lambda: np.zeros(len(CHANGES)))
    for one in collection.annotations:
        if one.draft is None:
            continue
        false = list(one.false)
        changes = compare_spans([span for span in one.draft if span not in false], _without(one.spans, false))
        sums[collection.document_of(one.key)] += [getattr(changes, name) for name in CHANGES]
    rows = np.array(list(sums.values())).reshape(-1, len(CHANGES))
    estimates = {}
    for place, name in enumerate(CHANGES):
        parts = slice(0, 4) if name != "added" else [0, 1, 2, 4]
        estimates[name] = _share(rows, place, parts, DOCUMENTS, NOBODY)
    return estimates


Estimates = dict[str, Estimate]


def _without(spans: Iterable[Span], false: Sequence[Span]) -> list[Span]:
    return [span for span in spans if not any(span.same_place(one) for one in false)]


def _share(rows: Numbers, top: int, parts: Any, kind: str, reason: str) -> Estimate:
    """Return one column's share of several columns, with an interval that treats rows as clusters."""
    if not len(rows) or not rows[:, parts].sum():
        return Estimate.undefined(reason)

    def ratio(given: Numbers) -> Numbers:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(given[:, top] / given[:, parts].sum(axis=1))

    value = float(ratio(rows.sum(axis=0)[None, :])[0])
    spread = cut(sums_interval(rows, ratio, kind, value=value), 0.0, 1.0)
    return Estimate(value, n=int(rows[:, parts].sum()), **spread)


def measure_planted(collection: Collection) -> Estimates:
    """Return how often people deleted planted spans, and other spans of the same drafts, over people."""
    false: dict[str, Numbers] = defaultdict(lambda: np.zeros(2))
    true: dict[str, Numbers] = defaultdict(lambda: np.zeros(2))
    for one in collection.annotations:
        planted = [span for span in one.false if span in (one.draft or ())]
        if planted:
            gone = sum(not any(span.overlap(saved) for saved in one.spans) for span in planted)
            false[one.annotator] += (gone, len(planted) - gone)
            changes = compare_spans(_without(one.draft or (), planted), one.spans)
            true[one.annotator] += (changes.deleted, changes.drafted - changes.deleted)
    return {
        "false spans deleted": _of_people(false),
        "other spans of these drafts deleted": _of_people(true),
    }


def _of_people(sums: dict[str, Numbers]) -> Estimate:
    rows = np.array(list(sums.values())).reshape(-1, 2)
    return _share(rows, 0, slice(0, 2), PEOPLE, "no span was planted in a draft")


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


def describe(
    collection: Collection, typology: Typology, reference: Collection | None = None
) -> dict[str, Any]:
    """Return all statistics of a collection, in sections of named estimates."""
    marked = collection.annotations
    spans = [span for one in marked for span in one.spans]
    seconds = [one.seconds for one in marked if one.seconds is not None]
    unscored = Counter(one.unscored for one in marked if one.unscored)
    return {
        "typology": typology.title,
        "score": "0 to 100, given after the spans"
        if typology.scoring is Scoring.ESA
        else "minus the weights",
        "annotations": len(marked),
        "segments": len({one.key for one in marked}),
        "documents": len({collection.document_of(one.key) for one in marked}),
        "annotators": len({one.annotator for one in marked}),
        "arms": dict(Counter(one.arm or "not stated" for one in marked)),
        "unscored": dict(unscored),
        "spans": len(spans),
        "severities": dict(Counter(span.severity for span in spans).most_common()),
        "categories": dict(Counter(span.category for span in spans if span.category).most_common()),
        "spans_per_segment": len(spans) / len(marked) if marked else None,
        "seconds_per_span": sum(seconds) / len(spans) if seconds and spans else None,
        "systems": {
            name: Spelled(one, ("n",)) for name, one in measure_systems(collection, typology).items()
        },
        "agreement": {
            "token alpha, marked or not": Spelled(
                measure_alpha(collection, typology), ("n_units", "n_segments")
            ),
            "token alpha, severity": Spelled(
                measure_alpha(collection, typology, severities=True), ("n_units", "n_segments")
            ),
        },
        "draft": {name: Spelled(one, ("n",)) for name, one in count_changes(collection).items()},
        "planted": {name: Spelled(one, ("n",)) for name, one in measure_planted(collection).items()},
        "reference": {
            name: Spelled(one, ("n_spans", "n_reference"))
            for name, one in (compare_with_reference(collection, reference) if reference else {}).items()
        },
        "notes": list(collection.notes),
    }


def describe_study(people: Collection, drafts: Collection, typology: Typology) -> dict[str, Any]:
    """Return the statistics of a study; precision and recall compare the draft with people's blind marks.

    If nobody worked without a draft, there is no independent reference, and the section is empty.
    """
    blind = [one for one in people.annotations if one.arm == "blind"]
    reference = Collection(tuple(blind), people.documents) if blind and drafts.annotations else None
    found = describe(people, typology)
    if reference:
        compared = compare_with_reference(drafts, reference)
        found["reference"] = {
            name: Spelled(one, ("n_spans", "n_reference")) for name, one in compared.items()
        }
    unread = Counter(one.unscored for one in drafts.annotations if one.unscored)
    return found | {"unscored": dict(unread), "drafts": len(drafts.annotations)}


SECTIONS = (
    ("systems", "Systems (mean of segment scores)"),
    ("agreement", "Agreement of annotators"),
    ("draft", "Changes to the drafted spans"),
    ("planted", "Planted errors"),
    ("reference", "Comparison with the reference"),
)


def write_lines(found: dict[str, Any]) -> list[str]:
    """Return the statistics as lines of text, with the reason for each undefined value."""
    lines = [
        f"{found['typology']}: {found['annotations']:,} annotations of {found['segments']:,} segments in "
        f"{found['documents']:,} documents by {found['annotators']:,} annotators; {found['spans']:,} spans."
    ]
    for name, title in SECTIONS:
        if found[name]:
            lines += ["", f"{title}:"]
            lines += [f"  {label:<40} {_write_value(one)}" for label, one in found[name].items()]
    if found["unscored"]:
        lines += ["", "Unscored:"] + [f"  {n:,}: {reason}" for reason, n in found["unscored"].items()]
    return lines + [""] * bool(found["notes"]) + found["notes"]


def _write_value(one: Spelled) -> str:
    if not one.value.defined:
        return f"undefined: {one.value.reason}"
    low, high = one.value.ci
    interval = f" [{low:.3f}, {high:.3f}]" if low == low else " (no interval)"
    n = next(
        (f", n = {one.get(name):,}" for name in ("n", "n_units", "n_spans") if one.get(name) is not None), ""
    )
    over = f" over {one.get('clusters'):,} {one.get('resampled')}" if one.get("clusters") else ""
    return f"{one.value:.3f}{interval}{over}{n}"


def to_json(found: dict[str, Any]) -> Any:
    """Return the statistics in JSON types."""
    return plain(found)
