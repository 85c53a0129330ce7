"""Comparisons of judges and raters: pairs of runs, and pairs of raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.clusters import Clusters
from coeval.stats.estimates import Estimate, Spelled, adjust_holm
from coeval.stats.frames import ASSISTED, LLM, StudyFrames
from coeval.stats.judges.correlation import correlate_within
from coeval.stats.judges.vector_correlation import (
    METHODS,
    WilliamsTest,
    correlate,
    correlation_difference,
    williams_test,
)
from coeval.stats.rating_matrix import Codes, Numbers, Ratings
from coeval.stats.report.tables import Table, make_table

# The alignment section's comparisons: judges with each other, and pairs of raters.

MAX_RUNS = 10
"""The largest number of runs that are all compared; more are compared only with the shown (or first) run."""


@dataclass(frozen=True, eq=False)
class Judge:
    """One run of drafts, with its scores by the code of the unit."""

    run: str
    label: str
    shown: bool
    scores: pd.Series[float]


def list_judges(study: StudyFrames) -> list[Judge]:
    """Return every run with scores, in the order of the drafts."""
    judges = []
    for run, part in study.model_scores.groupby("run", sort=False):
        scores = part.drop_duplicates("unit", keep="last").set_index("unit")["score"]
        shown = bool(part["shown"].astype(bool).any())
        judges.append(Judge(str(run), str(part["run_label"].iloc[0]), shown, scores))
    return judges


def human_means(scored: pd.DataFrame) -> pd.Series[float]:
    """Return the mean of people's scores by the code of the unit."""
    return scored.groupby("unit")["score"].mean()


@dataclass(frozen=True)
class Comparison:
    """A comparison of two runs on one criterion, for the units that both runs and people scored.

    ``gap`` is r_a - r_b, and applies to other documents judged by these people, for these systems. ``p_holm`` is the
    p-value of Williams' test, adjusted over all comparisons.
    """

    a: str
    b: str
    criterion: str
    n: int
    clusters: int
    r_a: float
    r_b: float
    williams: WilliamsTest
    gap: Spelled
    p_holm: float = np.nan


def compare_runs(study: StudyFrames, scored: pd.DataFrame, judges: Sequence[Judge]) -> list[Comparison]:
    """Compare every pair of runs by criterion, on the units that both and people scored."""
    pairs = list(combinations(judges, 2))
    if len(judges) > MAX_RUNS:
        main = next((judge for judge in judges if judge.shown), judges[0])
        pairs = [(main, judge) for judge in judges if judge is not main]
    items, width = human_means(scored), max(len(study.criteria), 1)
    rows = []
    for a, b in pairs:
        shared = items.index.intersection(a.scores.index).intersection(b.scores.index)
        for k, criterion in enumerate(study.criteria):
            units = shared[shared % width == k].to_numpy(dtype=np.int64)
            sides = [np.asarray(side[units], dtype=float) for side in (items, a.scores, b.scores)]
            rows.append(_compared(study, a, b, criterion, units, sides))
    adjusted = adjust_holm([row.williams.p_two_sided for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def _compared(
    study: StudyFrames, a: Judge, b: Judge, criterion: str, units: Codes, sides: Sequence[Numbers]
) -> Comparison:
    human, first, second = sides
    clusters = study.clusters.of(units) if len(units) else Clusters(units, study.clusters.kind)
    r_a, r_b, r_ab = (
        correlate(x, y, "pearson") for x, y in ((human, first), (human, second), (first, second))
    )
    gap = correlation_difference(human, first, second, clusters)
    effect = gap.details.get("design_effect")
    worth = len(human) / effect if effect else None
    return Comparison(
        a=a.label,
        b=b.label,
        criterion=criterion,
        n=len(human),
        clusters=clusters.n,
        r_a=r_a,
        r_b=r_b,
        williams=williams_test(r_a, r_b, r_ab, len(human), n_effective=worth),
        gap=Spelled(gap, ("p_value", "replicates_left_out")),
    )


@dataclass(frozen=True)
class PairMeans:
    """Each correlation's mean over ``n_pairs`` pairs of raters."""

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    n_pairs: int
    n_pairs_left_out: int


MeanPairwise = Mapping[str, PairMeans]
"""Mean correlations of pairs of people by arm, and of the shown run with people."""


def mean_pairwise(study: StudyFrames) -> MeanPairwise:
    """Return mean correlations over pairs of raters: people by arm and across arms, and the shown run with people.

    Source: CoEval paper, table 8. "Blind" also includes first scores, which no draft influenced. Deliberately wrong
    drafts are left out. Pairs are correlated over the units of all criteria; pairs that share fewer than two units,
    or do not vary on one side, are left out and counted.
    """
    by_name = {}
    genuine = study.genuine
    for name, part in (
        ("people", genuine),
        ("people_assisted", genuine[genuine["arm"] == ASSISTED]),
        ("people_blind", study.unaided),
    ):
        everyone = study.ratings(part, study.shown_scores)
        rows = _pair_correlations(everyone)
        with_llm = rows["b"] == LLM
        by_name[name] = _averaged(rows[~with_llm])
        by_name[name.replace("people", LLM, 1)] = _averaged(rows[with_llm])
    by_name["people_assisted_blind"] = _averaged(_pairs_across(study))
    return by_name


def _pairs_across(study: StudyFrames) -> pd.DataFrame:
    """Return the correlations of a person's assisted scores with another person's scores without the draft."""
    assisted = study.genuine[study.genuine["arm"] == ASSISTED]
    data = study.ratings(pd.concat([assisted[["who", "unit", "score"]], study.unaided]))
    unaided = np.arange(len(data.unit)) >= len(assisted)
    names = [(name, arm) for arm in (False, True) for name in data.annotators]
    apart = replace(data, annotators=tuple(names), annotator=data.annotator + unaided * data.n_annotators)
    rows = _pair_correlations(apart)
    across = [a[1] != b[1] and a[0] != b[0] for a, b in zip(rows["a"], rows["b"], strict=True)]
    return rows[np.array(across, dtype=bool)]


def _pair_correlations(data: Ratings) -> pd.DataFrame:
    """Return the correlations of each pair of raters over the units that both rated; nan if undefined."""
    pairs = list(combinations(range(data.n_annotators), 2))
    values, table = data.numbers[data.code], np.full((len(METHODS), len(pairs)), np.nan)
    start = 0
    for a in range(data.n_annotators - 1):
        first = np.full(data.n_units, np.nan)
        first[data.unit[data.annotator == a]] = values[data.annotator == a]
        shared = (data.annotator > a) & ~np.isnan(first[data.unit])
        other = data.annotator[shared]
        if len(other):
            sides = first[data.unit[shared]], values[shared], other
            columns = start + np.unique(other) - a - 1
            table[:, columns] = [correlate_within(*sides, method) for method in METHODS]
        start += data.n_annotators - a - 1
    names: list[Any] = list(data.annotators)
    rows = pd.DataFrame(table.T, columns=list(METHODS))
    return rows.assign(a=[names[a] for a, _ in pairs], b=[names[b] for _, b in pairs])


def _averaged(rows: pd.DataFrame) -> PairMeans:
    used = rows.dropna(subset=["pearson"])
    reason = "no two raters share units on which both vary"
    means = {
        method: Estimate(used[method].mean()) if len(used) else Estimate.undefined(reason)
        for method in ("pearson", "spearman", "kendall")
    }
    return PairMeans(**means, n_pairs=len(used), n_pairs_left_out=len(rows) - len(used))


RATERS = {
    "people": "people",
    "llm": "model and person",
    "people_assisted": "people, assisted",
    "llm_assisted": "model and person, assisted",
    "people_blind": "people, blind",
    "llm_blind": "model and person, blind",
    "people_assisted_blind": "people, one assisted and one blind",
}


def pairwise_correlation_tables(means: MeanPairwise) -> list[Table]:
    """Return the table of mean correlations over pairs of raters."""
    return [
        make_table(
            "pairwise_correlations",
            "Mean correlation over pairs of raters",
            "Over all units that both raters scored; tau is tau-b; blind: also first scores (paper, table 8).",
            [{"raters": RATERS[name], **vars(entry)} for name, entry in means.items() if entry.n_pairs],
            ("raters", "n_pairs", "n_pairs_left_out", "pearson", "spearman", "kendall"),
        )
    ]
