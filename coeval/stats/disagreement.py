"""Krippendorff's alpha of many replicates at once, from their coincidences."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from .ratings import Codes, Numbers

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
        return (a != b).astype(float)
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
    chance = np.divide(observed * (ratings.sum(axis=1) - 1), expected,
                       out=np.full(len(expected), np.nan), where=expected > 0)
    return 1 - chance


def alphas_of_rated_pairs(values: Numbers, ratings: Numbers, i: Codes, j: Codes, share: Numbers,
                          level: Level) -> float:
    """Alpha of one replicate from the pairs of ratings that occur, for near-continuous values.

    ``i`` and ``j`` are the codes of each pair of ratings of a unit, ``share`` its weight over (m - 1), doubled.
    """
    if np.count_nonzero(ratings) < 2:
        return np.nan
    positions = mid_ranks(ratings) if level == "ordinal" else values
    observed = float(share @ distances(positions[i], positions[j], level))
    return 1 - observed * (ratings.sum() - 1) / _expected(positions, ratings, level)


def _expected(positions: Numbers, n: Numbers, level: Level) -> float:
    """sum(n_c n_k d_ck), without tabulating all pairs where the level allows."""
    if level == "nominal":
        return float(n.sum() ** 2 - (n**2).sum())
    if level == "ratio":
        rows = zip(positions, n, strict=True)
        return float(sum(count * (n @ distances(value, positions, level)) for value, count in rows if count))
    centred = positions - (n @ positions) / n.sum()
    return float(2 * n.sum() * (n @ centred**2))
