"""Two further maps for ``llm_rubric --others``, fitted on the synthetic dialogues alone: an ordinal one and a network.

Both read the probabilities of all answers to all nine questions, standardised and within 4 deviations. Penalties are
those with the least error by cross-validation on the synthetic dialogues, of the ones that were tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, softmax

from coeval.extensions.judge.learning.cross_validation import deal
from coeval.extensions.judge.model.labels import PROBABILITIES, Labels

FOLDS, STEPS = 10, np.arange(1, 5)
ON_ANSWERS, ON_PEOPLE = 30.0, 0.3
"""Penalties of the ordinal map (tried: 10 to 300, and .3 to 3)."""

HIDDEN, ON_WEIGHTS, ON_OWN, ITERATIONS = 5, 8.0, 2.0, 60
"""Of the network (tried: 2 to 20, and .5 to 5; with the other questions beside question 0 it did worse)."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings x numbers, who rated (-1: nobody known), and the step given, from 0."""

    x: np.ndarray
    person: np.ndarray
    given: np.ndarray


Fit = Callable[[Ratings, int], Callable[[Ratings], np.ndarray]]
"""From ratings and the number of people to what predicts the expected step."""


def fit_ordinal(seen: Ratings, people: int) -> Callable[[Ratings], np.ndarray]:
    """A cumulative logit with a leniency for each person; a person who is not known has none."""
    n = seen.x.shape[1]

    def cut(values: np.ndarray) -> np.ndarray:
        return values[0] + np.concatenate([[0.0], np.cumsum(np.exp(values[1:3]))])

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        slope, own = values[3 : 3 + n], values[3 + n :]
        eta = seen.x @ slope + own[seen.person]
        edges = np.concatenate([[-np.inf], cut(values), [np.inf]])
        upper, lower = expit(edges[seen.given + 1] - eta), expit(edges[seen.given] - eta)
        chance = np.maximum(upper - lower, 1e-10)
        up, down = upper * (1 - upper) / chance, lower * (1 - lower) / chance
        by_cut = np.bincount(seen.given, -up, 4)[:3] + np.bincount(seen.given, down, 4)[1:]
        behind = np.cumsum(by_cut[::-1])[::-1]
        gradient = [
            [behind[0]], behind[1:] * np.exp(values[1:3]), seen.x.T @ (up - down) + 2 * ON_ANSWERS * slope,
            np.bincount(seen.person, up - down, people) + 2 * ON_PEOPLE * own,
        ]  # fmt: skip
        penalty = ON_ANSWERS * (slope**2).sum() + ON_PEOPLE * (own**2).sum()
        return float(penalty - np.log(chance).sum()), np.concatenate(gradient)

    start = np.concatenate([[-2.0], np.zeros(2 + n + people)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B").x

    def predict(asked: Ratings) -> np.ndarray:
        eta = asked.x @ found[3 : 3 + n] + np.append(found[3 + n :], 0.0)[asked.person]
        return np.asarray(4 - expit(cut(found) - eta[:, None]).sum(axis=1))

    return predict


def fit_network(seen: Ratings, people: int) -> Callable[[Ratings], np.ndarray]:
    """One hidden layer and a softmax over the steps, each with weights of the person's own, as LLM-Rubric's has."""
    n, own = seen.x.shape[1], people + 1  # the last person is nobody known, whose weights stay 0
    shapes = [(n, HIDDEN), (HIDDEN,), (own, HIDDEN), (HIDDEN, 4), (own, HIDDEN, 4), (4,), (own, 4)]
    penalties = [ON_WEIGHTS, 0.0, 2 * ON_OWN, ON_WEIGHTS, 2 * ON_OWN, 0.01, ON_OWN / 2]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def unpack(values: np.ndarray) -> list[np.ndarray]:
        return [part.reshape(shape) for part, shape in zip(np.split(values, ends[:-1]), shapes, strict=True)]

    def forward(values: np.ndarray, asked: Ratings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, bias, own_bias, second, own_second, level, own_level = unpack(values)
        hidden = np.tanh(asked.x @ first + bias + own_bias[asked.person])
        weights = second + own_second[asked.person]
        logits = np.einsum("nh,nhk->nk", hidden, weights) + level + own_level[asked.person]
        return hidden, weights, softmax(logits, axis=1)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        parts = unpack(values)
        hidden, weights, chance = forward(values, seen)
        rows = np.arange(len(seen.given))
        error = chance.copy()
        error[rows, seen.given] -= 1
        back = np.einsum("nhk,nk->nh", weights, error) * (1 - hidden**2)
        outer = hidden[:, :, None] * error[:, None, :]
        gradients = [
            seen.x.T @ back, back.sum(axis=0), np.zeros(shapes[2]), outer.sum(axis=0), np.zeros(shapes[4]),
            error.sum(axis=0), np.zeros(shapes[6]),
        ]  # fmt: skip
        for place, each in ((2, back), (4, outer), (6, error)):
            np.add.at(gradients[place], seen.person, each)
        total = -np.log(chance[rows, seen.given] + 1e-12).sum()
        for part, gradient, penalty in zip(parts, gradients, penalties, strict=True):
            total += penalty * (part**2).sum()
            gradient += 2 * penalty * part
        return float(total), np.concatenate([gradient.ravel() for gradient in gradients])

    draw, start = np.random.default_rng(0), np.zeros(ends[-1])
    start[: ends[0]] = draw.normal(0, n**-0.5, ends[0])
    start[ends[2] : ends[3]] = draw.normal(0, 0.1, ends[3] - ends[2])
    options = {"maxiter": ITERATIONS}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return lambda asked: np.asarray(forward(found, asked)[2] @ STEPS)


MAPS: dict[str, Fit] = {
    "a cumulative logit of all answers": fit_ordinal,
    "a network with people's own weights": fit_network,
}


def try_maps(synthetic: Labels, real: Labels, overall: str) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """By the name of a map: the synthetic ratings by cross-validation, and the real ones, each with ``score``."""
    tables = [_spread(labels) for labels in (synthetic, real)]
    mean, sd = tables[0].mean(), tables[0].std() + 1e-9
    tables = [((table - mean) / sd).clip(-4, 4) for table in tables]
    lines = [
        _lines(labels, overall, set(table.index))
        for labels, table in zip((synthetic, real), tables, strict=True)
    ]
    names = {name: n for n, name in enumerate(sorted(synthetic.people["person"].unique()))}
    given = [_ratings(part, table, names) for part, table in zip(lines, tables, strict=True)]
    tried = {}
    for name, fit in MAPS.items():
        crossed = np.full(len(lines[0]), np.nan)
        for fold in deal(synthetic, FOLDS):
            own = lines[0]["document"].isin(fold.own.documents).to_numpy()
            crossed[own] = fit(_part(given[0], ~own), len(names))(_part(given[0], own))
        scores = (crossed, fit(given[0], len(names))(given[1]))
        tried[name] = tuple(part.assign(score=score) for part, score in zip(lines, scores, strict=True))
    return tried  # type: ignore[return-value]


def _spread(labels: Labels) -> pd.DataFrame:
    """Instances x the probability of each answer to each question."""
    parts = [
        pd.DataFrame(part[PROBABILITIES].tolist(), index=part["instance"]).add_prefix(f"{name} ")
        for name, part in labels.judges.groupby("criterion")
    ]
    return pd.concat(parts, axis=1).dropna()


def _lines(labels: Labels, overall: str, known: set[object]) -> pd.DataFrame:
    people = labels.people
    chosen = people[(people["criterion"] == overall) & people["instance"].isin(known)]
    return chosen.rename(columns={"score": "human"}).reset_index(drop=True)


def _ratings(lines: pd.DataFrame, table: pd.DataFrame, names: dict[str, int]) -> Ratings:
    person = lines["person"].map(names).fillna(-1).astype(int).to_numpy()
    return Ratings(table.loc[lines["instance"]].to_numpy(), person, lines["human"].to_numpy(dtype=int) - 1)


def _part(ratings: Ratings, rows: np.ndarray) -> Ratings:
    return Ratings(ratings.x[rows], ratings.person[rows], ratings.given[rows])
