"""The section on systems: mean scores by people and judges, ranks, and pairwise tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.clusters import Clusters, draw_sums, mean_interval, sums_interval
from coeval.stats.estimates import FLAT, Estimate, Spelled, adjust_holm
from coeval.stats.frames import StudyFrames
from coeval.stats.judges.correlation import join_ties
from coeval.stats.prediction import jury_mean
from coeval.stats.rating_matrix import Codes, Numbers
from coeval.stats.report.model_vs_model import human_means, list_judges
from coeval.stats.report.model_vs_people import LEANED, Reference, choose_labels

# The choice of the labelled units, which must be random for a valid prediction-powered mean.

UNLIKE = 0.01
"""The p-value below which judges' mean scores of labelled and other units differ."""


@dataclass(frozen=True)
class LabelDraw:
    """The draw of the labelled units: ``name`` describes it, or says why it is not known to be random.

    ``p_value`` tests whether judges score labelled units like the others. Labels chosen by difficulty or quality
    seldom pass.
    """

    valid: bool
    name: str
    p_value: Estimate


def check_draw(
    study: StudyFrames, scored: pd.DataFrame, judged: pd.DataFrame, labelled: Codes, rest: Codes
) -> LabelDraw:
    """Return how a system's labelled units were chosen among the units that judges scored.

    Parameters
    ----------
    scored : the people's scores, which are the labels.
    judged : the judges' scores as units x judges.
    labelled, rest : positions of the units with people's and judges' scores, and with only judges' scores.
    """
    p_value = _likeness(study, judged, labelled, rest)
    if p_value.defined and p_value < UNLIKE:
        return LabelDraw(
            False,
            (
                "judges score the labelled units differently from the others, so they were not chosen by "
                "chance"
            ),
            p_value,
        )
    own = scored[scored["unit"].isin(labelled)]
    if len(own) and own["draft_score"].notna().all():
        arms = " and ".join(sorted(set(own["arm"])))
        return LabelDraw(True, f"the arm {arms}, drawn at random by this study's design", p_value)
    return LabelDraw(
        False,
        ("the study does not show that the labelled units were drawn at random or with known probabilities"),
        p_value,
    )


def _likeness(study: StudyFrames, judged: pd.DataFrame, labelled: Codes, rest: Codes) -> Estimate:
    """Test whether labelled and other units have equal means of the judges' z-scores, over clusters."""
    units = np.concatenate([labelled, rest])
    if not len(labelled) or not len(rest):
        return Estimate.undefined("all units are labelled, or none is")
    table = judged.loc[units].to_numpy(dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (table - np.nanmean(table, axis=0)) / np.nanstd(table, axis=0)
    known = ~np.isnan(z)
    score = np.where(known, z, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    first = (np.arange(len(units)) < len(labelled)).astype(float)
    columns = np.column_stack([score * first, first, score * (1 - first), 1 - first])
    clusters = study.clusters.of(units)
    if clusters.n < 3:
        return Estimate.undefined("fewer than three clusters")

    def gap(rows: Numbers) -> Numbers:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(rows[:, 0] / rows[:, 1] - rows[:, 2] / rows[:, 3])

    p_value = float(sums_interval(clusters.sums(columns), gap, clusters.kind)["p_value"])
    return Estimate.undefined("the judges' scores do not vary") if np.isnan(p_value) else Estimate(p_value)


def estimate_mean(values: Numbers, clusters: Clusters, scale: tuple[float, float] | None = None) -> Estimate:
    """Return the mean with an interval that leaves out whole clusters."""
    return Estimate(float(values.mean()), n=len(values)).having(**mean_interval(values, clusters, scale))


INTERVAL = ("ci_low", "ci_high", "interval_kind", "resampled", "clusters")
"""The fields of a row with the interval of the people's mean."""


@dataclass(frozen=True)
class Ranked:
    """A system's rank among the systems that people scored; 1 is the highest mean, and equal means share a rank.

    The interval is the middle 95% of its ranks over resampled clusters. ``p_best`` is the share of these resamples in
    which it has the highest mean, divided among tied systems. ``beats`` is the share in which its mean is higher than
    that of each other system; a tie counts half. ``differs`` has the p-value of the difference from each other system
    (jackknife over clusters, t), adjusted with Holm's method over all pairs; nan if undefined.
    """

    rank: int | None
    rank_low: float | None
    rank_high: float | None
    p_best: float | None
    beats: Mapping[str, float]
    rank_interval_kind: str | None = None
    differs: Mapping[str, float] = field(default_factory=dict)


NOT_RANKED = Ranked(None, None, None, None, {})


@dataclass(frozen=True)
class SystemRow:
    """The results of one system. ``ci_low`` and ``ci_high`` belong to ``human_mean``.

    ``prediction_powered`` is the people's mean, improved by judges' scores of the units that nobody scored without
    the draft. It is undefined if drafts were in view.
    """

    system: str
    n: int
    human_mean: Estimate
    interval: Mapping[str, Any] = field(metadata=FLAT)
    llm_mean: Estimate
    n_llm: int
    n_units: int
    prediction_powered: Spelled
    ranked: Ranked = field(metadata=FLAT)


def systems_section(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> list[SystemRow]:
    """Return the systems in the order of the instances, with means of people and the shown run, and ranks.

    Intervals leave out whole clusters (documents with all their criteria), so they apply to other documents.
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
        scores = own["score"].to_numpy(dtype=float)
        spread = mean_interval(scores, clusters, _shared_scale(study)) if mean.defined else {}
        rows.append(
            SystemRow(
                system=name,
                n=len(own),
                human_mean=mean.having(**spread),
                interval={part: spread.get(part) for part in INTERVAL},
                llm_mean=_average(drafted, "no shown draft of this system has a score"),
                n_llm=len(drafted),
                n_units=int(own["unit"].nunique()),
                prediction_powered=_powered(
                    study, reference, labelled[labelled.index.isin(units)], judged, units
                ),
                ranked=NOT_RANKED,
            )
        )
    return _with_ranks(study, rows, scored, of_scores, replicates, seed)


def _average(values: pd.Series[float], reason: str) -> Estimate:
    return Estimate(values.astype(float).mean(), n=len(values)) if len(values) else Estimate.undefined(reason)


def _shared_scale(study: StudyFrames) -> tuple[float, float]:
    """Return the lowest and the highest score on any criterion, which bound a mean over all of them."""
    lows, highs = zip(*study.scales.values(), strict=True)
    return min(lows), max(highs)


def _jury(study: StudyFrames) -> pd.DataFrame:
    """Return all judges' scores as units x runs."""
    return pd.DataFrame({judge.run: judge.scores for judge in list_judges(study)})


def _powered(
    study: StudyFrames, reference: Reference, labelled: pd.Series[float], judged: pd.DataFrame, units: Any
) -> Spelled:
    """Return the prediction-powered mean, with ``valid`` and the ``draw`` of the labelled units."""
    names = (
        "lam",
        "n",
        "n_unlabeled",
        "n_judges",
        "classical",
        "multiplier",
        "fell_back",
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
        kind=study.clusters.kind,
    )
    if not estimate.defined:
        return Spelled(estimate, names)
    chosen = check_draw(
        study, reference.scored, judged, both.to_numpy(dtype=np.int64), rest.to_numpy(dtype=np.int64)
    )
    about = {"valid": chosen.valid, "draw": chosen.name, "draw_p_value": chosen.p_value}
    return Spelled(estimate.having(**about), names)


def _with_ranks(
    study: StudyFrames,
    rows: Sequence[SystemRow],
    scored: pd.DataFrame,
    of_scores: Any,
    replicates: int,
    seed: int,
) -> list[SystemRow]:
    """Return the rows with their ranks, in these data and over resampled clusters."""
    known = [row for row in rows if row.human_mean.defined]
    if len(known) < 2:
        return list(rows)
    score = scored["score"].to_numpy(dtype=float)
    columns = []
    for row in known:
        own = of_scores == row.system
        columns += [np.where(own, score, 0.0), own.astype(float)]
    clusters = study.clusters.of(scored["unit"])
    sums = clusters.sums(np.column_stack(columns))
    point = _places(_means(sums.sum(axis=0)[None, :]))[0]
    drawn = _means(draw_sums(sums, replicates, seed))
    places = _places(drawn) if len(drawn) else np.empty((0, len(known)))
    best, ranked, differs = places == 1, {}, compare_pairs(sums, clusters.kind)
    for k, row in enumerate(known):
        low, high = np.quantile(places[:, k], [0.025, 0.975]) if len(places) else (np.nan, np.nan)
        over = (drawn[:, [k]] > drawn).mean(axis=0) + (drawn[:, [k]] == drawn).mean(axis=0) / 2
        ranked[row.system] = Ranked(
            rank=int(point[k]),
            rank_low=float(low),
            rank_high=float(high),
            p_best=float((best[:, k] / best.sum(axis=1)).mean()) if len(places) else np.nan,
            beats={other.system: float(over[j]) for j, other in enumerate(known) if j != k},
            rank_interval_kind=f"bootstrap over {clusters.kind}, middle 95% of {len(places):,} draws",
            differs={other.system: differs[min(j, k), max(j, k)] for j, other in enumerate(known) if j != k},
        )
    return [replace(row, ranked=ranked.get(row.system, row.ranked)) for row in rows]


def compare_pairs(sums: Numbers, kind: str) -> dict[tuple[int, int], float]:
    """Return the p-value of each pair of systems' difference, adjusted with Holm's method over all pairs.

    ``sums`` has each system's sum and number of scores, with one row per cluster.
    """

    def gap(rows: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(rows[:, 0] / rows[:, 1] - rows[:, 2] / rows[:, 3])

    pairs = list(combinations(range(sums.shape[1] // 2), 2))
    found = [
        sums_interval(sums[:, [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]], gap, kind)["p_value"] for a, b in pairs
    ]
    return dict(zip(pairs, adjust_holm(found), strict=True))


def _means(sums: Numbers) -> Numbers:
    """Return the systems' means of each row, with rounding differences removed, without incomplete rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums[:, 0::2] / sums[:, 1::2]
    means = means[~np.isnan(means).any(axis=1)]
    return np.array([join_ties(row) for row in means]).reshape(means.shape)


def _places(means: Numbers) -> Numbers:
    """Return the rank of each system in each row: one plus the number of systems with a higher mean."""
    return np.asarray(1 + (means[:, None, :] > means[:, :, None]).sum(axis=2))
