"""Strengths of systems from comparisons of two outputs (Bradley and Terry 1952), with ties and an effect of the order.

The model says that the log-odds of preferring the output shown first are its system's strength less the other's,
plus what being first is worth (Davidson and Beaver 1977). A tie counts half a win for each, as does a mean of several
answers its share. Strengths add up to zero: the mean system has 0, and a difference of 1 is odds of e to 1.

A system that won everything would have no finite strength, so half a win each way is added to every pair of systems
that was compared (in all, not for each comparison), which draws strengths a little towards each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.stats.estimates.later import special
from coeval.stats.estimates.results import Estimate
from coeval.stats.rating_matrix import Codes, Numbers

ADDED = 0.5
"""Wins added each way to every pair of systems that was compared."""

STEPS, CLOSE = 100, 1e-10
KIND = "sandwich over documents, t"


@dataclass(frozen=True)
class Strengths:
    """The systems' strengths in their order, and the log-odds that being shown first is worth, with intervals."""

    systems: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    first: Estimate


def fit_strengths(
    first: Codes,
    second: Codes,
    preference: Numbers,
    cluster: Codes,
    systems: Sequence[str],
    *,
    level: float = 0.95,
) -> Strengths:
    """Fit the model by Newton's method.

    Parameters
    ----------
    first, second : the systems shown first and second in each comparison, as places in ``systems``.
    preference : from 0 (the second) to 1 (the first); .5 is a tie.
    cluster : the document of each comparison. Documents, not comparisons, were sampled: intervals come from the
        cluster-robust variance with G / (G - 1), or from that of independent comparisons where it is larger, and
        Student's t with G - 1 degrees of freedom, G documents.

    An estimate is undefined, and says why, where a system was not compared or the comparisons fall into groups of
    systems that never met; under two documents there is a strength and no interval.
    """
    k = len(systems)
    if not len(first):
        return _undefined(systems, "nothing was compared")
    if not _connected(first, second, k):
        return _undefined(
            systems, "some systems were never compared with the others, directly or by way of third ones"
        )
    design = _design(first, second, k)
    extra = _added(first, second, k)
    theta, information = _newton(design, preference, extra)
    inverse: Numbers = np.linalg.inv(information).astype(float)
    # contrasts: the strengths of all systems from those of the first k - 1, centred
    full = np.zeros((k, design.shape[1]))
    full[: k - 1, : k - 1] = np.eye(k - 1)
    full[:, : k - 1] -= full[:, : k - 1].mean(axis=0)
    residual = preference - _chance(design @ theta)
    variance, groups = _robust(design * residual[:, None], cluster, inverse)
    values = full @ theta
    # documents that all came out alike have no variance between them; each comparison still had its chance
    spreads = None if variance is None else np.sqrt(np.maximum(_of(full, variance), _of(full, inverse)))
    order = None if variance is None else float(np.sqrt(max(variance[-1, -1], inverse[-1, -1])))
    details = {"n": len(first), "clusters": groups, "interval_kind": KIND}
    return Strengths(
        tuple(systems),
        tuple(
            _estimate(float(value), None if spreads is None else float(spreads[at]), groups, level, details)
            for at, value in enumerate(values)
        ),
        _estimate(float(theta[-1]), order, groups, level, details),
    )


def _of(contrasts: Numbers, variance: Numbers) -> Numbers:
    return np.asarray(np.diag(contrasts @ variance @ contrasts.T), dtype=float)


def _undefined(systems: Sequence[str], reason: str) -> Strengths:
    return Strengths(
        tuple(systems), tuple(Estimate.undefined(reason) for _ in systems), Estimate.undefined(reason)
    )


def _estimate(value: float, se: float | None, groups: int, level: float, details: dict[str, Any]) -> Estimate:
    if se is None:
        return Estimate(value, **details, ci_reason="there are fewer than two documents")
    reach = float(special.stdtrit(groups - 1, (1 + level) / 2)) * se
    return Estimate(value, **details, se=se, ci_low=value - reach, ci_high=value + reach)


def _connected(first: Codes, second: Codes, k: int) -> bool:
    group = np.arange(k)
    for _ in range(k):
        for one, other in {(int(a), int(b)) for a, b in zip(first, second, strict=True)}:
            group[[one, other]] = min(group[one], group[other])
    return bool((group == group[0]).all())


def _design(first: Codes, second: Codes, k: int) -> Numbers:
    """A column for each system but the last, whose strength is 0 here, and one of ones for being first."""
    design = np.zeros((len(first), k + 1))
    rows = np.arange(len(first))
    design[rows, first] += 1
    design[rows, second] -= 1
    design[:, k] = 1
    return np.delete(design, k - 1, axis=1)


def _added(first: Codes, second: Codes, k: int) -> Numbers:
    """A row for each pair of systems that was compared: 2 x ADDED ties, which no order has a part in."""
    pairs = sorted({(min(int(a), int(b)), max(int(a), int(b))) for a, b in zip(first, second, strict=True)})
    rows = _design(np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]), k)
    rows[:, -1] = 0
    return rows


def _chance(log_odds: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-log_odds))


def _newton(design: Numbers, preference: Numbers, extra: Numbers) -> tuple[Numbers, Numbers]:
    """The strengths at which the score is zero, and the information there."""
    theta = np.zeros(design.shape[1])
    information = np.eye(design.shape[1])
    for _ in range(STEPS):
        chance, tied = _chance(design @ theta), _chance(extra @ theta)
        score = design.T @ (preference - chance) + 2 * ADDED * (extra.T @ (0.5 - tied))
        information = (design * (chance * (1 - chance))[:, None]).T @ design
        information += 2 * ADDED * (extra * (tied * (1 - tied))[:, None]).T @ extra
        information += 1e-9 * np.eye(len(theta))
        step = np.linalg.solve(information, score)
        theta = theta + np.clip(step, -2, 2)
        if np.abs(step).max() < CLOSE:
            break
    return theta, information


def _robust(scores: Numbers, cluster: Codes, inverse: Numbers) -> tuple[Numbers | None, int]:
    """The cluster-robust variance, or None under two clusters; and the number of clusters."""
    codes = np.unique(cluster, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    if groups < 2:
        return None, groups
    sums = np.zeros((groups, scores.shape[1]))
    np.add.at(sums, codes, scores)
    return groups / (groups - 1) * inverse @ (sums.T @ sums) @ inverse, groups
