"""The sections that compare judges with people: alignment, equivalence of means, soft labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coeval.stats.agreement.patterns import MANY
from coeval.stats.clusters import Clusters, cut, sums_interval
from coeval.stats.estimates import Estimate, Spelled, adjust_holm
from coeval.stats.frames import BLIND, CROWD, EXPERT, FIRST, StudyFrames
from coeval.stats.judges.alternative_annotator import EPSILONS
from coeval.stats.judges.closeness import (
    LEVEL,
    Equivalence,
    entropies,
    equivalence_test,
    js_distances,
    shares_of,
)
from coeval.stats.rating_matrix import Codes, Numbers
from coeval.stats.report.model_vs_model import (
    Comparison,
    Competence,
    MeanPairwise,
    compare_runs,
    competence_section,
    human_means,
    list_judges,
    mean_pairwise,
)
from coeval.stats.report.model_vs_people import LEANED, NO_LABELS, JudgeRow, choose_labels, judge_row
from coeval.stats.report.tables import Table


@dataclass(frozen=True)
class AlignmentSection:
    """Every run of drafts compared with people."""

    labels: str
    leaned: bool
    n_labels: int
    n_blind: int
    n_first: int
    human_score: str
    annotator_kind: str
    epsilon: float
    runs: list[JudgeRow]
    comparisons: list[Comparison]
    mean_pairwise_correlations: MeanPairwise
    competence: Competence


def alignment_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> AlignmentSection:
    """Return the comparison of every run of drafts with people.

    The people's score of a unit (an instance and a criterion) is their mean. ``labels`` names the scores used:
    "blind", "first" (from before the draft was shown) or "blind and first" if there are any, because the draft
    influences people who see it. "undrafted" means that every score is older than the drafts. Otherwise,
    descriptive figures use assisted scores, ``leaned`` is True, and the alt-test is undefined. Deliberately wrong
    drafts are always left out.

    Intervals and tests treat clusters (whole documents) as independent. ``comparisons`` contains Williams',
    permutation and jackknife tests of every pair of runs by criterion.
    """
    reference = choose_labels(study)
    people = study.ratings(reference.scored)
    epsilon, kind = _epsilon(reference.scored)
    judges = list_judges(study)
    return AlignmentSection(
        labels=reference.kind,
        leaned=reference.leaned,
        n_labels=len(reference.scored),
        n_blind=reference.count(BLIND),
        n_first=0 if reference.leaned else reference.count(FIRST),
        human_score="mean of the people's scores of a unit",
        annotator_kind=kind,
        epsilon=epsilon,
        runs=[judge_row(study, reference, people, judge, epsilon) for judge in judges],
        comparisons=compare_runs(study, reference.scored, judges, replicates, seed),
        mean_pairwise_correlations=mean_pairwise(study),
        competence=competence_section(people),
    )


def _epsilon(scored: pd.DataFrame) -> tuple[float, str]:
    groups = set(scored["group"])
    kind = {frozenset({EXPERT}): "expert", frozenset({CROWD}): "crowd"}.get(frozenset(groups), "skilled")
    return EPSILONS[kind], kind


# The section on equivalence: is a judge's mean within a stated margin of people's?

SHARE = 0.125
"""The margin as a share of the scale's range: half a point on a scale from 1 to 5."""


@dataclass(frozen=True)
class EquivalenceRow:
    """The test of one judge on one criterion. ``equivalent`` uses the p-value adjusted over the judge's criteria."""

    run: str
    label: str
    criterion: str
    n: int
    margin: float
    bias: Spelled
    p_value: Estimate
    p_holm: Estimate
    smallest_margin: Estimate
    equivalent: bool | None


@dataclass(frozen=True)
class EquivalenceSection:
    """Two one-sided tests of every judge on every criterion. The margin is ``margin_share`` of the scale's range."""

    labels: str
    margin_share: float
    rows: list[EquivalenceRow]


def equivalence_section(study: StudyFrames) -> EquivalenceSection:
    """Test the equivalence of every judge with people on scores that no draft influenced.

    The results apply to other documents and these people.
    """
    reference = choose_labels(study)
    items = human_means(reference.scored)
    rows: list[EquivalenceRow] = []
    for judge in list_judges(study):
        own = []
        for place, criterion in enumerate(study.criteria):
            low, high = study.scales.get(criterion, (1, 5))
            margin = SHARE * (high - low)
            both = items.index.intersection(judge.scores.index)
            both = both[both % len(study.criteria) == place]
            tested = _nothing(margin, len(both), LEANED if reference.leaned else NO_LABELS)
            if len(both) and not reference.leaned and margin > 0:
                clusters = study.clusters.of(both)
                people = np.asarray(items[both], dtype=np.float64)
                judged = np.asarray(judge.scores[both], dtype=np.float64)
                tested = equivalence_test(judged, people, margin, clusters)
            own.append(_row(judge.run, judge.label, criterion, tested))
        rows += _adjusted(own)
    return EquivalenceSection(reference.kind, SHARE, rows)


def _nothing(margin: float, n: int, reason: str) -> Equivalence:
    nothing = Estimate.undefined(reason)
    return Equivalence(nothing, margin, nothing, nothing, n)


def _row(run: str, label: str, criterion: str, tested: Equivalence) -> EquivalenceRow:
    return EquivalenceRow(
        run,
        label,
        criterion,
        tested.n,
        tested.margin,
        Spelled(tested.bias),
        tested.p_value,
        tested.p_value,
        tested.smallest_margin,
        None,
    )


def _adjusted(rows: list[EquivalenceRow]) -> list[EquivalenceRow]:
    adjusted = adjust_holm([float(row.p_value) for row in rows])
    return [
        row if np.isnan(p) else replace(row, p_holm=Estimate(p), equivalent=p < LEVEL)
        for row, p in zip(rows, adjusted, strict=True)
    ]


def equivalence_tables(section: EquivalenceSection) -> list[Table]:
    """Return the table of one row per judge and criterion; none if nothing can be tested."""
    rows = [
        {
            "judge": row.label,
            "criterion": row.criterion,
            "items": row.n,
            "judge_less_people": float(row.bias.value),
            "ci90_low": row.bias.get("ci_low"),
            "ci90_high": row.bias.get("ci_high"),
            "margin": row.margin,
            "p_adjusted": float(row.p_holm),
            "equivalent": {True: "yes", False: "not shown", None: "–"}[row.equivalent],
            "smallest_margin": float(row.smallest_margin),
        }
        for row in section.rows
        if row.bias.value.defined
    ]
    note = (
        f"Is a judge's mean within the margin ({section.margin_share:g} of the scale's range) of people's? Two "
        f"one-sided tests over clusters, from {section.labels} scores, adjusted over a judge's criteria (Holm); "
        "for other documents and these people. “Not shown” does not mean that they differ. The last column "
        "is the smallest margin that would pass."
    )
    return [Table("equivalence", "Equivalence of judges and people", note, pd.DataFrame(rows))]


# The section on soft labels: the spread of people's scores per item, and the judges' distance from it.

ONE = "no item was scored by two people or more"
TOO_MANY = f"more than {MANY} different scores; soft labels are for the points of a scale"


@dataclass(frozen=True)
class Spread:
    """The spread of people's scores per item, by criterion, over ``n`` items with at least two scores.

    ``entropy`` is the mean over items, in bits. ``unanimous`` is the share of items on which all agree, and
    ``distribution`` the share of each score.
    """

    criterion: str
    n: int
    entropy: Spelled
    unanimous: Spelled
    distribution: dict[str, float]


@dataclass(frozen=True)
class JudgeDistance:
    """The mean Jensen-Shannon distance between a judge's and people's scores of an item, by criterion.

    ``people`` is the distance between a left-out person and the others on the same items, for comparison.
    ``marginal`` is the distance between the distributions over all items: 0 if a judge gives each score as often as
    people do.
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
    """Soft labels of people, compared with judges; ``leaned`` if the scores were given with a draft in view."""

    labels: str
    leaned: bool
    spread: list[Spread]
    judges: list[JudgeDistance]


@dataclass(frozen=True, eq=False)
class _Items:
    """Items of one criterion with scores from at least two people: their units, and counts of every score."""

    units: Codes
    counts: Numbers
    points: Numbers

    @property
    def shares(self) -> Numbers:
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))


def soft_labels_section(study: StudyFrames) -> SoftLabelsSection:
    """Return the distributions of people's scores by item, and every judge's distance from them.

    The intervals apply to other documents and these people.
    """
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
    """Return the mean over items with an interval over clusters."""
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
    """Return the mean distance between each person's and the other people's scores of an item."""
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
    """Return tables of people's spread by criterion and of the judges' distances."""
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
            "Spread of people's scores per item",
            f"Items scored by two or more people, from {section.labels} scores{seen}. Mean entropy over items, in "
            "bits: 0 if all agree, 1 if two scores are equally frequent. Intervals apply to other documents and these "
            "people.",
            pd.DataFrame(spread),
        ),
        Table(
            "judge_distances",
            "Distance of judges from people's scores",
            f"Mean Jensen-Shannon distance (0 to 1) over items between a judge's score and people's{seen}, and for "
            "comparison between a left-out person and the others. Over all items: the distance between frequencies of "
            "scores. Intervals apply to other documents and these people.",
            pd.DataFrame(judges),
        ),
    ]
