"""How many documents an interval of a given width, or a difference of a given size, needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coeval.stats.estimates.later import special

MOST = 100_000
"""More documents than this are not asked for."""

POWER = 0.8


@dataclass(frozen=True)
class Needed:
    """About how many documents: ``low`` and ``high`` are what they would be if the pilot's spread was too high or low.

    ``documents`` is None where more than ``MOST`` are needed.
    """

    documents: int | None
    low: int | None
    high: int | None


def documents_for_width(se: float, documents: int, width: float, confidence: float = 0.95) -> Needed:
    """How many documents give an interval of +-``width``, from the standard error that a pilot's documents gave.

    The error falls with the root of the number of documents; the interval is Student's t.

    Parameters
    ----------
    se : the standard error over the pilot's documents, whose number is ``documents``.
    width : half of the interval that is wanted, above 0.

    >>> documents_for_width(0.05, 25, 0.05)
    Needed(documents=99, low=72, high=150)
    """
    tail = (1 + confidence) / 2
    return _needed(se, documents, width, lambda df: special.stdtrit(df, tail))


def documents_for_difference(
    se: float, documents: int, points: float, *, power: float = POWER, confidence: float = 0.95
) -> Needed:
    """How many documents tell a difference of ``points`` from none, two-sided, with a chance of ``power``.

    Parameters
    ----------
    se : the standard error of the difference over the pilot's documents, whose number is ``documents``.

    >>> documents_for_difference(0.1, 20, 0.3).documents
    20
    """
    tail = (1 + confidence) / 2
    return _needed(se, documents, points, lambda df: special.stdtrit(df, tail) + special.stdtrit(df, power))


def _needed(se: float, documents: int, width: float, reach: Callable[[Any], Any]) -> Needed:
    """``reach`` gives from degrees of freedom how many standard errors must fit into the width."""
    if not width > 0:
        raise ValueError(f"A width of {width:g} needs endless documents; choose one above 0.")
    if documents < 2 or not se > 0:
        return Needed(None, None, None)
    sizes = np.arange(2, MOST + 1)
    steps = reach(sizes - 1) / np.sqrt(sizes)
    df = documents - 1
    spread = [np.sqrt(df / special.chdtri(df, tail)) for tail in (0.1, 0.9)]

    def smallest(error: float) -> int | None:
        enough = np.flatnonzero(steps * error * np.sqrt(documents) <= width)
        return int(sizes[enough[0]]) if len(enough) else None

    return Needed(smallest(se), smallest(se * spread[0]), smallest(se * spread[1]))


def people_for(item: float, person: float, residual: float, phi: float) -> int | None:
    """How many people's mean score is dependable to ``phi``, from variance components; None where no number is.

    >>> people_for(2.56, 5.24, 1.02, 0.8)
    10
    """
    if not item > 0 or not 0 < phi < 1:
        return None
    return max(1, int(np.ceil(phi / (1 - phi) * (person + residual) / item - 1e-9)))
