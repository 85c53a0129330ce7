"""The section on soft labels: how people's scores of an item are spread, and how far judges are from that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.stats.agreement.patterns import MANY
from coeval.stats.estimates.clusters import Clusters, cut, sums_interval
from coeval.stats.estimates.results import Estimate, Spelled
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.divergence import entropies, js_distances, shares_of
from coeval.stats.rating_matrix import Codes, Numbers
from coeval.stats.report.judges.judges_compared import list_judges
from coeval.stats.report.judges.labels_chosen import NO_LABELS, choose_labels
from coeval.stats.report.report_table import Table

ONE = "no item was scored by two people or more"
TOO_MANY = f"more than {MANY} different scores; soft labels are for the points of a scale"


@dataclass(frozen=True)
class Spread:
    """How people's scores of an item are spread, over ``n`` items with two scores or more: by a criterion.

    ``entropy`` is the mean over items, in bits; ``unanimous`` the share of items on which all agree; ``distribution``
    the share of each score.
    """

    criterion: str
    n: int
    entropy: Spelled
    unanimous: Spelled
    distribution: dict[str, float]


@dataclass(frozen=True)
class JudgeDistance:
    """The mean Jensen-Shannon distance of a judge's score of an item to people's scores of it, by a criterion.

    ``people`` is that of a person left out to the others', on the same items: what a person would have. ``marginal``
    is the distance of the distributions over all items: 0 where a judge gives each score as often as people do.
    """

    run: str
    label: str
    criterion: str
    n: int
    distance: Spelled
    people: Spelled
    marginal: Estimate


@dataclass(frozen=True)
class SoftLabelsSection:
    """Soft labels of people, and the judges beside them; ``leaned`` if the scores were given with a draft in view."""

    labels: str
    leaned: bool
    spread: list[Spread]
    judges: list[JudgeDistance]


@dataclass(frozen=True, eq=False)
class _Items:
    """Items of one criterion with two people's scores or more: units and counts of every point of the scale."""

    units: Codes
    counts: Numbers
    points: Numbers

    @property
    def shares(self) -> Numbers:
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))


def soft_labels_section(study: StudyFrames) -> SoftLabelsSection:
    """Distributions of people's scores by item, and the distance of every judge; other documents, these people."""
    reference = choose_labels(study)
    items = [_items_of(study, reference.scored, place) for place in range(len(study.criteria))]
    spread = [_spread(study, criterion, part) for criterion, part in zip(study.criteria, items, strict=True)]
    judges = [
        _distance(study, judge.run, judge.label, criterion, judge.scores, part)
        for judge in list_judges(study)
        for criterion, part in zip(study.criteria, items, strict=True)
    ]
    return SoftLabelsSection(reference.kind, reference.leaned, spread, judges)


def _items_of(study: StudyFrames, scored: pd.DataFrame, place: int) -> _Items:
    own = scored[scored["unit"] % max(len(study.criteria), 1) == place]
    points = study.points([study.criteria[place]])
    on_points = points is not None and own["score"].isin(points).all()
    values = np.asarray(points if on_points else np.unique(own["score"]), dtype=float)
    units, unit = np.unique(own["unit"], return_inverse=True)
    width = max(len(values), 1)
    if width > MANY:
        return _Items(np.zeros(0, dtype=np.int64), np.zeros((0, width)), values)
    code = np.searchsorted(values, own["score"].to_numpy(dtype=float)) if len(own) else np.zeros(0, int)
    counts = np.bincount(unit * width + code, minlength=len(units) * width).reshape(-1, width).astype(float)
    kept = counts.sum(axis=1) > 1
    return _Items(units[kept], counts[kept], values)


def _mean(values: Numbers, clusters: Clusters, high: float) -> Spelled:
    """The mean over items with its interval over clusters."""
    sums = clusters.sums(np.column_stack([values, np.ones(len(values))]))
    spread = sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], clusters.kind)
    return Spelled(Estimate(float(values.mean()), n=len(values), **cut(spread, 0.0, high)))


def _spread(study: StudyFrames, criterion: str, items: _Items) -> Spread:
    if not len(items.units):
        few = ONE if len(study.scored) else NO_LABELS
        nothing = Spelled(Estimate.undefined(TOO_MANY if len(items.points) > MANY else few))
        return Spread(criterion, 0, nothing, nothing, {})
    clusters, shares = study.clusters.of(items.units), items.shares
    total = items.counts.sum(axis=0) / items.counts.sum()
    return Spread(
        criterion,
        len(items.units),
        _mean(entropies(shares), clusters, float(np.log2(max(len(items.points), 2)))),
        _mean((shares.max(axis=1) == 1).astype(float), clusters, 1.0),
        {f"{point:g}": float(share) for point, share in zip(items.points, total, strict=True)},
    )


def _distance(
    study: StudyFrames, run: str, label: str, criterion: str, scores: pd.Series[float], items: _Items
) -> JudgeDistance:
    met = np.isin(items.units, scores.index.to_numpy())
    units, counts = items.units[met], items.counts[met]
    if not len(units):
        nothing = Estimate.undefined(f"{ONE} and by the judge")
        return JudgeDistance(run, label, criterion, 0, Spelled(nothing), Spelled(nothing), nothing)
    clusters = study.clusters.of(units)
    judged = shares_of(np.asarray(scores[pd.Index(units)], dtype=np.float64), items.points)
    shares = counts / counts.sum(axis=1, keepdims=True)
    total = counts.sum(axis=0) / counts.sum()
    return JudgeDistance(
        run,
        label,
        criterion,
        len(units),
        _mean(js_distances(judged, shares), clusters, 1.0),
        _mean(_left_out(counts), clusters, 1.0),
        Estimate(float(js_distances(judged.mean(axis=0)[None, :], total[None, :])[0])),
    )


def _left_out(counts: Numbers) -> Numbers:
    """The mean distance of each person's score of an item to the other people's scores of it."""
    size, width = counts.sum(axis=1), counts.shape[1]
    distance = np.zeros(len(counts))
    for point in range(width):
        given = counts[:, point] > 0
        rest = counts[given] - np.eye(width)[point]
        alone = np.repeat(np.eye(width)[[point]], int(given.sum()), axis=0)
        far = js_distances(alone, rest / rest.sum(axis=1, keepdims=True))
        distance[given] += counts[given, point] * far
    return np.asarray(distance / size)


def soft_labels_tables(section: SoftLabelsSection) -> list[Table]:
    """People's spread by criterion, and the judges' distances."""
    seen = ", given with the draft in view" if section.leaned else ""
    spread = [
        {
            "criterion": row.criterion,
            "items": row.n,
            "entropy": float(row.entropy.value),
            "ci_low": row.entropy.get("ci_low"),
            "ci_high": row.entropy.get("ci_high"),
            "unanimous": float(row.unanimous.value),
        }
        for row in section.spread
        if row.n
    ]
    judges = [
        {
            "judge": row.label,
            "criterion": row.criterion,
            "items": row.n,
            "distance": float(row.distance.value),
            "ci_low": row.distance.get("ci_low"),
            "ci_high": row.distance.get("ci_high"),
            "a_person_left_out": float(row.people.value),
            "over_all_items": float(row.marginal),
        }
        for row in section.judges
        if row.n
    ]
    return [
        Table(
            "soft_labels",
            "How people's scores of an item are spread",
            f"Items with two people's scores or more, from {section.labels} scores{seen}. Entropy in bits, the mean "
            "over items: 0 where all agree, 1 where two scores are given equally often. Other documents, these people.",
            pd.DataFrame(spread),
        ),
        Table(
            "judge_distances",
            "How far judges are from people's scores",
            f"Jensen-Shannon distance (0 to 1) of a judge's score of an item to people's{seen}, the mean over items; "
            "that of a person left out to the others stands beside it. Over all items: of how often each score is "
            "given. Other documents, these people.",
            pd.DataFrame(judges),
        ),
    ]
