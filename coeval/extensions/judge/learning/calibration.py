"""Calibration: one map per criterion from a judge's scores to people's scale, without each person's leniency.

The kinds of maps:
- ``isotonic``: a monotone step map (Zadrozny and Elkan 2002), by scipy's pool-adjacent-violators.
- ``ordinal``: a cumulative logit with the judge's score as the only feature, P(score <= step k) = logistic(cut_k -
  slope x - leniency), fitted by maximum penalised likelihood (McCullagh 1980, Regression models for ordinal data; the
  penalty as in ridge regression).
- ``linear``: a line through the judge's score.
- ``across``: ridge on the judge's scores on all criteria, as LLM-Rubric combines its questions (Hashemi et al. 2024).
- ``probabilities``: ridge on the probabilities of all answers on all criteria.

All maps except ``isotonic`` are shrunk towards the mean of people's scores. For maps with several features, the penalty
is chosen by cross-validation over documents. People's leniency is estimated separately, so that a map to their scale
does not depend on which person scored which line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy

from coeval.domain import Scale
from coeval.extensions.judge.model.fitted import (
    Calibration,
    Feature,
    Identity,
    Isotonic,
    Linear,
    Map,
    Numbers,
    Ordinal,
    probability_of,
)
from coeval.extensions.judge.model.labels import PROBABILITIES, Labels

# Each person's leniency is estimated separately, so that a map does not depend on who scored which line.

PRIOR = 10.0
"""A person's leniency is shrunk as if they had given ten more ratings that are neither lenient nor strict."""

ROUNDS = 3
"""Number of alternations between fitting a map and people's leniency."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per person's rating of a criterion: the rating, the person, the line, and the judge's score."""

    given: Numbers
    person: np.ndarray
    instance: pd.Series
    document: np.ndarray
    raw: Numbers

    def __len__(self) -> int:
        return len(self.given)


class Seen:
    """People's labels with a judge's scores of the same lines, from which a map is learned.

    ``table`` has the rows of ``Fitted.apply``. Results are cached.
    """

    def __init__(self, labels: Labels, table: pd.DataFrame) -> None:
        self.labels, self.table = labels, table
        self._ratings: dict[str, Ratings] = {}
        self._rows: dict[str, pd.DataFrame] = {}

    def rows(self, criterion: str) -> pd.DataFrame:
        """Return the judge's scores on a criterion, by instance."""
        if criterion not in self._rows:
            self._rows[criterion] = self.table[self.table["criterion"] == criterion].set_index("instance")
        return self._rows[criterion]

    def ratings(self, criterion: str) -> Ratings:
        """Return people's ratings on a criterion for the lines with a judge's score."""
        if criterion not in self._ratings:
            people = self.labels.people[self.labels.people["criterion"] == criterion]
            raw = self.rows(criterion)["score"].reindex(people["instance"]).to_numpy(dtype=float)
            people, raw = people[~np.isnan(raw)], raw[~np.isnan(raw)]
            self._ratings[criterion] = Ratings(
                people["score"].to_numpy(dtype=float),
                people["person"].to_numpy(),
                people["instance"],
                pd.factorize(people["document"])[0],
                raw,
            )
        return self._ratings[criterion]


def leniency(residual: Numbers, person: np.ndarray) -> dict[object, float]:
    """Return each person's mean residual, shrunk towards 0 (see ``PRIOR``), minus the mean over all ratings."""
    codes, names = pd.factorize(person)
    sums, n = np.bincount(codes, residual, len(names)), np.bincount(codes, minlength=len(names))
    shrunk = sums / (n + PRIOR)
    shrunk -= (shrunk * n).sum() / n.sum()
    return dict(zip(names, shrunk.tolist(), strict=True))


def in_turn(ratings: Ratings, fit: Callable[[Numbers], Numbers]) -> Mapping[object, float]:
    """Fit a map and people's leniency alternately, and return the leniency.

    ``fit`` fits the map to ratings minus leniency and returns its values. With fewer than two people, leniency is 0 and
    the map is fitted once.
    """
    effects: dict[object, float] = dict.fromkeys(ratings.person, 0.0)
    for _ in range(ROUNDS if len(effects) > 1 else 0):
        lenience = np.array([effects[name] for name in ratings.person])
        effects = leniency(ratings.given - fit(ratings.given - lenience), ratings.person)
    lenience = np.array([effects[name] for name in ratings.person])
    fit(ratings.given - lenience)
    return effects


# A cumulative logit with one feature and separate leniency. A ridge penalty shrinks the slope and the leniency.
#
# P(score <= step k) = logistic(cut_k - slope x - leniency), fitted by maximum penalised likelihood.
# Source: McCullagh 1980, Regression models for ordinal data; the penalty as in ridge regression.

SLOPE_PENALTY, PERSON_PENALTY, GAP_PENALTY = 0.5, 2.0, 0.05
TINY = 1e-10


def fit_ordinal(ratings: Ratings, criterion: str, scale: Scale) -> tuple[Ordinal, dict[object, float]]:
    """Return the map from a judge's scores to the expected step, and each person's leniency on the logistic scale.

    A person's score between two steps counts as the nearest step.
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
    solved = scipy.optimize.minimize(
        _loss, start, args=(z, level, person, len(steps), n_people, gaps), jac=True, method="L-BFGS-B",
        bounds=[(-30, 30)] * len(start), options={"maxiter": 200},
    )  # fmt: skip
    cuts, slope, effects = _unpack(solved.x, len(steps), n_people)
    by_name = dict(zip(names.tolist(), effects.tolist(), strict=False))
    feature = Feature(criterion=criterion, mean=mean, weight=float(slope / sd))
    fitted = Ordinal(features=(feature,), cuts=tuple(cuts.tolist()), steps=tuple(steps.tolist()))
    return fitted, {name: by_name.get(str(name), 0.0) for name in set(ratings.person)}


def _unpack(values: Numbers, n_steps: int, n_people: int) -> tuple[Numbers, float, Numbers]:
    """Return the cuts (from the first cut and the logarithms of the gaps), the slope, and people's leniency."""
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
    """Return the penalised negative log-likelihood and its gradient. Gaps are shrunk towards their starting values."""
    cuts, slope, effects = _unpack(values, n_steps, n_people)
    eta = slope * z + (effects[person] if n_people else 0.0)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    upper, lower = scipy.special.expit(edges[level + 1] - eta), scipy.special.expit(edges[level] - eta)
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


KINDS = ("isotonic", "ordinal", "linear", "across", "probabilities")
FEWEST = 10
"""If a criterion has fewer ratings than this, its scores do not change."""

PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
PARTS = 5


@dataclass(frozen=True, eq=False)
class Learned:
    """A map and each person's leniency. The leniency is never exported, because a judge's file names no people."""

    map: Map
    leniency: Mapping[object, float] = field(default_factory=dict)


def fit_calibration(seen: Seen, kinds: Mapping[str, str]) -> Calibration:
    """Return a map for each criterion in ``kinds``."""
    return Calibration(maps={criterion: part.map for criterion, part in learn_maps(seen, kinds).items()})


def learn_maps(seen: Seen, kinds: Mapping[str, str]) -> dict[str, Learned]:
    """Return a map and people's leniency for each criterion in ``kinds``, whose values are from ``KINDS``.

    The maps are learned from ``seen``. A criterion with fewer than ``FEWEST`` ratings keeps its scores.
    """
    return {criterion: _learn(seen, criterion, kind) for criterion, kind in kinds.items()}


def _learn(seen: Seen, criterion: str, kind: str) -> Learned:
    ratings, scale = seen.ratings(criterion), seen.labels.scales[criterion]
    if kind not in KINDS:
        raise ValueError(f"There is no calibration {kind!r}; choose one of: {', '.join(KINDS)}.")
    if len(ratings) < FEWEST or np.ptp(ratings.given) == 0:
        return Learned(Identity())
    if kind == "isotonic":
        return _isotonic(ratings)
    if kind == "ordinal":
        return Learned(*fit_ordinal(ratings, criterion, scale))
    if kind == "linear":
        return _ridge(ratings, (Feature(criterion=criterion, weight=0.0),), ratings.raw[:, None], scale)
    features = _features_across(seen, kind == "probabilities")
    return (
        _ridge(ratings, features, feature_grid(features, seen, ratings), scale)
        if features
        else Learned(Identity())
    )


def _isotonic(ratings: Ratings) -> Learned:
    knots, place = np.unique(ratings.raw, return_inverse=True)
    weight = np.bincount(place)
    levels = np.empty(len(knots))

    def fit(targets: Numbers) -> Numbers:
        levels[:] = scipy.optimize.isotonic_regression(np.bincount(place, targets) / weight, weights=weight).x
        return levels[place]

    effects = in_turn(ratings, fit)
    # a level needs only its two end knots
    same = np.diff(levels) == 0
    ends = ~(np.concatenate([[False], same]) & np.concatenate([same, [False]]))
    return Learned(Isotonic(raw=tuple(knots[ends].tolist()), people=tuple(levels[ends].tolist())), effects)


def _features_across(seen: Seen, probabilities: bool) -> tuple[Feature, ...]:
    """Return every criterion's score, or the probability of every answer except the last, which is redundant."""
    scales = seen.labels.scales
    criteria = [criterion for criterion in scales if len(seen.rows(criterion))]
    if not probabilities:
        return tuple(Feature(criterion=criterion, weight=0.0) for criterion in criteria)
    if PROBABILITIES not in seen.table:
        return ()
    return tuple(
        Feature(criterion=criterion, answer=place, weight=0.0)
        for criterion in criteria
        for place in range(len(scales[criterion].steps) - 1)
    )


def feature_grid(features: tuple[Feature, ...], seen: Seen, ratings: Ratings) -> Numbers:
    """Return an array of ratings x features, NaN if a number is unknown."""
    columns = []
    for feature in features:
        rows = seen.rows(feature.criterion)
        values = rows["score"] if feature.answer is None else probability_of(rows, feature.answer)
        columns.append(values.reindex(ratings.instance).to_numpy(dtype=float))
    return np.column_stack(columns)


def _ridge(ratings: Ratings, features: tuple[Feature, ...], grid: Numbers, scale: Scale) -> Learned:
    mask: Any = ~np.isnan(grid).all(axis=0)
    features, grid = tuple(f for f, k in zip(features, mask, strict=True) if k), grid[:, mask]
    mean, sd = np.nanmean(grid, axis=0), np.nanstd(grid, axis=0)
    sd = np.where(sd > 1e-9, sd, np.inf)
    z = np.where(np.isnan(grid), 0.0, (grid - mean) / sd)
    names, person = np.unique(ratings.person.astype(str), return_inverse=True)
    design = np.hstack([z, np.eye(len(names))[person]]) if len(names) > 1 else z
    penalty = _choose_penalty(design, z.shape[1], ratings)
    weights = _solve(design, z.shape[1], ratings.given, penalty)
    effects = dict(zip(names.tolist(), weights[z.shape[1] :].tolist(), strict=False))
    fitted = tuple(
        f.model_copy(update={"mean": float(m), "weight": float(w / s)})
        for f, m, w, s in zip(features, mean, weights, sd, strict=False)
    )
    lenience = {name: effects.get(str(name), 0.0) for name in set(ratings.person)}
    return Learned(
        Linear(intercept=float(ratings.given.mean()), features=fitted, low=scale.low, high=scale.high),
        lenience,
    )


def _solve(design: Numbers, n_features: int, targets: Numbers, penalty: float) -> Numbers:
    """Return the ridge weights for deviations from the mean, with a separate penalty for leniency."""
    ridge = np.concatenate([np.full(n_features, penalty), np.full(design.shape[1] - n_features, PRIOR)])
    return np.asarray(
        np.linalg.solve(design.T @ design + np.diag(ridge), design.T @ (targets - targets.mean()))
    )


def _choose_penalty(design: Numbers, n_features: int, ratings: Ratings) -> float:
    """Return the penalty with the smallest cross-validated squared error over parts of the documents."""
    if n_features == 1:
        return PENALTIES[0]
    codes = ratings.document
    part = np.random.default_rng(0).permutation(codes.max() + 1)[codes] % PARTS
    return min(
        PENALTIES, key=lambda penalty: _left_out_error(design, n_features, ratings.given, part, penalty)
    )


def _left_out_error(
    design: Numbers, n_features: int, targets: Numbers, part: np.ndarray, penalty: float
) -> float:
    error = 0.0
    for name in range(PARTS):
        rest, held_out = part != name, part == name
        if rest.sum() < FEWEST or not held_out.any():
            continue
        weights = _solve(design[rest], n_features, targets[rest], penalty)
        error += float(((targets[held_out] - targets[rest].mean() - design[held_out] @ weights) ** 2).sum())
    return error
