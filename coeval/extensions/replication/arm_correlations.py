"""Correlations in two arms, and the correlation of each person's scores with a column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.arm_contrasts import Arms, Contrast, spread_over_people
from coeval.stats.clusters import PEOPLE, Clusters, OfSums, sums_interval
from coeval.stats.estimates import Estimate, t_limits
from coeval.stats.judges.vector_correlation import correlate
from coeval.stats.rating_matrix import Numbers

ARMS = Arms()
FEWEST = 5
"""The smallest number of scores for a person's own correlation."""


def contrast_correlations(rows: pd.DataFrame, x: str, y: str, arms: Arms = ARMS) -> Contrast:
    """Return the difference of Pearson's r between two arms: the mean over criteria, jackknifed over clusters.

    Parameters
    ----------
    rows : ``arm``, ``cluster``, the columns, and ``criterion`` if there are several: one row per unit and arm.

    >>> rows = pd.DataFrame({"arm": ["assisted"] * 4 + ["blind"] * 4, "cluster": [0, 1, 2, 3] * 2,
    ...                      "x": [1, 2, 3, 4, 1, 2, 3, 4], "y": [1, 2, 3, 4, 4, 3, 2, 1]})
    >>> float(contrast_correlations(rows, "x", "y").difference)
    2.0
    """
    pairs = rows[rows["arm"].isin((arms.shown, arms.other))].dropna(subset=[x, y])
    if not len(pairs):
        return Contrast.undefined("these arms have no measured values")
    cluster = Clusters(pd.factorize(pairs["cluster"])[0], arms.kind)
    names = pairs["criterion"] if "criterion" in pairs else pd.Series(0, pairs.index)
    blocks, counts = [], []
    for criterion in names.unique():
        of_criterion = (names == criterion).to_numpy()
        for arm in (arms.shown, arms.other):
            kept = of_criterion & (pairs["arm"] == arm).to_numpy()
            a, b = (pairs[name].to_numpy(dtype=float) for name in (x, y))
            # centred, so that sums of squares keep their precision
            a, b = (np.where(kept, side - side[kept].mean() if kept.any() else 0.0, 0.0) for side in (a, b))
            blocks.append(np.column_stack([kept, a, b, a * a, b * b, a * b]))
            counts.append(int(kept.sum()))
    sums = cluster.sums(np.hstack(blocks))
    values: list[Estimate] = []
    of: list[OfSums] = [
        lambda table: _mean_known(_pearsons(table)[:, ::2] - _pearsons(table)[:, 1::2]),
        lambda table: _mean_known(_pearsons(table)[:, ::2]),
        lambda table: _mean_known(_pearsons(table)[:, 1::2]),
    ]
    for statistic in of:
        point = float(statistic(sums.sum(axis=0)[None, :])[0])
        if math.isnan(point):
            return Contrast.undefined("the scores of an arm are all the same, or too few")
        values.append(Estimate(point, **sums_interval(sums, statistic, arms.kind)))
    n = {"n_shown": sum(counts[::2]), "n_other": sum(counts[1::2])}
    return Contrast(values[0].having(**n), values[1], values[2])


def _pearsons(rows: Numbers) -> Numbers:
    """Return replicates x blocks: Pearson's r from the sums of each block."""
    n, a, b, aa, bb, ab = np.moveaxis(rows.reshape(len(rows), -1, 6), 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (aa - a * a / n) * (bb - b * b / n)
        return np.asarray((ab - a * b / n) / np.sqrt(np.where(spread > 1e-9, spread, np.nan)))


def _mean_known(values: Numbers) -> Numbers:
    """Return the mean of each row over its defined values; nan if it has none."""
    there = ~np.isnan(values)
    means = np.full(len(values), np.nan)
    np.divide(np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1), out=means, where=there.any(axis=1))
    return means


def contrast_people(
    rows: pd.DataFrame,
    column: str,
    arms: Arms = ARMS,
    *,
    method: str = "spearman",
) -> Contrast:
    """Return how much the mean correlation of people's scores with a column differs between two arms.

    People with both arms are compared with themselves (paired t). If fewer than two have both, Welch's t compares
    people.
    """
    scored = rows[rows["arm"].isin((arms.shown, arms.other))].dropna(subset=["score", column])
    by_arm: dict[str, dict[Any, float]] = {arms.shown: {}, arms.other: {}}
    for key, part in scored.groupby(["annotator", "arm"], observed=True):
        name, arm = key[0], str(key[1])
        if len(part) < FEWEST:
            continue
        r = correlate(part["score"].to_numpy(dtype=float), part[column].to_numpy(dtype=float), method)
        if not np.isnan(r):
            by_arm[arm][name] = r
    in_both = [name for name in by_arm[arms.shown] if name in by_arm[arms.other]]
    sides = [
        np.array([of_arm[name] for name in (in_both if len(in_both) > 1 else of_arm)])
        for of_arm in (by_arm[arms.shown], by_arm[arms.other])
    ]
    if min(map(len, sides)) < 2:
        return Contrast.undefined(f"fewer than two people have {FEWEST} scores that differ in each arm")
    means = [float(side.mean()) for side in sides]
    if len(in_both) > 1:
        spread = spread_over_people(sides[0] - sides[1])
        low, high = spread["people_ci_low"], spread["people_ci_high"]
        how = "Student's t over people's own differences"
    else:
        low, high = _welch(sides[0], sides[1])
        how = "Welch's t over people"
    details = {"ci_low": low, "ci_high": high, "interval_kind": how, "resampled": PEOPLE}
    difference = Estimate(
        means[0] - means[1],
        **details,
        clusters=len(in_both) if len(in_both) > 1 else len({*by_arm[arms.shown], *by_arm[arms.other]}),
    )
    shown, other = (Estimate(mean, people=len(side)) for mean, side in zip(means, sides, strict=True))
    return Contrast(difference, shown, other, len(in_both) > 1)


def _welch(a: Numbers, b: Numbers) -> tuple[float, float]:
    """Return the confidence limits of the difference between two means with unequal variances (Welch 1947)."""
    parts = [float(side.var(ddof=1)) / len(side) for side in (a, b)]
    total = sum(parts)
    middle = float(a.mean() - b.mean())
    if not total > 0:
        return math.nan, math.nan
    df = total**2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
    spread = t_limits(middle, math.sqrt(total), df)
    return spread["ci_low"], spread["ci_high"]
