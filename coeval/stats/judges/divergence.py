"""Soft labels: how people's scores of an item are spread, and how far a judge's are from that."""

from __future__ import annotations

import numpy as np

from coeval.stats.rating_matrix import Numbers


def entropies(shares: Numbers) -> Numbers:
    """The entropy of each row of shares, in bits.

    >>> entropies(np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=-1)) + 0.0


def js_distances(first: Numbers, second: Numbers) -> Numbers:
    """The Jensen-Shannon distance of each two rows of shares: 0 where they are the same, 1 where they share nothing.

    It is the square root of the divergence in bits (Endres and Schindelin 2003), a metric.

    >>> js_distances(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 0.5]])).tolist()
    [1.0, 0.0]
    """
    middle = (first + second) / 2
    divergence = entropies(middle) - (entropies(first) + entropies(second)) / 2
    return np.asarray(np.sqrt(np.clip(divergence, 0, 1)))


def shares_of(scores: Numbers, points: Numbers) -> Numbers:
    """Scores x points: each score as shares of the scale's points, one between two points split by nearness.

    >>> shares_of(np.array([2.0, 2.25, 9.0]), np.array([1.0, 2.0, 3.0])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.75, 0.25], [0.0, 0.0, 1.0]]
    """
    scores = np.clip(np.asarray(scores, dtype=float), points[0], points[-1])
    above = np.clip(np.searchsorted(points, scores), 1, max(len(points) - 1, 1))
    shares = np.zeros((len(scores), len(points)))
    if len(points) == 1:
        return shares + 1.0
    rows = np.arange(len(scores))
    upper = (scores - points[above - 1]) / (points[above] - points[above - 1])
    shares[rows, above] = upper
    shares[rows, above - 1] = 1 - upper
    return shares
