"""Agreement with intervals that leave out whole clusters: alpha, its mean over criteria, and other coefficients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from coeval.stats.agreement.alpha import counted, point_alpha, undefined_alpha
from coeval.stats.agreement.patterns import MANY, Level, RatedUnits, alphas_of_coincidences, keep_units
from coeval.stats.agreement.weights import agreement_weights
from coeval.stats.clusters import Clusters, OfSums, cut, draw_sums, jackknife_interval, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings

TENTATIVE = 0.667
ACCEPTABLE = 0.800

Columns = Callable[[Numbers], Numbers]
"""A function from counts (units x categories) to columns to sum over units."""

PLUS_TWO = ", with two units added"
WORTH = 0.6
"""The weight of each added unit. With 1, intervals for 20 to 40 units cover .96-.98; with this, .93-.97."""


@dataclass(frozen=True, eq=False)
class HeldUnits:
    """Units by kind: the number of units of each kind in each cluster.

    A statistic's columns are computed once per kind and multiplied by the number of units: 200,000 units of 250
    kinds need only 250 rows.
    """

    counts: Numbers
    """Kinds x categories: the number of people who gave a unit of the kind each score."""
    held: scipy.sparse.csr_matrix
    """Clusters x kinds: the number of units."""
    what: str
    """The name of a cluster, such as document."""

    @cached_property
    def times(self) -> Numbers:
        """Return the number of units of each kind."""
        return np.asarray(self.held.sum(axis=0), dtype=float).ravel()

    def sums(self, columns: Columns) -> Numbers:
        """Return the sums of a statistic's columns over the units of each cluster (clusters x columns)."""
        return np.asarray(self.held @ columns(self.counts))

    @cached_property
    def is_skewed(self) -> bool:
        """Return whether all people gave the commonest score to more than half of the units."""
        if not len(self.times):
            return False
        commonest = int((self.times @ self.counts).argmax())
        alike = self.counts[:, commonest] == self.counts.sum(axis=1)
        return bool(self.times[alike].sum() / self.times.sum() > 0.5)

    def two_units(self) -> Numbers:
        """Return a unit with agreement on the rarest score, and one split between this score and the commonest."""
        totals = self.times @ self.counts
        raters = max(2, round(float(totals.sum() / self.times.sum())))
        used, commonest = np.flatnonzero(totals), int(totals.argmax())
        rarest = int(used[totals[used].argmin()])
        if rarest == commonest:
            rarest = commonest - 1 if commonest else min(1, self.counts.shape[1] - 1)
        two = np.zeros((2, self.counts.shape[1]))
        two[0, rarest] = raters
        two[1, rarest], two[1, commonest] = raters // 2, raters - raters // 2
        return two


def hold_units(data: Ratings, kept: Any, clusters: Clusters) -> HeldUnits:
    """Return the units marked in ``kept``, by kind and cluster."""
    kinds = data.kinds.among(kept)
    places, shape = (clusters.code, kinds.of_unit), (clusters.n, len(kinds.rows))
    held = scipy.sparse.csr_matrix((np.ones(len(kinds.of_unit)), places), shape=shape)
    return HeldUnits(kinds.rows.astype(float), held, clusters.kind)


@dataclass(frozen=True, eq=False)
class Coefficient:
    """An agreement coefficient as a function of sums over units."""

    columns: Columns
    value: OfSums

    def interval(self, units: HeldUnits, point: float, confidence: float) -> dict[str, Any]:
        """Return the interval over clusters. For skewed scores, two units are added, because it would be too short.

        Agresti and Coull (1998) likewise add two successes and two failures. One added unit agrees on the rarest
        score; the other is split between this score and the commonest. For 20 units with nearly equal ratings,
        the interval of Fleiss' kappa covers .75 without the added units, and .96 with them at weight ``WORTH``.
        """
        sums = units.sums(self.columns)
        if not units.is_skewed:
            spread = sums_interval(sums, self.value, units.what, confidence=confidence, value=point)
            if spread["se"] != 0.0:
                return cut(spread, -np.inf, 1.0)
        wider = np.concatenate([sums, WORTH * self.columns(units.two_units())])
        spread = sums_interval(wider, self.value, units.what, confidence=confidence)
        return cut(spread, -np.inf, 1.0) | {
            "ci_low": float(np.minimum(spread["ci_low"], point)),
            "ci_high": float(np.maximum(np.minimum(spread["ci_high"], 1.0), point)),
            "clusters": len(sums),
            "interval_kind": spread["interval_kind"] + PLUS_TWO,
        }


def alpha_coefficient(values: Numbers, level: Level) -> Coefficient:
    """Return Krippendorff's alpha as a function of pairable ratings per category and coincidences."""
    i, j = np.triu_indices(len(values), 1)
    width = len(values)

    def columns(counts: Numbers) -> Numbers:
        sizes = counts.sum(axis=1, keepdims=True)
        shares = np.divide(2.0, sizes - 1, out=np.zeros(sizes.shape), where=sizes > 1)
        return np.hstack([counts * (sizes > 1), counts[:, i] * counts[:, j] * shares])

    return Coefficient(
        columns, lambda sums: alphas_of_coincidences(values, sums[:, :width], sums[:, width:], level)
    )


def chance_coefficient(
    values: Numbers, weights: str, chance: Callable[[Numbers, Numbers], Numbers]
) -> Coefficient:
    """Return (pa - pe) / (1 - pe). ``chance`` computes pe from each replicate's category shares and the weights."""
    matrix = agreement_weights(weights, values)

    def columns(counts: Numbers) -> Numbers:
        sizes = counts.sum(axis=1)
        paired = sizes > 1
        agreeing = (counts * (counts @ matrix - 1)).sum(axis=1) / np.where(paired, sizes * (sizes - 1), 1)
        shares = counts / np.maximum(sizes, 1)[:, None]
        return np.column_stack([agreeing * paired, paired, sizes > 0, shares])

    def value(sums: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            pa, pe = sums[:, 0] / sums[:, 1], chance(sums[:, 3:] / sums[:, 2:3], matrix)
            return np.where(pe < 1 - 1e-12, (pa - pe) / (1 - pe), np.nan)

    return Coefficient(columns, value)


def _gwet(shares: Numbers, matrix: Numbers) -> Numbers:
    q = len(matrix)
    return np.asarray(matrix.sum() / max(q * (q - 1), 1) * (shares * (1 - shares)).sum(axis=1))


CHANCES: dict[str, tuple[str, Callable[[Numbers, Numbers], Numbers]]] = {
    "ac1": ("identity", _gwet),
    "ac2": ("quadratic", _gwet),
    "percent": ("identity", lambda shares, matrix: np.zeros(len(shares))),
    "fleiss": ("identity", lambda shares, matrix: np.einsum("bi,ij,bj->b", shares, matrix, shares)),
    "brennan_prediger": ("identity", lambda shares, matrix: np.full(len(shares), matrix.mean())),
}
"""The other coefficients of agreement, with their weights and their expected chance agreement."""


def respread(estimates: Mapping[str, Estimate], data: Ratings, clusters: Clusters) -> dict[str, Estimate]:
    """Return the coefficients of ``CHANCES`` with intervals over clusters instead of linearised ones over units."""
    if len(data.categories) > MANY:
        return dict(estimates)
    rated = data.per_unit > 0
    units, spread = hold_units(data, rated, clusters.of(np.flatnonzero(rated))), {}
    for name, estimate in estimates.items():
        coefficient = chance_coefficient(data.numbers, *CHANCES[name])
        found = coefficient.interval(units, float(estimate), 0.95) if estimate.defined else {}
        spread[name] = estimate.having(**(cut(found, 0.0, 1.0) if found and name == "percent" else found))
    return spread


def alpha_levels(
    data: Ratings,
    clusters: Clusters,
    levels: Sequence[Level],
    *,
    replicates: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[Level, Estimate]:
    """Return alpha at several levels, with intervals from leaving out one cluster at a time.

    Parameters
    ----------
    clusters : the clusters of the units of ``data``, in the same order.
    replicates : the number of resamples of clusters for ``p_below_667`` and ``p_below_800``, the shares of
        replicates below these thresholds; 0 for no resampling.

    Returns
    -------
    dict
        ``{level: Estimate}`` as ``krippendorff_alpha``, with the interval of ``jackknife_interval``.
    """
    paired, details = data.per_unit > 1, counted(data)
    part = clusters.of(np.flatnonzero(paired))
    if len(data.categories) > MANY:
        return {level: _of_many_values(data, part, level, details, confidence) for level in levels}
    units, by_level = hold_units(data, paired, part), {}
    drawn: Numbers | None = None
    for level in levels:
        value, named = point_alpha(data, level), details | {"level": level}
        if np.isnan(value):
            by_level[level] = undefined_alpha(named)
            continue
        coefficient = alpha_coefficient(data.numbers, level)
        spread = coefficient.interval(units, value, confidence)
        if drawn is None and replicates:
            drawn = draw_sums(units.sums(coefficient.columns), replicates, seed)
        shares = _shares_below(coefficient.value(drawn)) if drawn is not None else {}
        by_level[level] = Estimate(value, **(named | spread | shares))
    return by_level


def _shares_below(drawn: Numbers) -> dict[str, Any]:
    kept = drawn[~np.isnan(drawn)]
    below = {
        name: float((kept < line).mean()) if len(kept) else np.nan
        for name, line in (("p_below_667", TENTATIVE), ("p_below_800", ACCEPTABLE))
    }
    return {**below, "replicates": len(drawn), "replicates_left_out": len(drawn) - len(kept)}


def _of_many_values(
    data: Ratings, clusters: Clusters, level: Level, details: dict[str, Any], confidence: float
) -> Estimate:
    """Return alpha of near-continuous scores, recomputed without each group of clusters."""
    value, named = point_alpha(data, level), details | {"level": level}
    if np.isnan(value):
        return undefined_alpha(named)
    paired = data.per_unit > 1
    units = RatedUnits(keep_units(data, paired), np.ones(int(paired.sum()), dtype=np.int64))
    group = clusters.groups()
    weights = 1.0 - (group[None, :] == np.arange(int(group.max()) + 1)[:, None])
    spread = jackknife_interval(
        value, units.alphas(weights, level)[0], clusters.kind, confidence=confidence, n=clusters.n
    )
    return Estimate(value, **named, **cut(spread, -np.inf, 1.0), p_below_667=np.nan, p_below_800=np.nan)


def mean_alpha(
    parts: Sequence[Ratings],
    clusters: Sequence[Clusters],
    level: Level = "ordinal",
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean of the criteria's alphas, with an interval that leaves out each cluster of all criteria.

    The pooled alpha would be inflated, because people agree that one criterion scores higher than another.

    Parameters
    ----------
    parts : the ratings of each criterion.
    clusters : the clusters of each criterion's units; the same number means the same document in all criteria.

    Returns
    -------
    Estimate
        With ``n_criteria`` (in the mean), ``n_criteria_left_out`` (alpha undefined) and the interval over clusters.
    """
    known = [
        (data, code)
        for data, code in zip(parts, clusters, strict=True)
        if not np.isnan(point_alpha(data, level)) and len(data.categories) <= MANY
    ]
    details = {"level": level, "n_criteria": len(known), "n_criteria_left_out": len(parts) - len(known)}
    if not known:
        why = [undefined_alpha(counted(data)).reason or "" for data in parts] or ["there is no criterion"]
        return Estimate.undefined(why[0], **details)
    value = float(np.mean([point_alpha(data, level) for data, _ in known]))
    whole, tables, added, places = max(code.n for _, code in known), [], [], []
    for data, code in known:
        paired, coefficient = data.per_unit > 1, alpha_coefficient(data.numbers, level)
        # same numbers as in the other criteria, even if a cluster is missing here
        units = hold_units(data, paired, Clusters(code.code[paired], code.kind))
        table = np.zeros((whole, len(coefficient.columns(units.counts[:1]).T)))
        table[: units.held.shape[0]] = units.sums(coefficient.columns)
        tables.append(table)
        two = WORTH * coefficient.columns(units.two_units())
        added.append(two if units.is_skewed else np.zeros_like(two))
        places.append(coefficient)
    sums = np.hstack(tables)
    sums = np.asarray(sums[sums.any(axis=1)], dtype=float)
    ends = np.cumsum([table.shape[1] for table in tables])[:-1]

    def mean(rows: Numbers) -> Numbers:
        alphas = [place.value(part) for place, part in zip(places, np.split(rows, ends, axis=1), strict=True)]
        return np.asarray(np.mean(alphas, axis=0))

    more = np.hstack(added)
    wider = np.asarray(np.concatenate([sums, more]) if more.any() else sums, dtype=float)
    spread = cut(sums_interval(wider, mean, known[0][1].kind, confidence=confidence), -np.inf, 1.0)
    if len(wider) > len(sums):
        spread["interval_kind"] += PLUS_TWO
    low, high = np.minimum(spread["ci_low"], value), np.maximum(spread["ci_high"], value)
    return Estimate(
        value, **(spread | {"ci_low": float(low), "ci_high": float(high), "clusters": len(sums)}), **details
    )
