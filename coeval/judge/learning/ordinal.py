"""A cumulative logit with one feature, the people's leniency apart, slope and leniency shrunk by a ridge.

P(score <= step k) = logistic(cut_k - slope x - leniency), fitted by maximum penalised likelihood. Source: McCullagh
1980, Regression models for ordinal data; the penalty as in ridge regression.
"""

from __future__ import annotations

import numpy as np

from coeval.domain import Scale
from coeval.judge.fitted import Feature, Numbers, Ordinal
from coeval.judge.learning.raters import Ratings
from coeval.stats.estimates.later import optimize, special

SLOPE_PENALTY, PERSON_PENALTY, GAP_PENALTY = 0.5, 2.0, 0.05
TINY = 1e-10


def fit_ordinal(ratings: Ratings, criterion: str, scale: Scale) -> tuple[Ordinal, dict[object, float]]:
    """The map from a judge's scores to the expected step, and each person's leniency on the logistic scale.

    A score between two steps counts as the nearest.
    """
    raw = ratings.raw
    mean, sd = float(raw.mean()), float(raw.std()) or 1.0
    z = (raw - mean) / sd
    steps = np.asarray(scale.steps, dtype=float)
    level = np.abs(ratings.given[:, None] - steps).argmin(axis=1)
    names, person = np.unique(ratings.person.astype(str), return_inverse=True)
    n_people = len(names) if len(names) > 1 else 0
    shares = (np.bincount(level, minlength=len(steps)) + 0.5) / (len(level) + 0.5 * len(steps))
    below = np.clip(np.cumsum(shares)[:-1], 0.01, 0.99)
    cuts = np.maximum.accumulate(np.log(below / (1 - below)) + 1e-3 * np.arange(len(below)))
    gaps = np.log(np.maximum(np.diff(cuts), 1e-3))
    start = np.concatenate([cuts[:1], gaps, [0.0], np.zeros(n_people)])
    solved = optimize.minimize(
        _loss, start, args=(z, level, person, len(steps), n_people, gaps), jac=True, method="L-BFGS-B",
        bounds=[(-30, 30)] * len(start), options={"maxiter": 200},
    )  # fmt: skip
    cuts, slope, effects = _unpack(solved.x, len(steps), n_people)
    by_name = dict(zip(names.tolist(), effects.tolist(), strict=False))
    feature = Feature(criterion=criterion, mean=mean, weight=float(slope / sd))
    fitted = Ordinal(features=(feature,), cuts=tuple(cuts.tolist()), steps=tuple(steps.tolist()))
    return fitted, {name: by_name.get(str(name), 0.0) for name in set(ratings.person)}


def _unpack(values: Numbers, n_steps: int, n_people: int) -> tuple[Numbers, float, Numbers]:
    """Cuts from the first and the logarithms of the gaps; the slope; the people's leniency."""
    gaps = np.exp(values[1 : n_steps - 1])
    cuts = values[0] + np.concatenate([[0.0], np.cumsum(gaps)])
    return cuts, float(values[n_steps - 1]), values[n_steps : n_steps + n_people]


def _loss(
    values: Numbers,
    z: Numbers,
    level: np.ndarray,
    person: np.ndarray,
    n_steps: int,
    n_people: int,
    gaps: Numbers,
) -> tuple[float, Numbers]:
    """The penalised negative log-likelihood and its gradient. Gaps are shrunk towards those of the scores alone."""
    cuts, slope, effects = _unpack(values, n_steps, n_people)
    eta = slope * z + (effects[person] if n_people else 0.0)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    upper, lower = special.expit(edges[level + 1] - eta), special.expit(edges[level] - eta)
    chance = np.maximum(upper - lower, TINY)
    d_upper, d_lower = upper * (1 - upper) / chance, lower * (1 - lower) / chance
    by_eta = d_upper - d_lower
    by_cut = np.bincount(level, -d_upper, n_steps)[:-1] + np.bincount(level, d_lower, n_steps)[1:]
    behind = np.cumsum(by_cut[::-1])[::-1]
    own_gaps = values[1 : n_steps - 1]
    gradient = np.concatenate(
        [
            [behind[0]],
            behind[1:] * np.exp(own_gaps) + 2 * GAP_PENALTY * (own_gaps - gaps),
            [by_eta @ z + 2 * SLOPE_PENALTY * slope],
            np.bincount(person, by_eta, n_people) + 2 * PERSON_PENALTY * effects if n_people else [],
        ]
    )
    penalty = (
        SLOPE_PENALTY * slope**2
        + GAP_PENALTY * ((own_gaps - gaps) ** 2).sum()
        + PERSON_PENALTY * (effects**2).sum()
    )
    return float(penalty - np.log(chance).sum()), gradient
