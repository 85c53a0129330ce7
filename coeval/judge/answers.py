"""A judge's answers to one question as the numbers that it learns from: the same in a study and away from it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from coeval.domain import Scale


def summarise_answers(
    score: float | None, samples: Sequence[float], scale: Scale, probabilities: Sequence[float] = ()
) -> tuple[float, float, tuple[float, ...] | None]:
    """Score, spread and probabilities: the answers' mean, standard deviation, and shares of the scale's steps.

    A score that is missing is nan. Under two answers the spread is nan and the shares are None. Where the judge gave
    ``probabilities`` of the scale's steps (log-probabilities were asked for), they stand in for the shares.

    >>> summarise_answers(2.5, (2.0, 3.0), Scale(1, 3))
    (2.5, 0.7071067811865476, (0.0, 0.5, 0.5))
    >>> summarise_answers(1.5, (), Scale(1, 2), (0.5, 0.5))
    (1.5, nan, (0.5, 0.5))
    """
    mean = math.nan if score is None else score
    known = tuple(probabilities) or None
    if len(samples) < 2:
        return mean, math.nan, known
    spread = statistics.stdev(samples)
    if known:
        return mean, spread, known
    nearest = [min(scale.steps, key=lambda step: abs(step - answer)) for answer in samples]
    shares = tuple(nearest.count(step) / len(nearest) for step in scale.steps)
    return mean, spread, shares
