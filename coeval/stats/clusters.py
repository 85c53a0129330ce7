"""Clusters of units, the real sampling units, and intervals from leaving them out one by one.

Units (an instance by a criterion) are not drawn one by one: criteria share an instance, and instances by several
systems share a document. An interval that takes them for independent is too narrow, by a half and more. Every interval
of the report therefore leaves out, or draws anew, a whole cluster with all that hangs on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from coeval.stats.rating_matrix import Codes, Numbers, renumbered

FEW = 10
"""With fewer clusters, an interval relies on Student's t alone, and the report says so."""

GROUPS = 50
"""Statistics that are not sums are recomputed without each of at most this many groups of clusters."""

DRAWN = 500
"""Largest number of clusters that are drawn one by one."""

DOCUMENTS, INSTANCES, UNITS, PEOPLE, SYSTEMS = "documents", "instances", "units", "people", "systems"
OF_BIAS = 0.75
"""The share of the estimated bias that widens an interval. With all, intervals cover up to .977; with none, .90."""

NO_SPREAD = "every cluster gives the same result, so the variation between clusters is unknown"

OfSums = Callable[[Numbers], Numbers]
"""A function from sums over clusters (replicates x columns) to a statistic of each replicate; nan if undefined."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The units that were sampled together: ``code[k]`` is the cluster of unit k; ``kind`` names the type."""

    code: Codes
    kind: str = UNITS

    @property
    def n(self) -> int:
        return int(self.code.max()) + 1 if len(self.code) else 0

    def of(self, units: Any) -> Clusters:
        """Return the clusters of some of the units, renumbered, without empty clusters."""
        return Clusters(_numbered(self.code[np.asarray(units, dtype=np.int64)]), self.kind)

    def sums(self, table: Numbers) -> Numbers:
        """Return clusters x columns: the sums of a table of units x columns."""
        table = np.asarray(table, dtype=float).reshape(len(self.code), -1)
        if self.n == len(self.code) and (self.code == np.arange(self.n)).all():
            return table
        columns = [np.bincount(self.code, column, self.n) for column in table.T]
        return np.column_stack(columns) if columns else np.zeros((self.n, 0))

    def groups(self, most: int = 0) -> Codes:
        """Return the group of each unit: its cluster if there are few, else one of ``most`` groups of clusters.

        Without ``most`` they are ``GROUPS``, and down to 10 where each would cost much.
        """
        most = most or int(np.clip(100_000 // max(len(self.code), 1), 10, GROUPS))
        if self.n <= most:
            return self.code
        dealt = np.random.default_rng(self.n).permutation(self.n) % most
        return np.asarray(dealt[self.code], dtype=np.int64)


def parse_clusters(labels: Any, size: int, kind: str = UNITS) -> Clusters:
    """Return one label per unit as clusters; a missing label is a cluster of its own.

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


def _numbered(codes: Codes) -> Codes:
    return renumbered(codes)[1]


def sums_interval(
    sums: Numbers, statistic: OfSums, kind: str, *, confidence: float = 0.95, value: float | None = None
) -> dict[str, Any]:
    """Return the interval of a statistic of sums over clusters; see ``jackknife_interval``."""
    total = sums.sum(axis=0)
    point = float(statistic(total[None, :])[0]) if value is None else value
    without = statistic(total - sums) if len(sums) > 1 else np.empty(0)
    return jackknife_interval(point, without, kind, confidence=confidence, n=len(sums))


def mean_interval(values: Numbers, clusters: Clusters) -> dict[str, Any]:
    """Return the interval of a mean over clusters of different sizes.

    Large clusters carry more of the mean, so that Student's t has the degrees of freedom of as many clusters of equal
    size as carry the same information: (sum of sizes)^2 / sum of squared sizes.
    """
    sums = clusters.sums(np.column_stack([values, np.ones(len(values))]))
    spread = sums_interval(sums, lambda rows: rows[:, 0] / rows[:, 1], clusters.kind)
    if np.isnan(spread["ci_low"]):
        return spread
    freedom = max(len(values) ** 2 / float((sums[:, 1] ** 2).sum()) - 1, 1.0)
    wider = (scipy.special.stdtrit(freedom, 0.975) - scipy.special.stdtrit(len(sums) - 1, 0.975)) * spread[
        "se"
    ]
    t = abs(float(sums[:, 0].sum() / len(values))) / spread["se"]
    return spread | {
        "interval_kind": f"{spread['interval_kind']}, with {freedom:.1f} effective degrees of freedom",
        "ci_low": spread["ci_low"] - float(wider),
        "ci_high": spread["ci_high"] + float(wider),
        "p_value": 2 * float(scipy.special.stdtr(freedom, -t)),
    }


def jackknife_interval(
    value: float, without: Numbers, kind: str, *, confidence: float = 0.95, n: int | None = None
) -> dict[str, Any]:
    """Return Tukey's interval from a statistic without each cluster or group of clusters, widened by its bias.

    value -+ t(C - 1) se, moved outwards on one side by most of the jackknife's estimate of the bias: alpha of few
    clusters is low, since its chance agreement is measured on them too. In simulations of 8 to 50 documents by one to
    four systems it covers .92-.97 where the bootstrap's percentiles cover .71-.93 (see the benchmark ``coverage``).

    Parameters
    ----------
    value : the statistic of everything.
    without : the statistic without each cluster, nan if undefined.
    kind : what a cluster is, for ``interval_kind``.
    n : how many clusters there are, where ``without`` leaves out groups of them.

    Returns
    -------
    dict
        ``ci_low``, ``ci_high``, ``se``, ``bias``, ``p_value`` (two-sided, against 0; the interval excludes 0 if it
        is below 1 - confidence), ``interval_kind``, ``resampled``, ``clusters``, ``confidence``, ``replicates`` (how
        often something was left out) and ``replicates_left_out`` (without which it is undefined); the numbers are nan
        where fewer than two clusters leave it defined, or none changes it.
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
        return details | nothing
    mean = float(kept.mean())
    se = float(np.sqrt((size - 1) / size * ((kept - mean) ** 2).sum()))
    if se <= 1e-12:
        return details | nothing | {"se": 0.0}
    bias = (size - 1) * (mean - value)
    low, high = sorted((value, value - OF_BIAS * bias))
    half = float(scipy.special.stdtrit(size - 1, (1 + confidence) / 2)) * se
    reach = low if low > 0 else min(high, 0.0)
    return details | {
        "ci_low": low - half,
        "ci_high": high + half,
        "se": se,
        "bias": bias,
        "p_value": 2 * float(scipy.special.stdtr(size - 1, -abs(reach) / se)),
    }


def fisher_interval(
    value: float, without: Numbers, kind: str, *, confidence: float = 0.95, n: int | None = None
) -> dict[str, Any]:
    """Return the interval of a correlation: ``jackknife_interval`` on Fisher's scale, atanh r, and back.

    Correlations crowd towards 1, and their error shrinks as they do. On their own scale intervals of 8 to 20 documents
    cover .87-.94, on this one .92-.97. ``se`` and ``bias`` are those on the correlation's own scale.
    """
    plain = jackknife_interval(value, without, kind, confidence=confidence, n=n)
    spread = jackknife_interval(_to_fisher(value), _to_fisher(without), kind, confidence=confidence, n=n)
    return spread | {
        "ci_low": float(np.minimum(np.tanh(spread["ci_low"]), value)),
        "ci_high": float(np.maximum(np.tanh(spread["ci_high"]), value)),
        "se": plain["se"],
        "bias": plain["bias"],
        "interval_kind": f"{plain['interval_kind']}, on Fisher's scale",
    }


def _to_fisher(values: Any) -> Any:
    """Return the values as atanh; values of 1 are replaced by almost 1, because theirs is infinite."""
    return np.arctanh(np.clip(values, -1 + 1e-6, 1 - 1e-6))


def drawn_interval(
    value: float, drawn: Numbers, kind: str, *, confidence: float = 0.95, n: int, holding: int | None = None
) -> dict[str, Any]:
    """Return value -+ t(n - 1) sd of the values of resampled clusters, for a statistic that jumps.

    A correlation of ranks changes by leaps when one cluster is left out, so that the jackknife errs; the clusters drawn
    again together do not. Both speak of the statistic of as many clusters as there are. ``drawn`` may hold nan.
    ``holding``, the number of clusters that contain the rarer of two arms, replaces ``n`` in the degrees of freedom.
    """
    kept = drawn[~np.isnan(drawn)]
    se = float(kept.std(ddof=1)) if len(kept) > 1 and n > 1 else np.nan
    df = max((holding or n) - 1, 1)
    half = float(scipy.special.stdtrit(df, (1 + confidence) / 2)) * se if se > 1e-12 else np.nan
    return {
        "interval_kind": f"bootstrap over {kind}, t, of as many {kind}",
        "resampled": kind,
        "clusters": n,
        "replicates": len(drawn),
        "replicates_left_out": len(drawn) - len(kept),
        "confidence": confidence,
        "ci_low": value - half,
        "ci_high": value + half,
        "se": se,
        "p_value": 2 * float(scipy.special.stdtr(df, -abs(value) / se)) if se > 1e-12 else np.nan,
    }


def group_interval(
    statistic: Callable[[Codes], float],
    clusters: Clusters,
    value: float,
    *,
    confidence: float = 0.95,
    ceiling: float | None = None,
) -> dict[str, Any]:
    """Return the interval of any statistic, recomputed from the remaining units without each group of clusters.

    Parameters
    ----------
    statistic : from places of units to the statistic's value, nan if undefined.
    ceiling : the statistic's largest value, such as 1 for a correlation; its negative is then the smallest.
    """
    group = clusters.groups()
    names = range(int(group.max()) + 1) if len(group) else range(0)
    without = np.array([statistic(np.flatnonzero(group != name)) for name in names])
    spread = jackknife_interval(value, without, clusters.kind, confidence=confidence, n=clusters.n)
    return spread if ceiling is None else cut(spread, -ceiling, ceiling)


def cut(spread: dict[str, Any], low: float, high: float) -> dict[str, Any]:
    """Return the interval within the statistic's own range."""
    return spread | {
        "ci_low": float(np.maximum(spread["ci_low"], low)),
        "ci_high": float(np.minimum(spread["ci_high"], high)),
    }


def draw_sums(sums: Numbers, replicates: int, seed: int) -> Numbers:
    """Return replicates x columns: the sums over as many clusters as exist, drawn with replacement.

    More than ``DRAWN`` clusters are first dealt into that many groups, which are drawn: the sums vary alike.
    """
    if len(sums) > DRAWN:
        sums = Clusters(np.random.default_rng(seed).permutation(len(sums)) % DRAWN).sums(sums)
    rng, size = np.random.default_rng(seed), len(sums)
    block = max(1, 2_000_000 // max(size, 1))
    parts = [np.empty((0, sums.shape[1]))]
    for start in range(0, replicates, block):
        rows = min(block, replicates - start)
        drawn = rng.integers(0, size, (rows, size)) + np.arange(rows)[:, None] * size
        weights = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        parts.append(weights @ sums)
    return np.concatenate(parts)


def crossed_interval(
    value: float,
    by_cluster: dict[str, Any],
    by_people: dict[str, Any],
    by_both: dict[str, Any],
    *,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return the interval that also speaks of other people: both sources of chance, t with the fewer's
    degrees of freedom.

    The variances over clusters and over people add up, less what both count: the variance over each person's work on
    each cluster (Cameron, Gelbach and Miller 2011). It is never below either of the two.

    Returns
    -------
    dict
        ``people_ci_low``, ``people_ci_high``, ``people`` (how many); nan under two people.
    """
    people, clusters = by_people["clusters"], by_cluster["clusters"]
    of_cluster, of_people, of_both = (part["se"] ** 2 for part in (by_cluster, by_people, by_both))
    se = float(np.sqrt(np.max([of_cluster + of_people - of_both, of_cluster, of_people])))
    df = min(people, clusters) - 1
    half = float(scipy.special.stdtrit(df, (1 + confidence) / 2)) * se if df > 0 else np.nan
    return {"people_ci_low": value - half, "people_ci_high": value + half, "people": people}
