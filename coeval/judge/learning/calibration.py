"""From a judge's scores to people's scale, one map a criterion, with the people's leniency apart.

- ``isotonic``: a monotone step map (Zadrozny and Elkan 2002), by scipy's pool-adjacent-violators.
- ``ordinal``: a cumulative logit with the judge's score as the only feature (McCullagh 1980).
- ``linear``: a line through the judge's score.
- ``across``: ridge on the judge's scores by every criterion, as LLM-Rubric combines its questions (Hashemi et al.
  2024).
- ``probabilities``: ridge on the probabilities of every answer by every criterion.

Everything but isotonic is shrunk towards the mean of people's scores, by a penalty chosen on parts of the documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coeval.domain import Scale
from coeval.judge.fitted import Calibration, Feature, Identity, Isotonic, Linear, Map, Numbers, probability_of
from coeval.judge.labels import PROBABILITIES
from coeval.judge.learning.ordinal import fit_ordinal
from coeval.judge.learning.raters import PRIOR, Ratings, Seen, in_turn
from coeval.stats.estimates.later import optimize

KINDS = ("isotonic", "ordinal", "linear", "across", "probabilities")
FEWEST = 10
"""Ratings by a criterion below which its scores stay as they are."""

PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
PARTS = 5


@dataclass(frozen=True, eq=False)
class Learned:
    """A map, and how lenient each person is beside it. The leniency stays here: no judge's file names people."""

    map: Map
    leniency: Mapping[object, float] = field(default_factory=dict)


def fit_calibration(seen: Seen, kinds: Mapping[str, str]) -> Calibration:
    """A map for each criterion that ``kinds`` names."""
    return Calibration(maps={criterion: part.map for criterion, part in learn_maps(seen, kinds).items()})


def learn_maps(seen: Seen, kinds: Mapping[str, str]) -> dict[str, Learned]:
    """A map for each criterion that ``kinds`` names (each one of ``KINDS``), with the people's leniency.

    ``seen`` is what may be learned from. A criterion with fewer than ``FEWEST`` ratings keeps its scores.
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

    def fit(given: Numbers) -> Numbers:
        levels[:] = optimize.isotonic_regression(np.bincount(place, given) / weight, weights=weight).x
        return levels[place]

    effects = in_turn(ratings, fit)
    # within a level only its ends are needed
    same = np.diff(levels) == 0
    ends = ~(np.concatenate([[False], same]) & np.concatenate([same, [False]]))
    return Learned(Isotonic(raw=tuple(knots[ends].tolist()), people=tuple(levels[ends].tolist())), effects)


def _features_across(seen: Seen, probabilities: bool) -> tuple[Feature, ...]:
    """Every criterion's score, or every answer's probability but the last, which the others add up to."""
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
    """Ratings x features, NaN where a number is not known."""
    columns = []
    for feature in features:
        rows = seen.rows(feature.criterion)
        values = rows["score"] if feature.answer is None else probability_of(rows, feature.answer)
        columns.append(values.reindex(ratings.instance).to_numpy(dtype=float))
    return np.column_stack(columns)


def _ridge(ratings: Ratings, features: tuple[Feature, ...], grid: Numbers, scale: Scale) -> Learned:
    known: Any = ~np.isnan(grid).all(axis=0)
    features, grid = tuple(f for f, k in zip(features, known, strict=True) if k), grid[:, known]
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
    own = {name: effects.get(str(name), 0.0) for name in set(ratings.person)}
    return Learned(
        Linear(intercept=float(ratings.given.mean()), features=fitted, low=scale.low, high=scale.high), own
    )


def _solve(design: Numbers, n_features: int, given: Numbers, penalty: float) -> Numbers:
    """Ridge weights of the deviations from the mean; people's leniency has a penalty of its own."""
    ridge = np.concatenate([np.full(n_features, penalty), np.full(design.shape[1] - n_features, PRIOR)])
    return np.asarray(np.linalg.solve(design.T @ design + np.diag(ridge), design.T @ (given - given.mean())))


def _choose_penalty(design: Numbers, n_features: int, ratings: Ratings) -> float:
    """The penalty with the least squared error over parts of the documents left out."""
    if n_features == 1:
        return PENALTIES[0]
    codes = ratings.document
    part = np.random.default_rng(0).permutation(codes.max() + 1)[codes] % PARTS
    return min(
        PENALTIES, key=lambda penalty: _left_out_error(design, n_features, ratings.given, part, penalty)
    )


def _left_out_error(
    design: Numbers, n_features: int, given: Numbers, part: np.ndarray, penalty: float
) -> float:
    error = 0.0
    for name in range(PARTS):
        rest, own = part != name, part == name
        if rest.sum() < FEWEST or not own.any():
            continue
        weights = _solve(design[rest], n_features, given[rest], penalty)
        error += float(((given[own] - given[rest].mean() - design[own] @ weights) ** 2).sum())
    return error
