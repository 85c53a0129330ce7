"""The sections that compare judges with people: alignment, and equivalence of means."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coeval.stats.estimates import Estimate, Spelled, adjust_holm
from coeval.stats.frames import BLIND, CROWD, EXPERT, FIRST, StudyFrames
from coeval.stats.judges.alternative_annotator import EPSILONS
from coeval.stats.judges.closeness import (
    LEVEL,
    Equivalence,
    equivalence_test,
)
from coeval.stats.report.model_vs_model import (
    Comparison,
    MeanPairwise,
    compare_runs,
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
    mean_difference: Spelled
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
            "judge_less_people": float(row.mean_difference.value),
            "ci90_low": row.mean_difference.get("ci_low"),
            "ci90_high": row.mean_difference.get("ci_high"),
            "margin": row.margin,
            "p_adjusted": float(row.p_holm),
            "equivalent": {True: "yes", False: "not shown", None: "–"}[row.equivalent],
            "smallest_margin": float(row.smallest_margin),
        }
        for row in section.rows
        if row.mean_difference.value.defined
    ]
    note = (
        f"Is a judge's mean within the margin ({section.margin_share:g} of the scale's range) of people's? Two "
        f"one-sided tests over clusters, from {section.labels} scores, adjusted over a judge's criteria (Holm); "
        "for other documents and these people. “Not shown” does not mean that they differ. The last column "
        "is the smallest margin that would pass."
    )
    return [Table("equivalence", "Equivalence of judges and people", note, pd.DataFrame(rows))]
