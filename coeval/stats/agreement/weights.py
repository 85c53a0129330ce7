"""Weights for partial agreement between different categories (Gwet 2014, Handbook, 4th ed., chapter 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coeval.stats.rating_matrix import Numbers, Ratings


def agreement_weights(weights: Any, values: Numbers) -> Numbers:
    """Return the matrix of agreement weights, categories x categories, 1 on the diagonal.

    Parameters
    ----------
    weights : a name (identity or unweighted, linear, quadratic, ordinal, radical, ratio, circular, bipolar) or
        a symmetric matrix over the categories in their order.
    values : the categories' numbers, ascending.

    Raises
    ------
    ValueError
        If the name is unknown, or the matrix has the wrong size or not 1 on its diagonal.

    >>> agreement_weights("linear", np.array([1.0, 2.0, 3.0]))[0].tolist()
    [1.0, 0.5, 0.0]
    """
    if weights is None:
        weights = "identity"
    if not isinstance(weights, str):
        return _given(np.asarray(weights, dtype=float), len(values))
    if weights not in _DISTANCES:
        raise ValueError(
            f"There are no weights {weights!r}; choose one of: {', '.join(_DISTANCES)}, or a matrix."
        )
    distance = _DISTANCES[weights](values)
    furthest = distance.max(initial=0.0)
    return 1 - distance / furthest if furthest > 0 else np.ones_like(distance)


def weights_of(weights: Any, data: Ratings) -> Numbers:
    """Return the weights for these ratings. A word counts as its position in the order."""
    return agreement_weights(weights, data.numbers)


def _given(matrix: Numbers, size: int) -> Numbers:
    if matrix.shape != (size, size):
        raise ValueError(
            f"The weights must be {size} x {size}, a row and a column for each category, "
            f"but are {' x '.join(map(str, matrix.shape))}; name all categories in value_domain."
        )
    if not np.allclose(np.diag(matrix), 1):
        raise ValueError("Agreement weights need 1 on the diagonal; for weights of disagreement use 1 - w.")
    return matrix


def _differences(values: Numbers) -> Numbers:
    return np.abs(values[:, None] - values[None, :])


def _identity(values: Numbers) -> Numbers:
    return (_differences(values) > 0).astype(float)


def _ordinal(values: Numbers) -> Numbers:
    """Return C(m, 2), where m is the number of categories from one to the other, both included."""
    places = np.arange(1.0, len(values) + 1)
    between = _differences(places) + 1
    return between * (between - 1) / 2


def _ratio(values: Numbers) -> Numbers:
    total = values[:, None] + values[None, :]
    return np.divide(_differences(values), total, out=np.zeros(total.shape), where=total != 0) ** 2


def _circular(values: Numbers) -> Numbers:
    circle = np.ptp(values) + 1
    return np.sin(np.pi * _differences(values) / circle) ** 2


def _bipolar(values: Numbers) -> Numbers:
    total = values[:, None] + values[None, :]
    room = (total - 2 * values.min()) * (2 * values.max() - total)
    distance: Numbers = np.divide(_differences(values) ** 2, room, out=np.zeros(total.shape), where=room > 0)
    return distance


_DISTANCES: dict[str, Callable[[Numbers], Numbers]] = {
    "identity": _identity,
    "unweighted": _identity,
    "linear": _differences,
    "quadratic": lambda values: _differences(values) ** 2,
    "ordinal": _ordinal,
    "radical": lambda values: np.sqrt(_differences(values)),
    "ratio": _ratio,
    "circular": _circular,
    "bipolar": _bipolar,
}
