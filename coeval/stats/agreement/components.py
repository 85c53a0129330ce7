"""Variance components between items, between people, and of the residual, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from coeval.stats.agreement.icc import (
    NOTHING,
    Squares,
    Sums,
    raters_equations,
    sum_up,
    sums_of_groups,
    two_way_squares,
)
from coeval.stats.clusters import Clusters, jackknife_interval, parse_clusters
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings

PEOPLE = (1, 2, 3, 4, 5, 7, 10)
"""Numbers of people for whose mean score a D-study reports dependability."""

MOST_PEOPLE = 300
"""With more people, solving the equations for each group of clusters takes too long, so no interval is given."""

MOST = 100
"""A component is reported as possibly 0 if its lower limit is below a hundredth of it."""

LARGE = 1e4
"""Above this ratio to their error, squared effects behave like the square of a mean with Student's t."""

AT_NOUGHT = "the estimate is 0, the lowest possible value"


@dataclass(frozen=True)
class Components:
    """Variance of scores between items, between people, and the residual, in squared points.

    The residual is the interaction of people and items, and chance. ``phi`` is the dependability of the mean score for
    each number of people, with people as a source of error (absolute agreement).
    """

    item: Estimate
    person: Estimate
    residual: Estimate
    phi: dict[int, Estimate]
    n_items: int
    n_people: int


def variance_components(
    ratings: RatingsLike, people: Sequence[int] = PEOPLE, *, clusters: Any = None, confidence: float = 0.95
) -> Components:
    """Return the variance components of people's scores of items, from the mean squares of the additive model.

    Negative components become 0. For missing ratings, the mean squares are those of the fitted model, as in ``icc``.

    Parameters
    ----------
    ratings : annotators x units, numbers, nan if missing.
    people : the numbers of people for the D-study.
    clusters : the cluster label of each unit. Each component then has an interval, or the reason ``no_interval``. The
        intervals apply to other clusters scored by these people: the people's component is the difference between
        these people.

    Source: Brennan 2001, Generalizability Theory, chapters 2 and 3. With Shrout and Fleiss's judges, phi of one and of
    four people are ICC(2,1) and ICC(2,k):

    >>> judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> found = variance_components(judges)
    >>> [round(part, 2) for part in (found.item, found.person, found.residual, found.phi[1], found.phi[4])]
    [2.56, 5.24, 1.02, 0.29, 0.62]
    """
    data = parse_ratings(ratings)
    if not data.numeric and len(data.code):
        raise ValueError(f"Variance needs numbers, but the ratings hold {data.categories[0]!r}.")
    sums = sum_up(data)
    found = _components(sums, people)
    if clusters is None or not found.item.defined:
        return found
    return _spread(found, sums, data, parse_clusters(clusters, data.n_units), confidence)


def _components(sums: Sums, people: Sequence[int]) -> Components:
    counts = {"n_items": int(sums.n), "n_people": int(np.count_nonzero(sums.rater_sizes))}
    squares: Squares | str = "fewer than two units have two ratings"
    if counts["n_items"] > 1:
        squares = two_way_squares(sums)
    if isinstance(squares, str):
        nothing = Estimate.undefined(squares)
        return Components(nothing, nothing, nothing, dict.fromkeys(people, nothing), **counts)
    item = max(0.0, (squares.between - squares.error) / squares.k)
    person = max(0.0, (squares.raters - squares.error) / squares.n)
    phi = {
        k: Estimate(item / (item + (person + squares.error) / k))
        if item > 0
        else Estimate.undefined("the items' means do not differ by more than chance")
        for k in people
    }
    return Components(Estimate(item), Estimate(person), Estimate(squares.error), phi, **counts)


def _spread(
    found: Components, whole: Sums, data: Ratings, clusters: Clusters, confidence: float
) -> Components:
    """Return the components with intervals that leave out clusters, or groups of clusters."""
    if found.n_people > MOST_PEOPLE:
        why = f"there are more than {MOST_PEOPLE} people"
        parts = {
            name: getattr(found, name).having(no_interval=why) for name in ("item", "person", "residual")
        }
        return replace(found, **parts)
    group = clusters.groups()
    root = _root(whole)
    effects, rests = [], []
    for part in sums_of_groups(data, group, int(group.max()) + 1):
        rest = whole.plus(part, -1.0)
        rests.append(_components(rest, ()))
        effects.append(_effects(rest, root) if rests[-1].item.defined else np.full(len(root), np.nan))
    return replace(
        found,
        item=_on_log_scale(found.item, [part.item for part in rests], clusters, confidence),
        person=_of_people(found.person, _effects(whole, root), np.array(effects), clusters, confidence),
        residual=_on_log_scale(found.residual, [part.residual for part in rests], clusters, confidence),
    )


def _on_log_scale(
    value: Estimate, without: Sequence[Estimate], clusters: Clusters, confidence: float
) -> Estimate:
    """Return the component with an interval on the log scale, because a variance's error is proportional to it."""
    kind, known = clusters.kind, [float(part) for part in without if part.defined]
    if value <= 0:
        return value.having(no_interval=AT_NOUGHT)
    if len(known) < 2:
        return value.having(no_interval=_too_few(kind))
    if min(known) <= 0:
        return value.having(no_interval=f"the estimate is 0 without some of the {kind}")
    logs = np.log(np.array([float(part) for part in without]))
    spread = jackknife_interval(math.log(value), logs, kind, confidence=confidence, n=clusters.n)
    if math.isnan(spread["ci_low"]):
        return value.having(no_interval=f"the estimate is the same without any of the {kind}")
    limits = {end: float(np.exp(spread[end])) for end in ("ci_low", "ci_high")}
    if limits["ci_low"] * MOST < value:
        return value.having(no_interval=f"the estimate is nearly 0 without some of the {kind}")
    del spread["p_value"], spread["bias"], spread["se"]
    return value.having(**spread | limits | {"interval_kind": f"{spread['interval_kind']}, on the log scale"})


def _too_few(kind: str) -> str:
    return f"there are fewer than two {kind} to leave out"


def _root(whole: Sums) -> Numbers:
    """Return a square root of the raters' equations, scaled by the effective number of items.

    The squared effects times this number add up to (k - 1) times the variance between people.
    """
    squares, (_, equations, _) = two_way_squares(whole), raters_equations(whole)
    assert isinstance(squares, Squares)
    values, vectors = np.linalg.eigh(equations / squares.n)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _effects(sums: Sums, root: Numbers) -> Numbers:
    """Return how much higher each person scores than others on the same items, times ``root``; nan unless all
    have ratings.
    """
    there, equations, right = raters_equations(sums)
    if len(there[there]) < len(root):
        return np.full(len(root), np.nan)
    return np.asarray(np.append(0.0, np.linalg.solve(equations[1:, 1:], right[1:])) @ root)


def _of_people(
    value: Estimate, effects: Numbers, without: Numbers, clusters: Clusters, confidence: float
) -> Estimate:
    """Return the people's component with the interval of a noncentral chi-squared.

    Means differ even between equal people, and near 0 the jackknife fails. The variances of the k people's effects
    come from leaving out clusters; Satterthwaite's formula, with unbiased estimates for covariances, gives the
    effective number of dimensions. The limits are the true sums of squares for which the observed sum would be as
    large, or as small, in 2.5% of studies. As in Student's t, the error variance is estimated.
    """
    kept = without[~np.isnan(without).any(axis=1)]
    if len(kept) < 2:
        return value.having(no_interval=_too_few(clusters.kind))
    free = len(kept) - 1
    errors = (free / len(kept)) * (kept - kept.mean(axis=0)).T @ (kept - kept.mean(axis=0))
    total = float(np.trace(errors))
    if total <= NOTHING**2:
        return value.having(
            no_interval=f"the differences between people are the same without any of the {clusters.kind}"
        )
    if free > 1:
        squared = free**2 / ((free - 1) * (free + 2)) * (float((errors**2).sum()) - total**2 / free)
    else:
        squared = total**2
    df = float(np.clip(total**2 / max(squared, NOTHING * total**2), 1.0, len(effects) - 1))
    size = total / df
    low, high = (
        _noncentrality(float(effects @ effects) / size, df, free * df, share) * size / (len(effects) - 1)
        for share in ((1 + confidence) / 2, (1 - confidence) / 2)
    )
    if high <= 0:
        return value.having(no_interval=AT_NOUGHT)
    spread = jackknife_interval(np.nan, without[:, 0], clusters.kind, confidence=confidence, n=clusters.n)
    del spread["p_value"], spread["bias"], spread["se"]
    kind = spread["interval_kind"].replace(", t", ", noncentral chi-squared")
    return value.having(
        **spread | {"interval_kind": kind, "ci_low": min(low, value), "ci_high": max(high, value)}
    )


def _noncentrality(squares: float, df: float, df_error: float, share: float) -> float:
    """Return the noncentrality for which a sum is below ``squares`` in this share of draws; 0 if there is none."""
    if squares > LARGE * df:
        return float((math.sqrt(squares) - scipy.special.stdtrit(df_error, share)) ** 2)
    places, weights = np.polynomial.legendre.leggauss(64)
    scale = scipy.special.chdtri(df_error, (places + 1) / 2) / df_error

    def below(noncentrality: float) -> float:
        return float(weights / 2 @ scipy.special.chndtr(squares * scale, df, noncentrality * scale))

    if below(0.0) <= share:
        return 0.0
    low, high = 0.0, 1.0
    while below(high) > share:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) > share else (low, middle)
    return (low + high) / 2
