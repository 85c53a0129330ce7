"""The section on systems: mean scores by people and judges, and tests of each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.clusters import Clusters, gap_of, mean_interval, sums_interval
from coeval.stats.estimates import FLAT, Estimate, adjust_holm
from coeval.stats.frames import StudyFrames
from coeval.stats.rating_matrix import Numbers
from coeval.stats.report.tables import Table, make_table


def estimate_mean(values: Numbers, clusters: Clusters) -> Estimate:
    """Return the mean with an interval that leaves out whole clusters."""
    return Estimate(float(values.mean()), n=len(values)).having(**mean_interval(values, clusters))


INTERVAL = ("ci_low", "ci_high", "interval_kind", "resampled", "clusters")
"""The fields of a row with the interval of the people's mean."""


@dataclass(frozen=True)
class SystemRow:
    """The results of one system. ``ci_low`` and ``ci_high`` belong to ``human_mean``.

    ``leads`` has the difference of means from each other system, with its interval. ``differs`` has the p-value of this
    difference (jackknife over clusters, t), adjusted with Holm's method over all pairs; nan if undefined.
    """

    system: str
    n: int
    human_mean: Estimate
    interval: Mapping[str, Any] = field(metadata=FLAT)
    llm_mean: Estimate
    n_llm: int
    n_units: int
    differs: Mapping[str, float] = field(default_factory=dict)
    leads: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def systems_section(study: StudyFrames) -> list[SystemRow]:
    """Return the systems in the order of the instances, with means of people and the shown run.

    Intervals leave out whole clusters (documents with all their criteria), so they apply to other documents.
    """
    scored, model = study.scored[["unit", "score"]], study.shown_scores
    systems = study.units["system"].replace("", None).to_numpy(dtype=object)
    names = [str(name) for name in pd.Series(systems, dtype=object).dropna().unique()]
    of_scores = systems[scored["unit"].to_numpy()] if len(scored) else np.empty(0, dtype=object)
    differs, leads = _compare(study)
    rows = []
    for name in names:
        rated, drafted = scored[of_scores == name], model[model.index.isin(np.flatnonzero(systems == name))]
        mean = _average(rated["score"], "no person scored this system")
        if mean.defined:
            clusters, scores = study.clusters.of(rated["unit"]), rated["score"].to_numpy(dtype=float)
            mean = mean.having(**mean_interval(scores, clusters, shared_scale(study)))
        rows.append(
            SystemRow(
                system=name,
                n=len(rated),
                human_mean=mean,
                interval={part: mean.details.get(part) for part in INTERVAL},
                llm_mean=_average(drafted, "no shown draft of this system has a score"),
                n_llm=len(drafted),
                n_units=int(rated["unit"].nunique()),
                differs=differs.get(name, {}),
                leads=leads.get(name, {}),
            )
        )
    return rows


def _average(values: pd.Series[float], reason: str) -> Estimate:
    return Estimate(values.astype(float).mean(), n=len(values)) if len(values) else Estimate.undefined(reason)


def shared_scale(study: StudyFrames) -> tuple[float, float]:
    """Return the lowest and the highest possible score on any criterion, which bound a mean over all of them."""
    lows, highs = zip(*study.scales.values(), strict=True)
    return min(lows), max(highs)


def sum_systems(study: StudyFrames) -> tuple[list[str], Numbers]:
    """Return the systems with scores, in the order of the instances, and clusters x (2 per system).

    These two columns are the sum and the number of scores.
    """
    scored = study.scored
    systems = study.units["system"].replace("", None).to_numpy(dtype=object)
    of_scores = systems[scored["unit"].to_numpy(dtype=np.int64)]
    names = [str(name) for name in pd.unique(systems) if name is not None and (of_scores == name).any()]
    if not names:
        return [], np.zeros((0, 0))
    score, columns = scored["score"].to_numpy(dtype=float), []
    for name in names:
        of_system = of_scores == name
        columns.append(np.column_stack([np.where(of_system, score, 0.0), of_system.astype(float)]))
    return names, study.clusters.of(scored["unit"]).sums(np.hstack(columns))


def _compare(
    study: StudyFrames,
) -> tuple[Mapping[str, Mapping[str, float]], Mapping[str, Mapping[str, Mapping[str, float]]]]:
    """Return the adjusted p-value of the difference of each system from each other one, and the difference itself."""
    names, sums = sum_systems(study)
    differs: dict[str, dict[str, float]] = {name: {} for name in names}
    leads: dict[str, dict[str, dict[str, float]]] = {name: {} for name in names}
    for (a, b), gap in compare_pairs(sums, study.clusters.kind).items():
        differs[names[a]][names[b]] = differs[names[b]][names[a]] = gap.p_value
        low, high = gap.ci
        leads[names[a]][names[b]] = {"difference": float(gap), "ci_low": low, "ci_high": high}
        leads[names[b]][names[a]] = {"difference": -float(gap), "ci_low": -high, "ci_high": -low}
    return differs, leads


def compare_pairs(sums: Numbers, kind: str) -> dict[tuple[int, int], Estimate]:
    """Return each pair of systems' difference, with its p-value adjusted with Holm's method over all pairs.

    ``sums`` has each system's sum and number of scores, with one row per cluster. A cluster without either system
    does not count.
    """
    gaps = {}
    for a, b in combinations(range(sums.shape[1] // 2), 2):
        of_pair = sums[:, [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]]
        of_pair = of_pair[of_pair.any(axis=1)]
        gaps[a, b] = Estimate(
            float(gap_of(of_pair.sum(axis=0)[None, :])[0]), **sums_interval(of_pair, gap_of, kind)
        )
    adjusted = adjust_holm([gap.p_value for gap in gaps.values()])
    return {pair: gap.having(p_value=p) for (pair, gap), p in zip(gaps.items(), adjusted, strict=True)}


def systems_tables(section: Sequence[SystemRow]) -> list[Table]:
    """Return the tables of the systems' means, and of the tests of their differences."""
    compared = [row for row in section if row.differs]
    return [
        make_table(
            "systems",
            "Systems compared",
            "Mean scores; the interval of the people's mean is over clusters, for these people. With few clusters, a "
            "mean near an end of the scale has a wide interval, because rare scores may be missing.",
            [{**vars(row), **row.interval, "documents": row.interval["clusters"]} for row in section],
            ("system", "n", "n_units", "documents", "human_mean", "ci_low", "ci_high", "llm_mean", "n_llm"),
        ),
        make_table(
            "system_differences",
            "Tests of the differences between systems",
            "P-value of the difference of two systems' means by people, over clusters, adjusted over all pairs (Holm).",
            [{"system": row.system, **row.differs} for row in compared],
            ("system", *(row.system for row in compared)),
        ),
    ]
