"""Monotone maps from a judge's scores to a target scale, as knots with straight lines between them."""

from __future__ import annotations

import numpy as np
import scipy

from coeval.stats.rating_matrix import Numbers

LINEAR, ISOTONIC = "linear regression", "isotonic regression"
MEAN_SIGMA, EQUIPERCENTILE = "linear equating", "equipercentile equating"
IDENTITY = "identity"

Knots = tuple[Numbers, Numbers]
"""Rising scores of the judge, and their values on the target scale, which do not fall."""

ENOUGH_LINES, ENOUGH_DOCUMENTS = 100, 30
"""With fewer anchors than this, a link is a line: a step map would follow their noise."""


def choose_kind(people: bool, lines: int, documents: int) -> str:
    """Return the kind of link for this number of anchors, with people's scores or another judge's."""
    many = lines >= ENOUGH_LINES and documents >= ENOUGH_DOCUMENTS
    if people:
        return ISOTONIC if many else LINEAR
    return EQUIPERCENTILE if many else MEAN_SIGMA


def fit_link(kind: str, x: Numbers, y: Numbers, ends: tuple[float, float]) -> Knots:
    """Return the link from the anchors' judge scores ``x`` to their target scores ``y``.

    The two regressions predict the target of one output. The two equatings match the distributions of ``x`` and ``y``,
    and treat both judges alike.

    Parameters
    ----------
    x, y : vectors of the same length, at least 1.
    ends : the lowest and the highest score of the judge, to which a line extends.

    Sources: Barlow et al. 1972 (isotonic regression, by pooling adjacent violators); Kolen and Brennan 2014, Test
    Equating, Scaling, and Linking, 3rd ed., chapter 2 (linear and equipercentile equating).

    >>> fit_link(LINEAR, np.array([1.0, 2.0]), np.array([2.0, 4.0]), (0.0, 3.0))[1].tolist()
    [0.0, 6.0]
    >>> fit_link(ISOTONIC, np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 5.0]), (1.0, 3.0))[1].tolist()
    [1.5, 1.5, 5.0]
    """
    if kind == IDENTITY:
        return np.array(ends), np.array(ends)
    if kind == ISOTONIC:
        return _isotonic(x, y)
    if kind == EQUIPERCENTILE:
        return _equipercentile(x, y)
    spread = float(x.var())
    if spread <= 0:
        slope = 0.0
    elif kind == MEAN_SIGMA:
        slope = float(y.std() / np.sqrt(spread))
    else:
        slope = max(float(((x - x.mean()) * (y - y.mean())).mean()) / spread, 0.0)
    scores = np.array(ends)
    return scores, y.mean() + slope * (scores - x.mean())


def _isotonic(x: Numbers, y: Numbers) -> Knots:
    scores, place = np.unique(x, return_inverse=True)
    weight = np.bincount(place)
    fitted = scipy.optimize.isotonic_regression(np.bincount(place, y) / weight, weights=weight)
    return scores, np.asarray(fitted.x, dtype=float)


def _equipercentile(x: Numbers, y: Numbers) -> Knots:
    """Return the score of ``y`` with the same percentile rank as each score of ``x``.

    The percentile rank of a score is the share of scores below it plus half the share of equal scores.
    """
    scores, ranks = _percentile_ranks(x)
    targets, target_ranks = _percentile_ranks(y)
    return scores, np.asarray(np.interp(ranks, target_ranks, targets), dtype=float)


def _percentile_ranks(values: Numbers) -> tuple[Numbers, Numbers]:
    scores, counts = np.unique(values, return_counts=True)
    return scores, (np.cumsum(counts) - counts / 2) / len(values)
