"""The work of people on drafts: rates of actions, score changes, the comparison with the majority, and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.clusters import Clusters, ratio_of, sums_interval
from coeval.stats.estimates import FLAT, Estimate, Spelled
from coeval.stats.rating_matrix import Numbers, parse_vector

ACTIONS = ("approve", "revise", "delete", "add")
KINDS = ("conclusion", "score", "evidence")


@dataclass(frozen=True)
class Rates:
    """The share of each of ``ACTIONS`` in ``n`` lines, undefined if n is 0."""

    n: int
    shares: Mapping[str, Estimate] = field(metadata=FLAT)


ActionRates = Mapping[str, Rates]
"""Action rates over all lines ("overall") and by kind of line (``KINDS``)."""


def action_rates(actions: pd.DataFrame) -> ActionRates:
    """Return how often people approved, revised, deleted and added lines, overall and by kind of line.

    Parameters
    ----------
    actions : ``action``, and optionally ``kind`` (conclusion, score, evidence) and ``n`` (how often).

    Raises
    ------
    ValueError
        If an action is not one of the four.

    Source: Li et al. 2023, CoEval, tables 5 and 6.

    >>> rates = action_rates(pd.DataFrame({"kind": ["score", "score"], "action": ["approve", "add"]}))
    >>> rates["overall"].n, rates["score"].shares["add"], rates["conclusion"].shares["add"].reason
    (2, 0.5, 'there is no such line')
    """
    unknown = set(actions["action"]) - set(ACTIONS)
    if unknown:
        raise ValueError(f"There is no action {min(unknown)!r}; an action is one of: {', '.join(ACTIONS)}.")
    kinds = actions["kind"] if "kind" in actions else pd.Series("", index=actions.index)
    times = actions["n"] if "n" in actions else pd.Series(1, index=actions.index)
    by_kind = {kind: _rates(actions["action"][kinds == kind], times[kinds == kind]) for kind in KINDS}
    return {"overall": _rates(actions["action"], times), **by_kind}


def _rates(actions: pd.Series[str], times: pd.Series[int]) -> Rates:
    n = int(times.sum())
    nothing = Estimate.undefined("there is no such line")
    counts = {action: int(times[actions == action].sum()) for action in ACTIONS}
    return Rates(n, {action: Estimate(count / n) if n else nothing for action, count in counts.items()})


@dataclass(frozen=True)
class ScoreChanges:
    """Counts of drafted scores that people raised, lowered and kept, and the mean change (person minus draft)."""

    n: int
    raised: int
    lowered: int
    unchanged: int
    mean_change: Estimate
    n_left_out: int


def score_changes(score: Any, draft: Any) -> ScoreChanges:
    """Return the changes that people made to drafted scores.

    Parameters
    ----------
    score, draft : the person's and the draft's score of each submission, nan if missing. Submissions
        without both are left out and counted.

    Returns
    -------
    ScoreChanges

    >>> score_changes([3, 4, 5, None], [3, 5, 3, 1])
    ScoreChanges(n=3, raised=1, lowered=1, unchanged=1, mean_change=0.3333333333333333, n_left_out=1)
    """
    moved = parse_vector(score, "score") - parse_vector(draft, "draft")
    kept = moved[~np.isnan(moved)]
    mean = Estimate(kept.mean()) if len(kept) else Estimate.undefined("no submission has both scores")
    return ScoreChanges(
        n=len(kept),
        raised=int((kept > 0).sum()),
        lowered=int((kept < 0).sum()),
        unchanged=int((kept == 0).sum()),
        mean_change=mean,
        n_left_out=len(moved) - len(kept),
    )


MAJORITY = {
    (True, True): "the draft agrees, and the final score agrees",
    (False, True): "the draft differs, and the final score agrees",
    (True, False): "the draft agrees, and the final score differs",
    (False, False): "the draft differs, and the final score differs",
}
"""The classes of ``against_majority``, by whether the draft and the final score are the majority's score."""


def against_majority(assisted: pd.DataFrame, unaided: pd.DataFrame) -> list[dict[str, object]]:
    """Return how often people with the draft agree with the majority of people without it (CoEval paper, table 9).

    A unit has a majority if more than half of its unaided scores, and at least two, are the same.

    Parameters
    ----------
    assisted, unaided : ``unit`` and ``score``; ``assisted`` also ``draft_score``.

    Returns
    -------
    list of dict
        A row for each class of ``MAJORITY``: its ``n``, and its ``rate`` of the ``of`` submissions with a draft's score
        and a majority. No rows if there are none.

    >>> shown = pd.DataFrame({"unit": [1, 1, 2], "score": [4, 3, 5], "draft_score": [3, 3, 5]})
    >>> blind = pd.DataFrame({"unit": [1, 1, 1, 2], "score": [4, 4, 2, 5]})
    >>> [(row["n"], row["of"]) for row in against_majority(shown, blind)]
    [(0, 2), (1, 2), (0, 2), (1, 2)]
    """
    major = _majorities(unaided.dropna(subset=["score"]))
    compared = assisted.dropna(subset=["score", "draft_score"])
    compared = compared[compared["unit"].isin(major.index)]
    wanted = compared["unit"].map(major)
    pairs = Counter(zip(compared["draft_score"] == wanted, compared["score"] == wanted, strict=True))
    of = len(compared)
    return [
        {"behaviour": name, "n": pairs[key], "of": of, "rate": pairs[key] / of}
        for key, name in MAJORITY.items()
        if of
    ]


def _majorities(scores: pd.DataFrame) -> pd.Series[float]:
    """Return the score that more than half of a unit's scores, and at least two, have in common, by unit."""
    counts = scores.groupby(["unit", "score"]).size().rename("n").reset_index()
    total = counts.groupby("unit")["n"].transform("sum")
    return counts[(counts["n"] > 1) & (counts["n"] * 2 > total)].set_index("unit")["score"]


@dataclass(frozen=True)
class Outliers:
    """The scores that differ from the majority of people without the draft.

    ``assisted`` and ``unaided`` are their shares with and without the draft in view. ``reduced`` is the
    relative reduction by the draft: 1 - ``assisted`` / ``unaided``.
    """

    n_assisted: int
    n_unaided: int
    assisted: Estimate
    unaided: Estimate
    reduced: Spelled


def count_outliers(assisted: pd.DataFrame, unaided: pd.DataFrame, clusters: Clusters) -> Outliers:
    """Compare the shares of scores outside the majority with and without the draft (CoEval paper, section 7).

    The majority is that of ``against_majority``. A person without the draft is compared with the majority of
    the others without it, so that their own score does not count towards it.

    Parameters
    ----------
    assisted, unaided : ``unit`` and ``score``, one row per person and unit.
    clusters : the cluster of every unit, by its code.

    >>> shown = pd.DataFrame({"unit": [0, 0, 1, 1], "score": [4, 4, 2, 3]})
    >>> blind = pd.DataFrame({"unit": [0, 0, 0, 1, 1, 1], "score": [4, 4, 1, 2, 2, 5]})
    >>> found = count_outliers(shown, blind, Clusters(np.array([0, 1])))
    >>> found.assisted, found.unaided, found.n_unaided, found.reduced.value
    (0.25, 1.0, 2, 0.75)
    """
    kept = unaided.dropna(subset=["score"]).reset_index(drop=True)
    others = kept.reset_index(names="row").merge(
        kept.reset_index(names="other"), on="unit", suffixes=("_own", "")
    )
    others = others[others["row"] != others["other"]]
    of_others = _majorities(others.assign(unit=others["row"]))
    without = kept.loc[of_others.index, "unit"], kept.loc[of_others.index, "score"] != of_others
    major = _majorities(kept)
    seen = assisted[assisted["unit"].isin(major.index)].dropna(subset=["score"])
    shown = seen["unit"], seen["score"] != seen["unit"].map(major)
    sums = np.hstack(
        [_sums_by_unit(units, outside, len(clusters.code)) for units, outside in (shown, without)]
    )
    used = np.flatnonzero(sums.any(axis=1))
    (a, n_a, b, n_b), table = sums.sum(axis=0), clusters.of(used).sums(sums[used]) if len(used) else sums[:0]
    rates = [
        Estimate(k / n) if n else Estimate.undefined("no such score is on a unit with a majority")
        for k, n in ((a, n_a), (b, n_b))
    ]
    if not b or not n_a:
        reason = "nobody without the draft is outside the majority" if n_b else "no unit has a majority"
        reduced = Estimate.undefined(reason)
    else:
        spread = sums_interval(table, _reduction, clusters.kind)
        if spread["replicates_left_out"]:
            spread |= dict.fromkeys(("ci_low", "ci_high", "se", "bias", "p_value"), np.nan)
            spread["no_interval"] = f"it is undefined without some of the {clusters.kind}"
        reduced = Estimate(_reduction(sums.sum(axis=0)[None, :])[0], **spread)
    return Outliers(int(n_a), int(n_b), rates[0], rates[1], Spelled(reduced))


def _sums_by_unit(units: pd.Series[Any], outside: pd.Series[Any], size: int) -> Numbers:
    """Return for every unit the number of outliers and of scores."""
    codes = units.to_numpy(dtype=np.int64)
    counts = np.bincount(codes, outside.to_numpy(dtype=float), size), np.bincount(codes, minlength=size)
    return np.column_stack(counts).astype(float)


def _reduction(rows: Numbers) -> Numbers:
    return 1 - ratio_of(np.column_stack([ratio_of(rows[:, :2]), ratio_of(rows[:, 2:])]))


# Working time, with and without idle time.

IDLE_SECONDS = 600.0
"""Longer spans, in seconds, are taken to contain a pause."""


@dataclass(frozen=True)
class Seconds:
    """Seconds per submission: for all spans, without the ``n_over_idle`` long spans, and without pauses."""

    mean_seconds: Estimate
    median_seconds: Estimate
    mean_seconds_idle_cut: Estimate
    idle_cut_seconds: float
    n_over_idle: int
    n_active: int
    mean_active_seconds: Estimate


@dataclass(frozen=True)
class MinutesPerSample:
    """One person's minutes on an instance: the sum over its timed criteria."""

    n: int
    mean: Estimate
    median: Estimate
    mean_up_to_15_minutes: Estimate
    mean_up_to_30_minutes: Estimate


@dataclass(frozen=True)
class CriterionTime:
    """Seconds per submission of one criterion, for the ``n`` timed ones."""

    criterion: str
    n: int
    seconds: Seconds = field(metadata=FLAT)


@dataclass(frozen=True)
class TimeSpent:
    """Seconds for each submission and minutes for each sample (one person's whole work on one instance).

    The ``n_untimed`` submissions without times are left out.
    """

    n_timed: int
    n_untimed: int
    seconds: Seconds = field(metadata=FLAT)
    minutes_per_sample: MinutesPerSample
    per_criterion: list[CriterionTime]


def time_spent(spans: pd.DataFrame) -> TimeSpent:
    """Return seconds per submission and minutes per sample (one person's whole work on one instance).

    Parameters
    ----------
    spans : ``annotator, instance, criterion, wall_seconds, active_seconds``, one row per submission; nan if
        untimed. Only untimed submissions are left out and counted, unless a name says otherwise.

    Returns
    -------
    TimeSpent

    >>> spans = pd.DataFrame({"annotator": "a", "instance": [1, 1, 2], "criterion": ["x", "y", "x"],
    ...                       "wall_seconds": [30.0, 90.0, None], "active_seconds": None})
    >>> found = time_spent(spans)
    >>> found.n_timed, found.seconds.mean_seconds, found.minutes_per_sample.mean
    (2, 60.0, 2.0)
    """
    spans = spans[["annotator", "instance", "criterion"]].assign(
        wall_seconds=spans["wall_seconds"].astype(float), active_seconds=spans["active_seconds"].astype(float)
    )
    criteria = [
        CriterionTime(str(name), int(part["wall_seconds"].notna().sum()), _seconds(part))
        for name, part in spans.groupby("criterion", sort=False)
    ]
    timed = int(spans["wall_seconds"].notna().sum())
    return TimeSpent(
        n_timed=timed,
        n_untimed=len(spans) - timed,
        seconds=_seconds(spans),
        minutes_per_sample=_minutes(spans),
        per_criterion=criteria,
    )


def _seconds(spans: pd.DataFrame) -> Seconds:
    wall, active = spans["wall_seconds"].dropna(), spans["active_seconds"].dropna()
    brief = wall[wall <= IDLE_SECONDS]
    return Seconds(
        mean_seconds=_mean(wall),
        median_seconds=_median(wall),
        mean_seconds_idle_cut=_mean(brief),
        idle_cut_seconds=IDLE_SECONDS,
        n_over_idle=len(wall) - len(brief),
        n_active=len(active),
        mean_active_seconds=_mean(active, "active time was not measured"),
    )


def _minutes(spans: pd.DataFrame) -> MinutesPerSample:
    by_sample = spans.groupby(["annotator", "instance"], sort=False)["wall_seconds"]
    minutes = by_sample.sum(min_count=1).dropna() / 60
    return MinutesPerSample(
        n=len(minutes),
        mean=_mean(minutes),
        median=_median(minutes),
        mean_up_to_15_minutes=_mean(minutes[minutes <= 15]),
        mean_up_to_30_minutes=_mean(minutes[minutes <= 30]),
    )


def _mean(values: Any, reason: str = "nothing was timed") -> Estimate:
    return Estimate(float(values.mean())) if len(values) else Estimate.undefined(reason)


def _median(values: Any) -> Estimate:
    return Estimate(float(np.median(values))) if len(values) else Estimate.undefined("nothing was timed")
