"""The alignment section: every judge against people, and the judges against each other."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from coeval.stats.frames import BLIND, CROWD, EXPERT, FIRST, StudyFrames
from coeval.stats.judges.alternative import EPSILONS
from coeval.stats.report.judges.judge_rows import JudgeRow, judge_row
from coeval.stats.report.judges.judges_compared import (
    Comparison,
    Competence,
    MeanPairwise,
    compare_runs,
    competence_section,
    list_judges,
    mean_pairwise,
)
from coeval.stats.report.judges.labels_chosen import choose_labels


@dataclass(frozen=True)
class AlignmentSection:
    """Every run of drafts against people."""

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
    """Every run of drafts against people.

    People's score of a unit (an instance by a criterion) is the mean of theirs; ``labels`` says which were
    used: "blind", "first" (scores given before the draft was shown) or "blind and first" wherever there are any,
    since the draft pulls those who see it. Without them the descriptive figures use assisted scores, ``leaned``
    is true, and the alt-test is undefined. Drafts that were wrong on purpose are left out of all of it.

    Intervals and tests take clusters (documents with all that hangs on them) as independent. ``comparisons`` holds
    Williams', permutation and jackknife tests of every two runs by criterion.
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
