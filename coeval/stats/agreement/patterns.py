"""Count patterns: units with equal counts are interchangeable, which makes resampling exact and fast.

Agreement depends only on the number of annotators who gave each category to a unit. 6 annotators and 5 points make at
most 456 patterns of these counts, for any number of units. A bootstrap of units is therefore a multinomial draw of
patterns. Krippendorff's alpha of many replicates comes from their coincidences, with one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy

from coeval.stats.rating_matrix import Codes, Numbers, Ratings, find_kinds

# Krippendorff's alpha of many replicates at once, from their coincidences.

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)


def check_level(level: str) -> Level:
    """Return the level; raise ValueError if it is unknown."""
    for known in LEVELS:
        if level == known:
            return known
    raise ValueError(f"There is no level of measurement {level!r}; choose one of: {', '.join(LEVELS)}.")


def distances(a: Numbers, b: Numbers, level: Level) -> Numbers:
    """Return squared distances between values at a level. At the ordinal level, the values are mid-ranks."""
    if level == "nominal":
        return np.not_equal(a, b).astype(float)
    if level == "ratio":
        total = a + b
        return np.divide(a - b, total, out=np.zeros(np.broadcast(a, b).shape), where=total != 0) ** 2
    return (a - b) ** 2


def mid_ranks(ratings: Numbers) -> Numbers:
    """Return the categories' mid-ranks P = cumsum(n) - n/2; Krippendorff's ordinal distance is (P_c - P_k) squared."""
    return np.cumsum(ratings, axis=-1) - ratings / 2


def alphas_of_coincidences(values: Numbers, ratings: Numbers, mismatches: Numbers, level: Level) -> Numbers:
    """Return alpha of each replicate; nan if all ratings are equal or none can be paired.

    alpha = 1 - (n - 1) sum(o_ck d_ck) / sum(n_c n_k d_ck), where o are the coincidences, n_c the pairable ratings
    of category c, and d the level's squared distance (Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability).

    Parameters
    ----------
    values : the categories' numbers.
    ratings : replicates x categories, n_c.
    mismatches : replicates x pairs of categories c < k, o_ck + o_kc.
    """
    i, j = np.triu_indices(len(values), 1)
    positions = mid_ranks(ratings) if level == "ordinal" else values[None, :]
    distance = distances(positions[:, i], positions[:, j], level)
    observed = (mismatches * distance).sum(axis=1)
    expected = (2 * ratings[:, i] * ratings[:, j] * distance).sum(axis=1)
    return alphas_of_disagreement(observed, expected, ratings)


def alphas_of_disagreement(observed: Numbers, expected: Numbers, ratings: Numbers) -> Numbers:
    """Return 1 - (n - 1) observed / expected for each replicate; nan if the expected disagreement is 0."""
    chance = np.divide(
        observed * (ratings.sum(axis=1) - 1), expected, out=np.full(len(expected), np.nan), where=expected > 0
    )
    return np.asarray(1 - chance)


def expected_disagreement(positions: Numbers, n: Numbers, level: Level) -> Numbers:
    """Return sum(n_c n_k d_ck) of each replicate, if possible without a table of all pairs of categories.

    ``positions`` are the values (one row for all replicates) or, at the ordinal level, each replicate's ranks.
    """
    total = n.sum(axis=1)
    varies = np.count_nonzero(n, axis=1) > 1
    if level == "nominal":
        return np.where(varies, total**2 - (n**2).sum(axis=1), 0)
    if level == "ratio":
        columns = (n @ distances(value, positions[0], level) for value in positions[0])
        return sum((n[:, k] * column for k, column in enumerate(columns)), start=np.zeros(len(n)))
    means = (n * positions).sum(axis=1, keepdims=True) / np.maximum(total, 1)[:, None]
    return np.where(varies, 2 * total * (n * (positions - means) ** 2).sum(axis=1), 0)


CELLS = 2_000_000
"""The largest number of values in one block of replicates. It only limits memory."""

MANY = 40
"""The largest number of categories whose pairs are tabulated for every replicate."""


@dataclass(frozen=True, eq=False)
class CountPatterns:
    """Distinct count vectors: ``counts`` is patterns x categories, and ``values`` are the categories' numbers."""

    counts: Numbers
    times: Codes
    values: Numbers

    @cached_property
    def sizes(self) -> Numbers:
        return np.asarray(self.counts.sum(axis=1))

    @property
    def width(self) -> int:
        return int(self.mismatches.shape[1] + len(self.values))

    @cached_property
    def pairable(self) -> Numbers:
        """Return the counts of the patterns with two or more ratings; zero elsewhere."""
        return self.counts * (self.sizes > 1)[:, None]

    @cached_property
    def mismatches(self) -> Numbers:
        """Return the off-diagonal coincidences as patterns x pairs of categories, with both triangles added.

        A = (c c' - diag c) / (m - 1) is a unit's contribution to the coincidence matrix (Krippendorff 2018, 12.3).
        """
        i, j = np.triu_indices(len(self.values), 1)
        shares = np.divide(2.0, self.sizes - 1, out=np.zeros(len(self.sizes)), where=self.sizes > 1)
        return self.counts[:, i] * self.counts[:, j] * shares[:, None]

    def alphas(self, weights: Numbers, *levels: Level) -> list[Numbers]:
        """Return alpha of each row of weights, at each level."""
        ratings, mismatches = weights @ self.pairable, weights @ self.mismatches
        return [alphas_of_coincidences(self.values, ratings, mismatches, level) for level in levels]

    def alphas_without_one(self, level: Level) -> Numbers:
        """Return alpha with one unit of each pattern left out."""
        ratings = self.times @ self.pairable - self.pairable
        mismatches = self.times @ self.mismatches - self.mismatches
        return alphas_of_coincidences(self.values, ratings, mismatches, level)


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """Rated units with near-continuous values: each unit is a kind, and no category tables are needed."""

    ratings: Ratings
    times: Codes

    @property
    def width(self) -> int:
        return 2 * len(self.ratings.numbers) + len(self.times)

    @cached_property
    def counts(self) -> scipy.sparse.csr_matrix:
        """Return units x categories for the units with two or more ratings."""
        paired = self.ratings.per_unit[self.ratings.unit] > 1
        places = self.ratings.unit[paired], self.ratings.code[paired]
        shape = len(self.times), len(self.ratings.numbers)
        return scipy.sparse.csr_matrix((np.ones(int(paired.sum())), places), shape=shape)

    def alphas(self, weights: Numbers, *levels: Level) -> list[Numbers]:
        """Return alpha of each row of weights, at each level."""
        return [self._alphas(weights, level) for level in levels]

    def _alphas(self, weights: Numbers, level: Level) -> Numbers:
        ratings = np.asarray(weights @ self.counts)
        if level == "ordinal":
            ranks = mid_ranks(ratings) - ratings.sum(axis=1, keepdims=True) / 2
            observed = (weights * self._spread(ranks)).sum(axis=1)
        else:
            ranks, observed = self.ratings.numbers[None, :], weights @ self._observed(level)
        expected = expected_disagreement(ranks, ratings, level)
        return alphas_of_disagreement(observed, expected, ratings)

    def _spread(self, values: Numbers) -> Numbers:
        """Return the squared differences within each unit, divided by (m - 1), as replicates x units."""
        sums, squares = ((self.counts @ part.T).T for part in (values, values**2))
        sizes = np.asarray(self.counts.sum(axis=1)).ravel()
        return np.asarray(2 * np.maximum(sizes * squares - sums**2, 0) / np.maximum(sizes - 1, 1))

    def _observed(self, level: Level) -> Numbers:
        """Return each unit's disagreement at a level whose distances do not depend on the data."""
        if level == "interval":
            numbers = self.ratings.numbers
            return np.asarray(self._spread(numbers[None, :] - numbers.mean())[0])
        unit, i, j = self._pairs
        apart = distances(self.ratings.numbers[i], self.ratings.numbers[j], level)
        sizes = np.asarray(self.counts.sum(axis=1)).ravel()
        return np.asarray(np.bincount(unit, 2 * apart, len(self.times)) / np.maximum(sizes - 1, 1))

    @cached_property
    def _pairs(self) -> tuple[Codes, Codes, Codes]:
        """Return every pair of ratings of one unit: the unit and the two codes."""
        order = np.argsort(self.ratings.unit, kind="stable")
        unit, code = self.ratings.unit[order], self.ratings.code[order]
        parts = [(unit[:0], code[:0], code[:0])]
        for lag in range(1, int(self.ratings.per_unit.max(initial=0))):
            first = np.flatnonzero(unit[lag:] == unit[:-lag])
            parts.append((unit[first], code[first], code[first + lag]))
        rows, i, j = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return rows, i, j

    def alphas_without_one(self, level: Level) -> Numbers:
        """Return alpha with each unit left out."""
        size = len(self.times)
        block = max(1, CELLS // max(self.width, 1))
        parts = [np.empty(0)]
        for start in range(0, size, block):
            rows = np.arange(start, min(start + block, size))
            weights = np.ones((len(rows), size))
            weights[np.arange(len(rows)), rows] = 0
            parts.append(self._alphas(weights, level))
        return np.concatenate(parts)


Units = CountPatterns | RatedUnits
"""Units to resample: the number of ``times`` that each kind occurs, and alpha for any weights of the kinds."""


def sample_units(ratings: Ratings) -> Units:
    """Return the units with at least two ratings, ready for resampling."""
    if len(ratings.categories) > MANY:
        paired = ratings.per_unit > 1
        return RatedUnits(keep_units(ratings, paired), np.ones(int(paired.sum()), dtype=np.int64))
    kinds = ratings.kinds.among(ratings.per_unit > 1)
    return CountPatterns(kinds.rows.astype(float), kinds.times, ratings.numbers)


def sample_both(a: Ratings, b: Ratings) -> tuple[Units, Units]:
    """Return two sets of ratings of the same units, resampled with the same weights."""
    kept = (a.per_unit > 1) | (b.per_unit > 1)
    if max(len(a.categories), len(b.categories)) > MANY:
        ones = np.ones(int(kept.sum()), dtype=np.int64)
        return RatedUnits(keep_units(a, kept), ones), RatedUnits(keep_units(b, kept), ones)
    kinds = find_kinds(np.hstack([a.counts[kept], b.counts[kept]]))
    rows, times, split = kinds.rows, kinds.times, len(a.categories)
    return (
        CountPatterns(rows[:, :split].astype(float), times, a.numbers),
        CountPatterns(rows[:, split:].astype(float), times, b.numbers),
    )


def keep_units(ratings: Ratings, kept: npt.NDArray[np.bool_]) -> Ratings:
    """Return only the units marked in ``kept``, renumbered."""
    position = np.cumsum(kept) - 1
    rated = kept[ratings.unit]
    units = [unit for unit, keep in zip(ratings.units, kept, strict=True) if keep]
    return Ratings(
        ratings.annotators,
        units,
        ratings.categories,
        ratings.annotator[rated],
        position[ratings.unit[rated]],
        ratings.code[rated],
    )


def draw_weights(
    times: Codes, replicates: int, rng: np.random.Generator, width: int = 1
) -> Iterator[Numbers]:
    """Yield bootstrap weights, replicates x kinds of unit, in blocks that fit in memory.

    Each row counts the draws of each kind in one resample with replacement. ``width`` is the number of further
    values that a replicate needs in memory.
    """
    block = max(1, CELLS // max(len(times) + width, 1))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        few_kinds = 4 * len(times) < times.sum()
        yield (_drawn_by_kind if few_kinds else _drawn_by_unit)(times, size, rng)


def _drawn_by_unit(times: Codes, size: int, rng: np.random.Generator) -> Numbers:
    """Return resampled units, drawn one by one. This is faster if nearly every unit is of a different kind."""
    kind_of = np.repeat(np.arange(len(times)), times)
    weights = np.empty((size, len(times)))
    for row in range(size):
        drawn = kind_of[rng.integers(0, len(kind_of), len(kind_of))]
        weights[row] = np.bincount(drawn, minlength=len(times))
    return weights


def _drawn_by_kind(times: Codes, size: int, rng: np.random.Generator) -> Numbers:
    """Return multinomial draws, generated from Poisson counts, which is twice as fast.

    Poisson counts given their total are multinomial. Each row first draws slightly fewer units than needed as
    Poisson counts, and then the remaining units one by one. A row with too many units is drawn again. The
    result is exactly multinomial.
    """
    units, kinds = int(times.sum()), len(times)
    weights = rng.poisson(times * max(0.0, 1 - 3 / np.sqrt(units)), size=(size, kinds))
    short = units - weights.sum(axis=1)
    over = short < 0
    weights[over] = rng.multinomial(units, times / units, size=int(over.sum()))
    missing = np.repeat(np.arange(size), np.maximum(short, 0))
    drawn = np.repeat(np.arange(kinds), times)[rng.integers(0, units, len(missing))]
    topped_up = np.bincount(missing * kinds + drawn, minlength=size * kinds).reshape(size, kinds)
    return (weights + topped_up).astype(float)
