"""Krippendorff's alpha of many replicates at once, from their coincidences."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from coeval.stats.rating_matrix import Numbers

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)


def check_level(level: str) -> Level:
    """The level, or an error that names the levels there are."""
    for known in LEVELS:
        if level == known:
            return known
    raise ValueError(f"There is no level of measurement {level!r}; choose one of: {', '.join(LEVELS)}.")


def distances(a: Numbers, b: Numbers, level: Level) -> Numbers:
    """Squared distance of values at a level; at the ordinal level the values are mid-ranks."""
    if level == "nominal":
        return np.not_equal(a, b).astype(float)
    if level == "ratio":
        total = a + b
        return np.divide(a - b, total, out=np.zeros(np.broadcast(a, b).shape), where=total != 0) ** 2
    return (a - b) ** 2


def mid_ranks(ratings: Numbers) -> Numbers:
    """The categories' mid-ranks P = cumsum(n) - n/2; Krippendorff's ordinal distance is (P_c - P_k) squared."""
    return np.cumsum(ratings, axis=-1) - ratings / 2


def alphas_of_coincidences(values: Numbers, ratings: Numbers, mismatches: Numbers, level: Level) -> Numbers:
    """Alpha of each replicate; nan where every rating is the same or none can be paired.

    alpha = 1 - (n - 1) sum(o_ck d_ck) / sum(n_c n_k d_ck), with o the coincidences, n_c the pairable ratings
    of category c and d the level's squared distance (Krippendorff 2011, Computing Krippendorff's
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
    """1 - (n - 1) observed / expected for each replicate; nan where nothing is expected."""
    chance = np.divide(
        observed * (ratings.sum(axis=1) - 1), expected, out=np.full(len(expected), np.nan), where=expected > 0
    )
    return np.asarray(1 - chance)


def expected_disagreement(positions: Numbers, n: Numbers, level: Level) -> Numbers:
    """sum(n_c n_k d_ck) of each replicate, without tabulating all pairs of categories where the level allows.

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
