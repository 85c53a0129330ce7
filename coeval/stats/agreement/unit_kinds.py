"""Units by kind, and Krippendorff's alpha in closed form for any number of different scores.

Agreement depends only on how many annotators gave each score to a unit, so units with equal counts are one kind. Every
statistic here is a function of the number of units of each kind, which are its weights: leaving out a document, or
drawing documents again, changes only the weights. 6 annotators and 5 points make at most 456 kinds, for any number of
units. With near-continuous scores nearly every unit is a kind of its own, and nothing else differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import scipy

from coeval.stats.clusters import GROUPS, Clusters, cut, jackknife_interval
from coeval.stats.rating_matrix import Numbers, Ratings

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)

MANY = 40
"""The largest number of different scores whose pairs are tabulated, for pairs of raters and chance-corrected kappas."""

CELLS = 2_000_000
"""The largest number of values in one block of weights. It only limits memory."""

LARGE = 5_000_000
"""The largest product of clusters with kinds and scores for which single clusters are left out, not groups of them."""

PLUS_TWO = ", with two units added"
WORTH = 0.6
"""The weight of each added unit. With 1, intervals for 20 to 40 units cover .96-.98; with this, .93-.97."""


def check_level(level: str) -> Level:
    """Return the level; raise ValueError if it is unknown."""
    for name in LEVELS:
        if level == name:
            return name
    raise ValueError(f"There is no level of measurement {level!r}; choose one of: {', '.join(LEVELS)}.")


@dataclass(frozen=True, eq=False)
class UnitKinds:
    """Kinds of units: the scores of each kind, and the number of its units in each cluster."""

    counts: scipy.sparse.csr_matrix
    """Kinds x scores: the number of annotators who gave a unit of the kind each score."""
    values: Numbers
    """The scores as numbers, ascending."""
    held: scipy.sparse.csr_matrix
    """Clusters x kinds: the number of units."""
    clusters: int
    """The number of clusters, also if ``held`` has groups of them."""
    kind: str
    """The name of a cluster, such as documents."""

    @classmethod
    def of(cls, data: Ratings, kept: Any, clusters: Clusters) -> UnitKinds:
        """Return the kinds of the units marked in ``kept``, whose clusters are ``clusters``."""
        if len(data.categories) <= MANY:
            kinds = data.kinds.among(kept)
            counts, of_unit = scipy.sparse.csr_matrix(kinds.rows.astype(float)), kinds.of_unit
        else:
            of_unit, place = np.arange(int(kept.sum())), np.cumsum(kept) - 1
            rated = kept[data.unit]
            cells = np.ones(int(rated.sum())), (place[data.unit[rated]], data.code[rated])
            counts = scipy.sparse.csr_matrix(cells, shape=(len(of_unit), len(data.categories)))
        cells = np.ones(len(of_unit)), (clusters.code, of_unit)
        held = scipy.sparse.csr_matrix(cells, shape=(clusters.n, counts.shape[0]))
        return cls(counts, data.numbers, held, clusters.n, clusters.kind)

    @classmethod
    def of_pairs(cls, values: Numbers) -> UnitKinds:
        """Return one kind for each pair of scores of two raters. The raters' table of counts is the kinds' weights."""
        width = len(values)
        first, second = (place.ravel() for place in np.indices((width, width)))
        place = np.tile(np.arange(width**2), 2)
        cells = np.ones(2 * width**2), (place, np.concatenate([first, second]))
        counts = scipy.sparse.csr_matrix(cells, shape=(width**2, width))
        return cls(counts, values, scipy.sparse.csr_matrix((0, width**2)), 0, "")

    @cached_property
    def sizes(self) -> Numbers:
        """Return the number of ratings of a unit of each kind."""
        return np.asarray(self.counts.sum(axis=1), dtype=float).ravel()

    @cached_property
    def times(self) -> Numbers:
        """Return the number of units of each kind."""
        return np.asarray(self.held.sum(axis=0), dtype=float).ravel()

    # Alpha

    def alphas(self, weights: Numbers, level: Level) -> Numbers:
        """Return alpha for each row of weights (rows x kinds); nan if all ratings are the same.

        alpha = 1 - (n - 1) sum(o_ck d_ck) / sum(n_c n_k d_ck), where o are the coincidences, n_c the ratings with
        score c, and d the squared distance (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability). Squared
        differences need no table of all pairs: over the c_k ratings of a unit with m ratings, their sum is
        2 (m sum(x^2) - sum(x)^2). Ordinal distances are squared differences of mid-ranks.

        Every kind must have two ratings or more.
        """
        width = max(self.counts.shape)
        block = max(1, CELLS // max(width, 1))
        parts = [self._alphas(weights[at : at + block], level) for at in range(0, len(weights), block)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _alphas(self, weights: Numbers, level: Level) -> Numbers:
        ratings = np.asarray((self.counts.T @ weights.T).T)
        n = ratings.sum(axis=1)
        if level == "nominal":
            observed = weights @ self._mismatches
            expected = n**2 - (ratings**2).sum(axis=1)
        else:
            places = self.values[None, :] - self.values.mean()
            if level == "ordinal":
                places = np.cumsum(ratings, axis=1) - (ratings + n[:, None]) / 2
            observed = (weights * self._spread(places)).sum(axis=1)
            means = (ratings * places).sum(axis=1, keepdims=True) / np.maximum(n, 1e-300)[:, None]
            expected = 2 * n * (ratings * (places - means) ** 2).sum(axis=1)
        varies = (np.count_nonzero(ratings, axis=1) > 1) & (expected > 0)
        return np.asarray(
            1 - np.divide((n - 1) * observed, expected, out=np.full(len(n), np.nan), where=varies)
        )

    @cached_property
    def _mismatches(self) -> Numbers:
        """Return the number of pairs of different scores in a unit of each kind, divided by m - 1."""
        equal = np.asarray(self.counts.multiply(self.counts).sum(axis=1), dtype=float).ravel()
        return np.asarray((self.sizes**2 - equal) / np.maximum(self.sizes - 1, 1))

    def _spread(self, places: Numbers) -> Numbers:
        """Return the sum of squared differences in a unit of each kind, divided by m - 1 (rows x kinds)."""
        sums, squares = ((self.counts @ part.T).T for part in (places, places**2))
        return np.asarray(
            2 * np.maximum(self.sizes * squares - sums**2, 0) / np.maximum(self.sizes - 1, 1), dtype=float
        )

    # Weights without each cluster

    def without_each(self, statistic: Statistic) -> Numbers:
        """Return the statistic without each cluster."""
        rows, total = self.held.shape[0], self.times
        block = max(1, CELLS // max(self.held.shape[1], 1))
        parts = [np.empty(0)]
        for start in range(0, rows, block):
            parts.append(statistic(self, total - self.held[start : start + block].toarray()))
        return np.concatenate(parts)

    # Two more units, for scores that are few and skewed

    @cached_property
    def is_skewed(self) -> bool:
        """Return whether all people gave the commonest score to more than half of the units."""
        if not len(self.times):
            return False
        commonest = int((self.counts.T @ self.times).argmax())
        alike = self.counts[:, [commonest]].toarray().ravel() == self.sizes
        return bool(self.times[alike].sum() / self.times.sum() > 0.5)

    def two_units(self) -> Numbers:
        """Return a unit with agreement on the rarest score, and one split between this score and the commonest."""
        totals = np.asarray(self.counts.T @ self.times)
        raters = max(2, round(float(totals.sum() / self.times.sum())))
        used, commonest = np.flatnonzero(totals), int(totals.argmax())
        rarest = int(used[totals[used].argmin()])
        if rarest == commonest:
            rarest = commonest - 1 if commonest else min(1, len(totals) - 1)
        two = np.zeros((2, len(totals)))
        two[0, rarest] = raters
        two[1, rarest], two[1, commonest] = raters // 2, raters - raters // 2
        return two

    def with_two_units(self) -> UnitKinds:
        """Return the kinds with the two units, each a cluster that counts ``WORTH``."""
        return replace(
            self,
            counts=scipy.sparse.csr_matrix(scipy.sparse.vstack([self.counts, self.two_units()])),
            held=scipy.sparse.csr_matrix(scipy.sparse.block_diag([self.held, WORTH * np.eye(2)])),
        )


Statistic = Callable[[UnitKinds, Numbers], Numbers]
"""A function from kinds of units and weights (rows x kinds) to a value for each row; nan if undefined."""


def grouped(several: Sequence[UnitKinds]) -> list[UnitKinds]:
    """Return the kinds, with many clusters pooled into ``GROUPS`` random groups to save time."""
    clusters = several[0].held.shape[0]
    width = max(sum(units.counts.shape) for units in several)
    if clusters * width <= LARGE or clusters <= GROUPS:
        return list(several)
    return [replace(units, held=_dealt(units.held, GROUPS, clusters)) for units in several]


def _dealt(held: scipy.sparse.csr_matrix, parts: int, seed: int) -> scipy.sparse.csr_matrix:
    """Return the clusters dealt into parts of equal size, in a random order."""
    group = np.random.default_rng(seed).permutation(held.shape[0]) % parts
    cells = np.ones(len(group)), (group, np.arange(len(group)))
    return scipy.sparse.csr_matrix(scipy.sparse.csr_matrix(cells, shape=(parts, len(group))) @ held)


def clustered_interval(units: UnitKinds, statistic: Statistic, point: float) -> dict[str, Any]:
    """Return the interval over clusters. For skewed scores two units are added, because it would be too short.

    Agresti and Coull (1998) likewise add two successes and two failures. One added unit agrees on the rarest
    score; the other is split between this score and the commonest. For 20 units with nearly equal ratings,
    the interval of Fleiss' kappa covers .75 without the added units, and .96 with them at weight ``WORTH``.
    """
    (units,) = grouped([units])
    if not units.is_skewed:
        without = units.without_each(statistic) if units.held.shape[0] > 1 else np.empty(0)
        spread = jackknife_interval(point, without, units.kind, n=units.clusters)
        if len(without) < 2 or not _is_constant(without):
            return cut(spread, -np.inf, 1.0)
    more = units.with_two_units()
    middle = float(statistic(more, more.times[None, :])[0])
    spread = jackknife_interval(middle, more.without_each(statistic), more.kind)
    return widened_to(point, spread, units.clusters)


def widened_to(point: float, spread: dict[str, Any], clusters: int) -> dict[str, Any]:
    """Return an interval computed with added units, extended to contain ``point`` and limited to 1."""
    return spread | {
        "ci_low": float(np.minimum(spread["ci_low"], point)),
        "ci_high": float(np.maximum(np.minimum(spread["ci_high"], 1.0), point)),
        "clusters": clusters,
        "interval_kind": spread["interval_kind"] + PLUS_TWO,
    }


def _is_constant(values: Numbers) -> bool:
    present = values[~np.isnan(values)]
    return len(present) > 1 and float(np.ptp(present)) <= 1e-12
