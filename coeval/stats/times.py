"""The working time of people, with and without idle time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates import FLAT, Estimate

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
    """The time spent on submissions and samples."""

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


def time_curve(seconds: Any, points: int = 200) -> pd.DataFrame:
    """Return the share of submissions done within each number of seconds, at most ``points`` rows.

    >>> time_curve([10, 20, 20, 40])["share"].tolist()
    [0.25, 0.75, 1.0]
    """
    values = np.sort(pd.Series(seconds, dtype=float).dropna().to_numpy())
    if not len(values):
        return pd.DataFrame({"seconds": [], "share": []}, dtype=float)
    places = np.unique(values[np.unique(np.linspace(0, len(values) - 1, points).round().astype(int))])
    return pd.DataFrame(
        {"seconds": places, "share": np.searchsorted(values, places, side="right") / len(values)}
    )
