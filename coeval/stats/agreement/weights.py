"""Weights for partial agreement between different categories (Gwet 2014, Handbook, 4th ed., chapter 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coeval.stats.rating_matrix import Numbers


def agreement_weights(weights: str, values: Numbers) -> Numbers:
    """Return the matrix of agreement weights, categories x categories, 1 on the diagonal.

    Parameters
    ----------
    weights : identity, linear, quadratic or ordinal.
    values : the categories' numbers, ascending.

    >>> agreement_weights("linear", np.array([1.0, 2.0, 3.0]))[0].tolist()
    [1.0, 0.5, 0.0]
    """
    if weights not in _DISTANCES:
        raise ValueError(f"There are no weights {weights!r}; choose one of: {', '.join(_DISTANCES)}.")
    distance = _DISTANCES[weights](values)
    furthest = distance.max(initial=0.0)
    return 1 - distance / furthest if furthest > 0 else np.ones_like(distance)


def _differences(values: Numbers) -> Numbers:
    return np.abs(values[:, None] - values[None, :])


def _identity(values: Numbers) -> Numbers:
    return (_differences(values) > 0).astype(float)


def _ordinal(values: Numbers) -> Numbers:
    """Return C(m, 2), where m is the number of categories from one to the other, both included."""
    places = np.arange(1.0, len(values) + 1)
    between = _differences(places) + 1
    return between * (between - 1) / 2


_DISTANCES: dict[str, Callable[[Numbers], Numbers]] = {
    "identity": _identity,
    "linear": _differences,
    "quadratic": lambda values: _differences(values) ** 2,
    "ordinal": _ordinal,
}
