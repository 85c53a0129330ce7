"""A judge's answers to one question as the numbers that it learns from: the same in a study and away from it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Iterable, Sequence

import pandas as pd

from coeval.judge.labels import JUDGES, PROBABILITIES

Said = tuple[Hashable, str, str, float | None, Sequence[float], Sequence[float]]
"""Instance, criterion, judge, and its score, samples and probabilities as in ``Draft``."""


def summarise_answers(
    score: float | None, samples: Sequence[float], probabilities: Sequence[float] = ()
) -> tuple[float, float, tuple[float, ...] | None]:
    """Score, spread and probabilities: the answers' mean, standard deviation, and what log-probabilities said.

    A score that is missing is nan; under two answers the spread is nan. Without log-probabilities the last is None:
    shares of samples are left out, since their spread already says it.

    >>> summarise_answers(2.5, (2.0, 3.0))
    (2.5, 0.7071067811865476, None)
    >>> summarise_answers(1.5, (), (0.5, 0.5))
    (1.5, nan, (0.5, 0.5))
    """
    mean = math.nan if score is None else score
    spread = statistics.stdev(samples) if len(samples) > 1 else math.nan
    return mean, spread, tuple(probabilities) or None


def tabulate_answers(said: Iterable[Said]) -> pd.DataFrame:
    """What judges said as ``Labels.judges``; with the column ``PROBABILITIES`` where any has log-probabilities."""
    rows = [
        (instance, criterion, judge, *summarise_answers(score, samples, probabilities))
        for instance, criterion, judge, score, samples, probabilities in said
    ]
    table = pd.DataFrame(rows, columns=[*JUDGES, PROBABILITIES]).astype({"score": float, "spread": float})
    return table if any(row[-1] for row in rows) else table.drop(columns=PROBABILITIES)
