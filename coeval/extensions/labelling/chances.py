"""Draw items for people to label with known probabilities, and correct means for the probabilities.

Items are labelled in the order of u / pi, with u uniform on (0, 1) and pi the item's probability (priority sampling).
So labelling can stop at any item. If c is the place of the first item without a label, all others were drawn with
probability min(1, c pi), independently of their scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.stats.clusters import Clusters, bounded_interval, parse_clusters
from coeval.stats.estimates import CONFIDENCE, Estimate, t_limits
from coeval.stats.rating_matrix import Numbers

UNIFORM, ACTIVE = "uniform", "active"
KINDS = (UNIFORM, ACTIVE)

COST = 1.10
"""The largest accepted growth of the variance if the judge's uncertainty is useless: 1.05 times the width of uniform
labels.
"""

PILOT = 30
"""With at least this many labelled items, their errors calibrate the judge's uncertainty."""

FEWEST = 3


@dataclass(frozen=True, eq=False)
class Allotment:
    """The relative probability of each item in the draw, and the effect on the variance of a mean."""

    kind: str
    weight: Numbers
    """Relative probabilities, with mean 1."""
    cost: float
    """This variance, relative to the variance with uniform labels, if the uncertainty is useless."""

    def chances(self, labels: int) -> Numbers:
        """Return each item's probability, at most 1, for about this number of labelled items.

        >>> Allotment("active", np.array([3.0, 0.5, 0.5]), 1.0).chances(2).round(3).tolist()
        [1.0, 0.5, 0.5]
        """
        chance = np.minimum(1.0, self.weight * labels / len(self.weight))
        for _ in range(50):  # the excess above 1 is distributed over the others
            free = chance < 1
            left = labels - float((~free).sum())
            if not free.any() or left <= 0 or abs(float(chance.sum()) - labels) < 1e-9:
                break
            chance[free] = np.minimum(1.0, self.weight[free] * left / float(self.weight[free].sum()))
        return chance


def allot(
    kind: str,
    uncertainty: Any,
    errors: Any = None,
    *,
    cost: float = COST,
) -> Allotment:
    """Return the relative probability with which to draw each item.

    Parameters
    ----------
    kind : "uniform" or "active" (from each item's own uncertainty).
    uncertainty : the judge's standard deviation for each item; nan if unknown.
    errors : people's score minus the judge's; nan if no person scored. With at least ``PILOT`` of them, the
        uncertainty is fitted to their size.
    cost : the largest growth of the variance if the uncertainty is useless. Weights are mixed with equal ones to keep
        to it.

    Source: Zrnic and Candes 2024, Active statistical inference. Probabilities are proportional to the root of the
    judge's expected squared error.

    >>> found = allot("active", [0.1, 0.1, 0.1, 0.9])
    >>> found.weight.round(2).tolist(), round(found.cost, 2)
    ([0.79, 0.79, 0.79, 1.62], 1.1)
    """
    spread = np.asarray(uncertainty, dtype=float)
    if kind not in KINDS:
        raise ValueError(f"Labels cannot be drawn {kind!r}; choose {', '.join(KINDS)}.")
    if len(spread) == 0:
        raise ValueError("There is no item to draw.")
    measured = ~np.isnan(spread)
    if kind == UNIFORM or not measured.any() or not np.nanmax(spread) > 0:
        return Allotment(kind, np.ones(len(spread)), 1.0)
    spread = np.where(measured, spread, np.nanmean(spread))
    wanted = _fit_errors(spread, errors) if errors is not None else spread
    wanted = wanted / wanted.mean()
    even = 1.0
    for even in np.linspace(0.0, 1.0, 101):
        weight = even + (1 - even) * wanted
        if weight.min() > 0.02 and float((1 / weight).mean()) <= cost:
            break
    return Allotment(kind, weight, float((1 / weight).mean()))


def _fit_errors(spread: Numbers, errors: Any) -> Numbers:
    """Return the expected size of the judge's error: the root of an increasing line of squared errors on squared
    spreads.
    """
    error = np.asarray(errors, dtype=float)
    scored = ~np.isnan(error)
    if scored.sum() < PILOT or spread[scored].std() == 0:
        return spread
    x, y = spread[scored] ** 2, error[scored] ** 2
    weight = 1 / (x + np.median(x) + 1e-12) ** 2  # the error of a square grows with its size
    weight /= weight.sum()
    middle, level = float(weight @ x), float(weight @ y)
    slope = max(0.0, float(weight @ ((x - middle) * (y - level)) / (weight @ (x - middle) ** 2)))
    line = level + slope * (spread**2 - middle)
    return np.sqrt(np.maximum(line, 0.1 * float(y.mean()) + 1e-12))


def places(chance: Numbers, drawn: Numbers) -> Numbers:
    """Return each item's place in the order of labelling, smallest first; probability 0 means never."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(chance > 0, drawn / chance, np.inf))


def chances_so_far(chance: Numbers, place: Numbers, labelled: Any) -> tuple[Numbers, Any]:
    """Return each item's probability so far, and the labels that count, which come before the first unlabelled item.

    >>> chance, place = np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.2, 0.6, 1.0, 1.8])
    >>> so_far, counted = chances_so_far(chance, place, np.array([True, True, False, True]))
    >>> so_far.tolist(), counted.tolist()
    ([0.5, 0.5, 0.5, 0.5], [True, True, False, False])
    """
    done = np.asarray(labelled, dtype=bool)
    missing = place[~done & (chance > 0)]
    reach = float(missing.min()) if len(missing) else float("inf")
    counted = done & (place < reach)
    so_far = np.minimum(1.0, chance * reach) if np.isfinite(reach) else np.where(chance > 0, 1.0, 0.0)
    return np.asarray(so_far), counted


@dataclass(frozen=True, eq=False)
class Drawn:
    """A mean, and each cluster's contribution to its error."""

    value: float
    influence: Numbers
    labels: int
    labelled_clusters: int
    slope: float


def _estimate(y: Numbers, f: Numbers, chance: Numbers, counted: Any, clusters: Clusters) -> Drawn:
    """Return the mean of all items: a regression of people's scores on the judge's plus the weighted mean
    residual.
    """
    weight = np.where(counted, 1 / np.maximum(chance, 1e-12), 0.0)
    total, n, labels = float(weight.sum()), len(y), int(counted.sum())
    if not labels:
        return Drawn(float("nan"), np.zeros(clusters.n), 0, 0, 0.0)
    score = np.where(counted, y, 0.0)
    mean_y, mean_f = float(weight @ score) / total, float(weight @ f) / total
    within = float(weight @ (f - mean_f) ** 2)
    slope = (
        float(weight @ ((f - mean_f) * (score - mean_y) * counted)) / within
        if within > 1e-9 and labels > 9
        else 0.0
    )
    left = np.where(counted, score - mean_y - slope * (f - mean_f), 0.0)
    value = mean_y + slope * (float(f.mean()) - mean_f)
    lost = labels / max(labels - (2 if slope else 1), 1)
    # a label far from the mean of the judge's scores moves the line in proportion to its leverage
    pull = 1 + (float(f.mean()) - mean_f) * (f - mean_f) * (total / within) if slope else 1.0
    each = slope * (f - f.mean()) / n + weight * left * pull / total * np.sqrt(lost)
    sums = np.bincount(clusters.code, each, clusters.n).astype(float)
    return Drawn(value, sums, labels, len(np.unique(clusters.code[np.asarray(counted)])), slope)


def drawn_mean(
    y: Any,
    judged: Any,
    chance: Any,
    counted: Any,
    *,
    clusters: Any = None,
    scale: tuple[float, float] | None = None,
) -> Estimate:
    """Return the mean of all items from labels with known probabilities, corrected with the judge's scores.

    Parameters
    ----------
    y : people's scores; only ``counted`` ones are used.
    judged : the judge's scores of all items; constant if there is no judge.
    chance : each item's probability (``chances_so_far``).
    clusters : one label per item; items with the same label were drawn together.
    scale : the lowest and the highest possible score, for an interval of bounded scores (``bounded_interval``).

    Returns
    -------
    Estimate
        With ``ci_low``, ``ci_high``, ``se``, ``n`` labels, ``n_items``, ``slope`` (how far people follow the judge) and
        ``plain`` (the unweighted mean of the labels, which is biased towards items with high probabilities).

    Source: Zrnic and Candes 2024; Egami et al. 2023 (design-based supervised learning); Duffield et al. 2007 (priority
    sampling).
    """
    sample = _read(y, judged, chance, counted, clusters)
    estimate = _as_estimate(_estimate(*sample), sample)
    if scale is None or not estimate.defined:
        return estimate
    inside = float(np.clip(estimate, *scale))
    spread = bounded_interval(inside, estimate.se, estimate.clusters, estimate.clusters - 1, scale)
    return estimate.having(ci_low=min(spread["ci_low"], estimate), ci_high=max(spread["ci_high"], estimate))


def _read(
    y: Any, judged: Any, chance: Any, counted: Any, clusters: Any
) -> tuple[Numbers, Numbers, Numbers, Any, Clusters]:
    score, f, pi = (np.asarray(side, dtype=float) for side in (y, judged, chance))
    labelled = np.asarray(counted, dtype=bool)
    if not len(score) == len(f) == len(pi) == len(labelled):
        raise ValueError(
            f"There are {len(score)} scores, {len(f)} of the judge and {len(pi)} probabilities; give one of "
            "each per item."
        )
    if (labelled & ~(pi > 0)).any():
        raise ValueError("A labelled item has the probability 0; leave it out, or give its probability.")
    f = np.where(np.isnan(f), np.nanmean(f) if not np.isnan(f).all() else 0.0, f)
    return score, f, pi, labelled, parse_clusters(clusters, len(score))


def _as_estimate(drawn: Drawn, sample: tuple[Any, ...]) -> Estimate:
    score, _, _, labelled, clusters = sample
    counts: dict[str, Any] = {
        "n": drawn.labels,
        "n_items": len(score),
        "clusters": drawn.labelled_clusters,
        "resampled": clusters.kind,
        "confidence": CONFIDENCE,
        "interval_kind": f"labels with known probabilities, t over {clusters.kind} with labels",
    }
    if drawn.labelled_clusters < FEWEST:
        return Estimate.undefined(f"fewer than {FEWEST} {clusters.kind} are labelled", **counts)
    n = drawn.labelled_clusters
    variance = float((drawn.influence**2).sum()) * n / (n - 1)
    values = np.unique(score[labelled])
    if len(values) < 3:  # few labels may contain no rare score: add four pseudo-labels, half and half
        reach = float(np.ptp(values)) or 1.0
        variance = (drawn.labels * variance + reach**2 / drawn.labels) / (drawn.labels + 4)
    se = float(np.sqrt(variance))
    return Estimate(
        drawn.value, **t_limits(drawn.value, se, n - 1), slope=drawn.slope,
        plain=float(score[labelled].mean()), **counts,
    )  # fmt: skip


def drawn_difference(
    y: Any, judged: Any, chance: Any, counted: Any, first: Any, second: Any, *, clusters: Any = None
) -> Estimate:  # fmt: skip
    """Return the mean of the items ``first`` minus the mean of the items ``second``; documents may contain both."""
    score, f, pi, labelled, codes = _read(y, judged, chance, counted, clusters)
    parts = []
    for chosen in (np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)):
        if not (chosen & labelled).any():
            return Estimate.undefined("one of the two has no label", n=int(labelled.sum()))
        sub = Clusters(codes.code[chosen], codes.kind)
        drawn = _estimate(score[chosen], f[chosen], pi[chosen], labelled[chosen], sub)
        influence = np.zeros(codes.n)
        influence[: len(drawn.influence)] = drawn.influence
        parts.append((drawn, influence))
    (a, of_a), (b, of_b) = parts
    compared = labelled & (np.asarray(first, dtype=bool) | np.asarray(second, dtype=bool))
    joined = Drawn(
        a.value - b.value,
        of_a - of_b,
        a.labels + b.labels,
        len(np.unique(codes.code[compared])),
        (a.slope + b.slope) / 2,
    )
    return _as_estimate(joined, (score, f, pi, compared, codes))
