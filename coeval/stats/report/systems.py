"""The section on systems: their mean scores, by people and by judges, their ranks, and who beats whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates.clusters import Clusters, draw_sums, sums_interval
from coeval.stats.estimates.prediction import jury_mean
from coeval.stats.estimates.results import FLAT, Estimate, Spelled
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.correlation import join_ties
from coeval.stats.rating_matrix import Numbers
from coeval.stats.report.judges.judges_compared import human_means, list_judges
from coeval.stats.report.judges.label_draw import check_draw
from coeval.stats.report.judges.labels_chosen import LEANED, Reference, choose_labels


@dataclass(frozen=True)
class Ranked:
    """A system's place among those that people scored, 1 the highest mean; equal means share the better place.

    The interval holds the middle 95% of the places it takes when the clusters are drawn anew; ``beats`` is the share of
    these draws in which it has a higher mean than each other system, a tie counting half.
    """

    rank: int | None
    rank_low: float | None
    rank_high: float | None
    p_best: float | None
    beats: Mapping[str, float]


@dataclass(frozen=True)
class SystemRow:
    """One system. ``ci_low`` and ``ci_high`` are of ``human_mean``; ``human`` is the mean of units, each counting once.

    ``prediction_powered`` is people's mean corrected by the judges' scores of the units nobody scored without the
    draft; undefined where drafts were in view.
    """

    system: str
    n: int
    human_mean: Estimate
    interval: Mapping[str, Any] = field(metadata=FLAT)
    llm_mean: Estimate
    n_llm: int
    n_units: int
    human: Spelled
    prediction_powered: Spelled
    ranked: Ranked = field(metadata=FLAT)


def systems_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> list[SystemRow]:
    """The systems in the order of the instances: means of people, of the shown run, prediction-powered, and ranks.

    Intervals leave out whole clusters: documents with all their criteria, so that they speak of other documents.
    """
    scored, model = study.scored[["unit", "score"]], study.shown_scores
    systems = study.units["system"].replace("", None).to_numpy(dtype=object)
    names = [str(name) for name in pd.Series(systems, dtype=object).dropna().unique()]
    of_scores = systems[scored["unit"].to_numpy()] if len(scored) else np.empty(0, dtype=object)
    reference = choose_labels(study)
    labelled = human_means(reference.scored)
    judged = _jury(study)
    rows = []
    for name in names:
        units = np.flatnonzero(systems == name)
        own, drafted = scored[of_scores == name], model[model.index.isin(units)]
        mean = _average(own["score"], "no person scored this system")
        clusters = study.clusters.of(own["unit"]) if len(own) else study.clusters
        spread = _mean_spread(own["score"].to_numpy(dtype=float), clusters) if mean.defined else {}
        rows.append(
            SystemRow(
                system=name,
                n=len(own),
                human_mean=mean.having(**spread),
                interval={part: spread.get(part) for part in ("ci_low", "ci_high", "resampled", "clusters")},
                llm_mean=_average(drafted, "no shown draft of this system has a score"),
                n_llm=len(drafted),
                n_units=int(own["unit"].nunique()),
                human=Spelled(_of_units(study, own)),
                prediction_powered=_powered(
                    study, reference, labelled[labelled.index.isin(units)], judged, units
                ),
                ranked=Ranked(None, None, None, None, {}),
            )
        )
    return _with_ranks(study, rows, scored, of_scores, replicates, seed)


def _average(values: pd.Series[float], reason: str) -> Estimate:
    return Estimate(values.astype(float).mean(), n=len(values)) if len(values) else Estimate.undefined(reason)


def _mean_spread(values: Numbers, clusters: Clusters) -> dict[str, Any]:
    """The interval of a mean over clusters."""
    sums = clusters.sums(np.column_stack([values, np.ones(len(values))]))
    return sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], clusters.kind)


def _of_units(study: StudyFrames, own: pd.DataFrame) -> Estimate:
    """The people's mean over units, each unit counting once."""
    means: pd.Series[float] = human_means(own)
    if len(means) < 2:
        return Estimate.undefined("fewer than two units were scored")
    clusters = study.clusters.of(means.index)
    return Estimate(float(means.mean()), **_mean_spread(np.asarray(means, dtype=np.float64), clusters))


def _jury(study: StudyFrames) -> pd.DataFrame:
    """Units x runs: what every judge gave."""
    return pd.DataFrame({judge.run: judge.scores for judge in list_judges(study)})


def _powered(
    study: StudyFrames, reference: Reference, labelled: pd.Series[float], judged: pd.DataFrame, units: Any
) -> Spelled:
    """The prediction-powered mean, with ``draw``, how the labelled units were chosen, and ``valid``."""
    names = (
        "lam",
        "n",
        "n_unlabeled",
        "n_judges",
        "classical",
        "multiplier",
        "valid",
        "draw",
        "draw_p_value",
    )
    if reference.leaned:
        return Spelled(Estimate.undefined(LEANED))
    both = labelled.index.intersection(judged.index)
    rest = judged.index.intersection(units).difference(labelled.index)
    estimate = jury_mean(
        labelled[both].to_numpy(dtype=float),
        judged.loc[both].to_numpy(dtype=float),
        judged.loc[rest].to_numpy(dtype=float),
        clusters=study.clusters.code[both.to_numpy(dtype=np.int64)],
        clusters_unlabeled=study.clusters.code[rest.to_numpy(dtype=np.int64)],
    )
    if not estimate.defined:
        return Spelled(estimate, names)
    chosen = check_draw(
        study, reference.scored, judged, both.to_numpy(dtype=np.int64), rest.to_numpy(dtype=np.int64)
    )
    about = {"valid": chosen.valid, "draw": chosen.name, "draw_p_value": chosen.p_value}
    return Spelled(estimate.having(resampled=study.clusters.kind, **about), names)


def _with_ranks(
    study: StudyFrames,
    rows: Sequence[SystemRow],
    scored: pd.DataFrame,
    of_scores: Any,
    replicates: int,
    seed: int,
) -> list[SystemRow]:
    """The rows with their ranks: of their means, equal means by exact arithmetic, and over clusters drawn anew."""
    known = [row for row in rows if row.human_mean.defined]
    if len(known) < 2:
        return list(rows)
    score = scored["score"].to_numpy(dtype=float)
    columns = []
    for row in known:
        own = of_scores == row.system
        columns += [np.where(own, score, 0.0), own.astype(float)]
    sums = study.clusters.of(scored["unit"]).sums(np.column_stack(columns))
    point = _places(_means(sums.sum(axis=0)[None, :]))[0]
    drawn = _means(draw_sums(sums, replicates, seed))
    places = _places(drawn) if len(drawn) else np.empty((0, len(known)))
    ranked = {}
    for k, row in enumerate(known):
        low, high = np.quantile(places[:, k], [0.025, 0.975]) if len(places) else (np.nan, np.nan)
        over = (drawn[:, [k]] > drawn).mean(axis=0) + (drawn[:, [k]] == drawn).mean(axis=0) / 2
        ranked[row.system] = Ranked(
            rank=int(point[k]),
            rank_low=float(low),
            rank_high=float(high),
            p_best=float((places[:, k] == 1).mean()) if len(places) else np.nan,
            beats={other.system: float(over[j]) for j, other in enumerate(known) if j != k},
        )
    return [replace(row, ranked=ranked.get(row.system, row.ranked)) for row in rows]


def _means(sums: Numbers) -> Numbers:
    """Each row's means of the systems, those that differ by rounding alone made equal; rows that lack one are gone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums[:, 0::2] / sums[:, 1::2]
    means = means[~np.isnan(means).any(axis=1)]
    return np.array([join_ties(row) for row in means]).reshape(means.shape)


def _places(means: Numbers) -> Numbers:
    """The place of each system in each row: one more than how many have a higher mean."""
    return np.asarray(1 + (means[:, None, :] > means[:, :, None]).sum(axis=2))
