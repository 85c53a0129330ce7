"""Clusters of units, which are the real sampling units, and intervals from leaving out one cluster at a time.

Units (an instance and a criterion) are not sampled independently: criteria share an instance, and the instances of
several systems share a document. An interval that treats them as independent is too narrow by half or more. Every
interval of the report therefore leaves out, or resamples, whole clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from coeval.stats.estimates import CONFIDENCE, NO_ERROR, t_limits, t_quantile
from coeval.stats.rating_matrix import Codes, Numbers, renumbered

ROUGH_BELOW = 10
"""With fewer clusters, an interval relies on Student's t alone, and the report says so."""

VERDICT_FROM = 10
"""The smallest number of clusters for a verdict on agreement, or for a plan."""

GROUPS = 50
"""The largest number of groups of clusters to leave out, for statistics that are not sums."""

DOCUMENTS, INSTANCES, UNITS, PEOPLE = "documents", "instances", "units", "people"
OF_BIAS = 0.75
"""The share of the estimated bias that widens an interval. With 1, intervals cover up to .977; with 0, .90."""

ADDED = 0.25
"""The weight of each cluster at an end of the scale. With .5, intervals of 8 documents are half as wide again."""

NO_SPREAD = "every cluster gives the same result, so the variation between clusters is unknown"

OfSums = Callable[[Numbers], Numbers]
"""A function from sums over clusters (replicates x columns) to a statistic of each replicate; nan if undefined."""


def ratio_of(rows: Numbers) -> Numbers:
    """Return the first column divided by the second, such as a mean; nan if the second is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(rows[:, 1] > NO_ERROR, rows[:, 0] / rows[:, 1], np.nan))


def gap_of(rows: Numbers) -> Numbers:
    """Return the ratio of the first two columns minus that of the next two."""
    return ratio_of(rows[:, :2]) - ratio_of(rows[:, 2:])


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters of units: ``code[k]`` is the cluster of unit k, and ``kind`` names the type of cluster."""

    code: Codes
    kind: str = UNITS

    @property
    def n(self) -> int:
        return int(self.code.max()) + 1 if len(self.code) else 0

    def of(self, units: Any) -> Clusters:
        """Return the clusters of the units at these positions (no mask), renumbered so that no cluster is empty."""
        return Clusters(_numbered(self.code[np.asarray(units, dtype=np.int64)]), self.kind)

    def sums(self, table: Numbers) -> Numbers:
        """Return the sums of a table of units x columns, as clusters x columns."""
        table = np.asarray(table, dtype=float).reshape(len(self.code), -1)
        if self.n == len(self.code) and (self.code == np.arange(self.n)).all():
            return table
        columns = [np.bincount(self.code, column, self.n) for column in table.T]
        return np.column_stack(columns) if columns else np.zeros((self.n, 0))

    def groups(self) -> Codes:
        """Return the group of each unit: its cluster if there are few, else one of some groups of clusters.

        There are ``GROUPS`` groups, or as few as 10 for many units, because each group costs time.
        """
        most = int(np.clip(100_000 // max(len(self.code), 1), 10, GROUPS))
        if self.n <= most:
            return self.code
        return self.dealt(most)

    def dealt(self, parts: int) -> Codes:
        """Return the part of each unit: the clusters are assigned at random to parts of nearly equal size."""
        dealt = np.random.default_rng(self.n).permutation(self.n) % min(parts, self.n)
        return np.asarray(dealt[self.code], dtype=np.int64)


def parse_clusters(labels: Any, size: int, kind: str = UNITS) -> Clusters:
    """Return clusters from one label per unit. A unit without a label is a cluster by itself.

    >>> parse_clusters(["a", "b", "a", None], 4).code.tolist(), parse_clusters(None, 2).n
    ([0, 1, 0, 2], 2)
    """
    if isinstance(labels, Clusters):
        if len(labels.code) != size:
            raise ValueError(
                f"There are {size} units and {len(labels.code)} clusters; name one for each unit."
            )
        return labels
    if labels is None:
        return Clusters(np.arange(size), kind)
    named: list[Any] = list(labels)
    if len(named) != size:
        raise ValueError(f"There are {size} units and {len(named)} clusters; name one for each unit.")
    missing = np.asarray(pd.isna(pd.Series(named, dtype=object)))
    keys = [("alone", k) if missing[k] else ("named", label) for k, label in enumerate(named)]
    return Clusters(np.asarray(pd.factorize(pd.Series(keys, dtype=object))[0], dtype=np.int64), kind)


def join_clusters(labels: Any, others: Any, used: Any, used_others: Any) -> tuple[Clusters, Clusters]:
    """Return the clusters of the used units of two samples in one numbering, and those of the first sample alone.

    A label in both samples names the same cluster. ``used`` and ``used_others`` are True for each unit that counts.

    >>> [each.code.tolist() for each in join_clusters(["a", "b"], ["b", "c"], [False, True], [True, True])]
    [[0, 0, 1], [0]]
    """
    named: list[Any] = []
    for side, flags in ((labels, used), (others, used_others)):
        names = [None] * len(flags) if side is None else list(side)
        if len(names) != len(flags):
            raise ValueError(
                f"There are {len(flags)} units and {len(names)} clusters; name one for each unit."
            )
        named += names
    joined = parse_clusters(named, len(named)).of(np.flatnonzero([*used, *used_others]))
    return joined, joined.of(np.arange(int(np.sum(used))))


def _numbered(codes: Codes) -> Codes:
    return renumbered(codes)[1]


def sums_interval(
    sums: Numbers, statistic: OfSums, kind: str, *, confidence: float = CONFIDENCE, value: float | None = None
) -> dict[str, Any]:
    """Return the interval of a statistic of sums over clusters; see ``jackknife_interval``."""
    total = sums.sum(axis=0)
    point = float(statistic(total[None, :])[0]) if value is None else value
    without = statistic(total - sums) if len(sums) > 1 else np.empty(0)
    return jackknife_interval(point, without, kind, confidence=confidence, n=len(sums))


def mean_interval(
    values: Numbers, clusters: Clusters, scale: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Return the interval of a mean over clusters of different sizes.

    Large clusters dominate the mean. The degrees of freedom of Student's t therefore come from the effective number
    of clusters of equal size. ``scale`` has the lowest and the highest value that is possible, such as 0 and 1 for a
    share; see ``bounded_interval``.
    """
    sums = clusters.sums(np.column_stack([values, np.ones(len(values))]))
    spread = sums_interval(sums, ratio_of, clusters.kind)
    freedom = effective_freedom(sums[:, 1])
    if scale is not None:
        return spread | bounded_interval(
            float(np.mean(values)), spread["se"], len(sums), freedom, scale,
            kind=spread["interval_kind"],
        )  # fmt: skip
    if np.isnan(spread["ci_low"]):
        return spread
    t = abs(float(sums[:, 0].sum() / len(values))) / spread["se"]
    return widened(spread, freedom) | {
        "interval_kind": f"{spread['interval_kind']}, with {freedom:.1f} effective degrees of freedom",
        "p_value": 2 * float(scipy.special.stdtr(freedom, -t)),
    }


def bounded_interval(
    value: float,
    se: float,
    n: int,
    freedom: float,
    scale: tuple[float, float],
    *,
    kind: str = "t",
) -> dict[str, Any]:
    """Return the interval of a mean of bounded values over ``n`` clusters: t on the logit scale.

    A mean near an end of its scale has a skewed error. With 8 to 40 documents, for failure rates of 8% or
    scores near the maximum, value -+ t se covers .83-.90, and this interval covers .94-.98. A small sample
    may lack rare values. The error is therefore at least that of the sample with two more clusters, one at
    each end of the scale, each with the weight ``ADDED``.

    Returns
    -------
    dict
        ``ci_low``, ``ci_high``, ``se``, ``bias`` and ``p_value`` (both nan), and ``interval_kind``. If all
        values are at one end of the scale, this end is one limit, ``se`` is nan, and the other limit is the
        mean that gives such a sample with probability (1 - ``CONFIDENCE``) / 2 (Clopper and Pearson 1934).
        The limits are nan for fewer than two clusters.
    """
    low, high = scale
    nothing = dict.fromkeys(("ci_low", "ci_high", "se", "bias", "p_value"), np.nan)
    kind = f"{kind}, on the logit scale"
    share = (value - low) / (high - low)
    if n < 2:
        return nothing | {"interval_kind": kind}
    if not NO_ERROR < share < 1 - NO_ERROR:
        unseen = (high - low) * (1 - ((1 - CONFIDENCE) / 2) ** (1 / (freedom + 1)))
        limits = (low, low + unseen) if share < 0.5 else (high - unseen, high)
        return nothing | {
            "ci_low": limits[0],
            "ci_high": limits[1],
            "interval_kind": f"{kind}, exact at its end",
        }
    total = n + 2 * ADDED
    middle = (n * value + ADDED * (low + high)) / total
    added = ADDED**2 * ((low - middle) ** 2 + (high - middle) ** 2)
    se = max(np.nan_to_num(se), np.sqrt(n**2 * np.nan_to_num(se) ** 2 + added) / total)
    reach = t_limits(0.0, se / (high - low) / (share * (1 - share)), freedom)["ci_high"]
    limits = scipy.special.expit(scipy.special.logit(share) + np.array([-reach, reach]))
    ci_low, ci_high = (low + (high - low) * limits).tolist()
    return nothing | {"ci_low": ci_low, "ci_high": ci_high, "se": float(se), "interval_kind": kind}


def effective_freedom(weights: Numbers) -> float:
    """Return the effective number of clusters of equal weight, (sum)^2 / sum of squares, minus 1; at least 1."""
    return max(float(weights.sum() ** 2 / (weights**2).sum()) - 1, 1.0)


def widened(spread: dict[str, Any], freedom: float) -> dict[str, Any]:
    """Return a jackknife interval widened to ``freedom`` degrees of freedom of Student's t."""
    few = spread["clusters"] - 1
    more = float(t_quantile(freedom) - t_quantile(few)) * spread["se"]
    return spread | {
        "ci_low": spread["ci_low"] - max(more, 0.0),
        "ci_high": spread["ci_high"] + max(more, 0.0),
    }


def jackknife_interval(
    value: float, without: Numbers, kind: str, *, confidence: float = CONFIDENCE, n: int | None = None
) -> dict[str, Any]:
    """Return Tukey's interval from a statistic without each cluster or group of clusters, widened by its bias.

    The interval is value -+ t(C - 1) se, with one end moved outwards by most of the jackknife's estimate of the bias:
    alpha of few clusters is low, because they also determine its chance agreement. In simulations of 8 to 50
    documents and one to four systems, it covers .92-.97, and the bootstrap's percentiles cover .71-.93 (see the
    benchmark ``coverage``).

    Parameters
    ----------
    value : the statistic of all data.
    without : the statistic without each cluster, nan if undefined.
    kind : the name of a cluster, for ``interval_kind``.
    n : the number of clusters, if ``without`` leaves out groups of them.

    Returns
    -------
    dict
        ``ci_low``, ``ci_high``, ``se``, ``bias``, ``p_value`` (two-sided, against 0; the interval excludes 0 if it
        is below 1 - confidence), ``interval_kind``, ``resampled``, ``clusters``, ``confidence``, ``replicates`` (the
        number of values in ``without``) and ``replicates_left_out`` (the number that are undefined). The
        limits are nan if fewer than two values are defined, or all are equal; ``no_interval`` is then the reason.
    """
    kept = without[~np.isnan(without)]
    size = len(kept)
    dealt = f" in {len(without)} groups" if n is not None and n > len(without) > 0 else ""
    details: dict[str, Any] = {
        "interval_kind": f"jackknife over {kind}{dealt}, t",
        "resampled": kind,
        "clusters": len(without) if n is None else n,
        "replicates": len(without),
        "replicates_left_out": len(without) - size,
        "confidence": confidence,
    }
    nothing = dict.fromkeys(("ci_low", "ci_high", "se", "bias", "p_value"), np.nan)
    if size < 2 or np.isnan(value):
        return details | nothing | {"no_interval": f"fewer than two {kind} can be left out"}
    mean = float(kept.mean())
    se = float(np.sqrt((size - 1) / size * ((kept - mean) ** 2).sum()))
    if se <= NO_ERROR:
        return details | nothing | {"no_interval": NO_SPREAD}
    bias = (size - 1) * (mean - value)
    low, high = sorted((value, value - OF_BIAS * bias))
    half = float(t_quantile(size - 1, confidence)) * se
    reach = low if low > 0 else min(high, 0.0)
    return details | {
        "ci_low": low - half,
        "ci_high": high + half,
        "se": se,
        "bias": bias,
        "p_value": 2 * float(scipy.special.stdtr(size - 1, -abs(reach) / se)),
    }


def fisher_interval(value: float, without: Numbers, kind: str, *, n: int | None = None) -> dict[str, Any]:
    """Return the interval of a correlation: ``jackknife_interval`` on Fisher's scale, atanh r, and back.

    The error of a correlation shrinks as it nears 1. On the correlation's own scale, intervals of 8 to 20 documents
    cover .87-.94; on Fisher's scale, .92-.97. ``se`` and ``bias`` are on the correlation's own scale.
    """
    plain = jackknife_interval(value, without, kind, n=n)
    spread = jackknife_interval(_to_fisher(value), _to_fisher(without), kind, n=n)
    return spread | {
        "ci_low": float(np.minimum(np.tanh(spread["ci_low"]), value)),
        "ci_high": float(np.maximum(np.tanh(spread["ci_high"]), value)),
        "se": plain["se"],
        "bias": plain["bias"],
        "interval_kind": f"{plain['interval_kind']}, on Fisher's scale",
    }


def _to_fisher(values: Any) -> Any:
    """Return atanh of the values; -1 and 1 are moved slightly inwards, because their atanh is infinite."""
    return np.arctanh(np.clip(values, -1 + 1e-6, 1 - 1e-6))


def drawn_interval(value: float, drawn: Numbers, kind: str, *, n: int) -> dict[str, Any]:
    """Return an interval for a statistic that jumps when one cluster is left out, such as a rank correlation.

    The jackknife fails there. The half-width is t(n - 1) standard deviations of ``drawn``, the values from resampled
    clusters; nan among them are skipped and counted. As with the jackknife, the interval is for the statistic of this
    number of clusters.
    """
    kept = drawn[~np.isnan(drawn)]
    se = float(kept.std(ddof=1)) if len(kept) > 1 and n > 1 else np.nan
    df = max(n - 1, 1)
    usable = se if se > NO_ERROR else np.nan
    return {
        "interval_kind": f"bootstrap over {kind}, t, of as many {kind}",
        "resampled": kind,
        "clusters": n,
        "replicates": len(drawn),
        "replicates_left_out": len(drawn) - len(kept),
        "confidence": CONFIDENCE,
        **t_limits(value, usable, df),
        "p_value": 2 * float(scipy.special.stdtr(df, -abs(value) / usable)),
    }


def cut(spread: dict[str, Any], low: float, high: float) -> dict[str, Any]:
    """Return the interval, cut to the statistic's range."""
    return spread | {
        "ci_low": float(np.maximum(spread["ci_low"], low)),
        "ci_high": float(np.minimum(spread["ci_high"], high)),
    }


def crossed_interval(
    value: float,
    by_cluster: dict[str, Any],
    by_people: dict[str, Any],
    by_both: dict[str, Any],
) -> dict[str, Any]:
    """Return an interval that applies to other clusters and other people.

    The variance is that over clusters plus that over people, minus the variance over each person's work on
    each cluster, which both include (Cameron, Gelbach and Miller 2011). It is never smaller than either of
    the first two. Student's t has the degrees of freedom of the smaller number.

    Each ``by_`` argument is the result of a jackknife, of which ``se`` and ``clusters`` are read. In ``by_people``,
    ``clusters`` is the number of people.

    Returns
    -------
    dict
        ``people_ci_low``, ``people_ci_high``, ``people`` (their number). The limits are nan for fewer than two people.
    """
    people, clusters = by_people["clusters"], by_cluster["clusters"]
    of_cluster, of_people, of_both = (part["se"] ** 2 for part in (by_cluster, by_people, by_both))
    se = float(np.sqrt(np.max([of_cluster + of_people - of_both, of_cluster, of_people])))
    spread = t_limits(value, se, min(people, clusters) - 1)
    return {"people_ci_low": spread["ci_low"], "people_ci_high": spread["ci_high"], "people": people}
