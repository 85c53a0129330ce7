"""A judge's closeness to people: confusion with people's median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, Ratings, RatingsLike, parse_ratings, parse_vector


@dataclass(frozen=True)
class Cell:
    """The number of units with this median score from people and this score from the model. A median between
    two points counts half.
    """

    people: float
    llm: float
    n: float


@dataclass(frozen=True)
class Confusion:
    """The median of people and the model's score on ``n`` units."""

    n: int
    exact: Estimate
    within_one: Estimate
    bias: Estimate
    mae: Estimate
    reason: str | None
    cells: list[Cell]


def median_confusion(people: RatingsLike, model: Any) -> Confusion:
    """Compare people's median scores with the model's scores.

    A median between two points counts half for each. The model's score is rounded to the nearest point of the
    scale, with halves rounded up.

    Parameters
    ----------
    people : annotators x units, nan if missing.
    model : the model's score of each unit.

    Returns
    -------
    Confusion
        ``exact`` is the share on the diagonal, ``within_one`` the share at most one point apart. ``bias`` is the mean
        of model minus median, and ``mae`` the mean absolute difference, both before rounding. All are nan if no unit
        has both.

    >>> found = median_confusion([[1, 2, 3], [1, 3, 3]], [1, 3, 2])
    >>> found.cells[-1], round(found.exact, 2), found.within_one
    (Cell(people=3.0, llm=3.0, n=0.5), 0.5, 1.0)
    """
    data = parse_ratings(people)
    scores = parse_vector(model, "model")
    if len(scores) != data.n_units:
        raise ValueError(
            f"There are {data.n_units} units and {len(scores)} model scores; give one for every unit."
        )
    if not data.numeric and len(data.code):
        raise ValueError("A median needs numbers; code the categories first.")
    medians = unit_medians(data)
    paired = ~(np.isnan(medians) | np.isnan(scores))
    points = np.unique(data.numbers)
    if not paired.any() or not len(points):
        nothing = Estimate.undefined("no unit was scored by both people and the model")
        return Confusion(0, nothing, nothing, nothing, nothing, nothing.reason, [])
    medians, scores = medians[paired], scores[paired]
    table = _half_counted(medians, scores, points)
    apart = np.abs(np.subtract.outer(np.arange(len(points)), np.arange(len(points))))
    n = len(medians)
    return Confusion(
        n=n,
        exact=Estimate(np.trace(table) / n, n=n),
        within_one=Estimate(table[apart <= 1].sum() / n, n=n),
        bias=Estimate((scores - medians).mean(), n=n),
        mae=Estimate(np.abs(scores - medians).mean(), n=n),
        reason=None,
        cells=[
            Cell(float(person), float(model_score), float(table[row, column]))
            for row, person in enumerate(points)
            for column, model_score in enumerate(points)
        ],
    )


def unit_medians(data: Ratings) -> Numbers:
    """Return the median score of every unit; nan without a score."""
    order = np.lexsort((data.code, data.unit))
    values, sizes = data.numbers[data.code][order], data.per_unit
    starts = np.cumsum(sizes) - sizes
    medians = np.full(data.n_units, np.nan)
    rated = sizes > 0
    low, high = starts + (sizes - 1) // 2, starts + sizes // 2
    medians[rated] = (values[low[rated]] + values[high[rated]]) / 2
    return medians


def _half_counted(medians: Numbers, scores: Numbers, points: Numbers) -> Numbers:
    """Return the counts as points x points. A median between two points counts half for each."""
    last = len(points) - 1
    upper = np.minimum(np.searchsorted(points, medians - 1e-9), last)
    lower = np.clip(np.searchsorted(points, medians + 1e-9, side="right") - 1, 0, last)
    edges = (points[1:] + points[:-1]) / 2
    nearest = np.searchsorted(edges, scores, side="right")
    table = np.zeros((len(points), len(points)))
    for side in (lower, upper):
        np.add.at(table, (side, nearest), 0.5)
    return table
