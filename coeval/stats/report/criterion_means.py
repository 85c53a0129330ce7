"""The mean score of each system by each criterion, by people and by every judge: a leaderboard's cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.stats.estimates.clusters import Clusters, sums_interval
from coeval.stats.estimates.results import Estimate
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers
from coeval.stats.report.judges.judges_compared import human_means, list_judges


@dataclass(frozen=True)
class CriterionMean:
    """The mean of one system's units (outputs) by one criterion, each unit counting once.

    ``run`` is the label of the judge's run, "" for people, who are ``n_people``. ``deviation`` is the standard
    deviation over the units, nan of fewer than two. The mean's interval leaves out whole clusters.
    """

    system: str
    criterion: str
    run: str
    mean: Estimate
    deviation: float
    n_units: int
    n_people: int = 0


def criterion_means(study: StudyFrames) -> list[CriterionMean]:
    """Every cell that has a score: by system, by criterion, people first; a system without a name is named ""."""
    people = study.scored.groupby("unit")["who"].nunique()
    given = [("", human_means(study.scored)), *((judge.label, judge.scores) for judge in list_judges(study))]
    units = study.units[["system", "criterion"]].fillna("").astype(str)
    return [
        _measure(study, str(system), str(criterion), run, scores.reindex(part.index).dropna(), people)
        for (system, criterion), part in units.groupby(["system", "criterion"], sort=False)
        for run, scores in given
        if scores.index.isin(part.index).any()
    ]


def _measure(
    study: StudyFrames,
    system: str,
    criterion: str,
    run: str,
    scores: pd.Series[float],
    people: pd.Series[int],
) -> CriterionMean:
    values: Numbers = np.asarray(scores, dtype=np.float64)
    return CriterionMean(
        system,
        criterion,
        run,
        _estimate(values, study.clusters.of(scores.index)),
        float(values.std(ddof=1)) if len(values) > 1 else float("nan"),
        len(values),
        0 if run else int(people.reindex(scores.index).max()),
    )


def _estimate(values: Numbers, clusters: Clusters) -> Estimate:
    sums = clusters.sums(np.column_stack([values, np.ones(len(values))]))
    spread = sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], clusters.kind)
    return Estimate(float(values.mean()), n=len(values)).having(**spread)
